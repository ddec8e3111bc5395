//! Finding a project: the nearest `.harn` upwards, and where its state is.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

const PROJECT: &str = ".harn";
const STATE: &str = "state";

/// A directory with a `.harn` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The directory.
    pub(crate) root: PathBuf,
    /// The configuration: `.harn` of this checkout.
    pub(crate) configuration: PathBuf,
    /// The ledger: `.harn/state` of the main checkout.
    pub(crate) state: PathBuf,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindError {
    #[error("no `.harn` in `{}` or above it", from.display())]
    NotFound { from: PathBuf },
    #[error("`{}` has no `.harn`", root.display())]
    NotAProject { root: PathBuf },
    #[error("`{}` cannot be made on a read-only file system", path.display())]
    ReadOnlyFileSystem { path: PathBuf },
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Project {
    /// The project of `root`, if it is given, or of the nearest directory from `from` upwards.
    pub(crate) fn find(root: Option<&Path>, from: &Path) -> Result<Self, FindError> {
        match root {
            Some(root) => {
                let root = from.join(root);
                if !root.join(PROJECT).is_dir() {
                    return Err(FindError::NotAProject { root });
                }
                Self::at(root)
            }
            None => match from.ancestors().find(|directory| directory.join(PROJECT).is_dir()) {
                Some(directory) => Self::at(directory.to_owned()),
                None => Err(FindError::NotFound { from: from.to_owned() }),
            },
        }
    }

    fn at(root: PathBuf) -> Result<Self, FindError> {
        let main =
            main_checkout(&root).map_err(|source| FindError::Io { path: root.join(".git"), source })?;
        let state = main.as_deref().unwrap_or(&root).join(PROJECT).join(STATE);
        Ok(Self { configuration: root.join(PROJECT), state, root })
    }
}

/// The main checkout, if `root` is a linked worktree: then `.git` is a file whose Git directory names a common one.
/// A submodule has no common directory and keeps its own state. Only files are read; no Git is started.
fn main_checkout(root: &Path) -> io::Result<Option<PathBuf>> {
    let link = root.join(".git");
    if !link.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&link)?;
    let Some(git) = text.trim_end().strip_prefix("gitdir: ") else {
        return Ok(None);
    };
    let git = root.join(git);
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(common) => git.join(common.trim_end()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(common.canonicalize()?.parent().map(Path::to_owned))
}

/// What `init` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Initialised {
    pub(crate) project: Project,
    /// False if everything was there already.
    pub(crate) created: bool,
}

/// Makes `directory` a project: `.harn/.gitignore` and the private `.harn/state`. Doing it again changes nothing.
pub(crate) fn init(directory: &Path) -> Result<Initialised, FindError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => FindError::ReadOnlyFileSystem { path },
            _ => FindError::Io { path, source },
        }
    };
    let configuration = directory.join(PROJECT);
    let mut created = make_directory(&configuration, 0o755).map_err(io(&configuration))?;
    let ignore = configuration.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "/state/\n").map_err(io(&ignore))?;
        created = true;
    }
    let project = Project::at(directory.to_owned())?;
    created |= make_directory(&project.state, 0o700).map_err(io(&project.state))?;
    Ok(Initialised { project, created })
}

fn make_directory(path: &Path, mode: u32) -> io::Result<bool> {
    match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_upwards_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let deep = root.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert!(matches!(Project::find(None, &deep), Err(FindError::NotFound { .. })));
        assert!(init(root).unwrap().created);
        assert!(!init(root).unwrap().created);
        assert_eq!(Project::find(None, &deep).unwrap().root, root);
        assert!(matches!(Project::find(Some(&deep), root), Err(FindError::NotAProject { .. })));
        assert_eq!(Project::find(Some(root), &deep).unwrap().state, root.join(".harn/state"));
    }

    #[test]
    fn a_linked_worktree_shares_the_state_of_the_main_checkout() {
        let directory = tempfile::tempdir().unwrap();
        let main = directory.path().canonicalize().unwrap().join("main");
        let linked = directory.path().join("linked");
        let git = main.join(".git/worktrees/linked");
        fs::create_dir_all(&git).unwrap();
        fs::create_dir_all(&linked).unwrap();
        init(&main).unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();

        // A submodule looks the same but has no common directory.
        init(&linked).unwrap();
        assert_eq!(Project::find(None, &linked).unwrap().state, linked.join(".harn/state"));

        fs::write(git.join("commondir"), "../..\n").unwrap();
        let project = Project::find(None, &linked).unwrap();
        assert_eq!(project.state, main.join(".harn/state"));
        assert_eq!(project.configuration, linked.join(".harn"));
    }
}
