//! Paths of modules: making the entry absolute, and resolving an import against the file that contains it.

use std::path::{Component, Path, PathBuf};

use super::LoadError;

/// The normalised absolute path of the workflow. Symbolic links are kept as they are written.
pub(super) fn absolute(path: &Path) -> Result<String, LoadError> {
    let refuse = |reason: String| LoadError::Path { path: path.to_string_lossy().into_owned(), reason };
    let absolute = std::path::absolute(path).map_err(|error| refuse(error.to_string()))?;
    let normal = normalised(&absolute);
    let text = normal.to_str().ok_or_else(|| refuse("it is not UTF-8".to_owned()))?;
    if text.contains('\0') {
        return Err(refuse("it contains a NUL character".to_owned()));
    }
    Ok(text.to_owned())
}

/// The module that `specifier` names when it stands in the file `importer`; `None` unless it is a relative path.
pub(in crate::script) fn resolve(importer: &str, specifier: &str) -> Option<String> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return None;
    }
    let directory = Path::new(importer).parent()?;
    normalised(&directory.join(specifier)).into_os_string().into_string().ok()
}

/// `path` without `.` and `..`, worked out from the text alone, as module URLs are.
fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn imports_resolve_from_the_importing_file() {
        let cases = [
            ("./b.mjs", Some("/w/flows/b.mjs")),
            ("./lib/./x.mjs", Some("/w/flows/lib/x.mjs")),
            ("../b.mjs", Some("/w/b.mjs")),
            ("../../../../b.mjs", Some("/b.mjs")),
            ("./../flows/../b.mjs", Some("/w/b.mjs")),
            ("b.mjs", None),
            ("fs", None),
            ("node:fs", None),
            ("/w/b.mjs", None),
            ("https://example.org/b.mjs", None),
            ("file:///w/b.mjs", None),
            ("", None),
        ];
        for (specifier, expected) in cases {
            assert_eq!(resolve("/w/flows/a.mjs", specifier).as_deref(), expected, "{specifier}");
        }
    }
}
