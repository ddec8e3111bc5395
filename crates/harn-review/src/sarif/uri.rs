//! Where a URI of a log leads in the project.

use super::log::{ArtifactLocation, Run, at};
use crate::path::SourcePath;

/// Most bases that are resolved against each other.
const DEPTH: usize = 8;

/// What the addresses of a run are relative to.
pub(super) struct Roots<'a> {
    run: &'a Run,
    /// Steps of the absolute path of the project, if it is known.
    root: Option<Vec<String>>,
    /// Steps of the absolute path that the log gives to the project. Another machine may have written it.
    named: Option<Vec<String>>,
}

enum Target {
    /// Steps from the root of the file system.
    Absolute(Vec<String>),
    /// A path relative to something, as it stands.
    Relative(String),
    /// Not a file of this machine, or nothing that can be told.
    Elsewhere,
}

impl<'a> Roots<'a> {
    pub(super) fn of(run: &'a Run, root: Option<&str>) -> Self {
        Self { run, root: root.and_then(steps), named: named_root(run) }
    }

    /// The path below the project's root; none if it leads elsewhere, or is not one that a ledger keeps.
    pub(super) fn path(&self, artifact: &ArtifactLocation) -> Option<SourcePath> {
        let steps = match self.resolve(artifact, DEPTH) {
            Target::Absolute(steps) => self.below(&steps)?,
            Target::Relative(path) => steps(&path)?,
            Target::Elsewhere => return None,
        };
        SourcePath::new(&steps.join("/")).ok()
    }

    /// What a person can find the place by.
    pub(super) fn shown<'b>(&'b self, artifact: &'b ArtifactLocation) -> Option<&'b str> {
        self.direct(artifact).uri.as_deref()
    }

    fn direct<'b>(&'b self, artifact: &'b ArtifactLocation) -> &'b ArtifactLocation {
        let listed = || at(&self.run.artifacts, artifact.index.as_ref())?.location.as_ref();
        if artifact.uri.is_some() { artifact } else { listed().unwrap_or(artifact) }
    }

    fn resolve(&self, artifact: &ArtifactLocation, depth: usize) -> Target {
        let artifact = self.direct(artifact);
        let Some(uri) = artifact.uri.as_deref().filter(|_| depth > 0) else { return Target::Elsewhere };
        let path = match target(uri) {
            Target::Relative(path) => path,
            other => return other,
        };
        let base = artifact.uri_base_id.as_ref().and_then(|id| self.run.original_uri_base_ids.get(id));
        // A base of which nothing is said is the root of the project.
        let Some(base) = base.filter(|base| base.uri.is_some()) else { return Target::Relative(path) };
        match self.resolve(base, depth - 1) {
            Target::Relative(base) => Target::Relative(format!("{base}/{path}")),
            Target::Absolute(base) => {
                let joined = format!("{}/{path}", base.join("/"));
                steps(&joined).map_or(Target::Elsewhere, Target::Absolute)
            }
            Target::Elsewhere => Target::Elsewhere,
        }
    }

    fn below(&self, path: &[String]) -> Option<Vec<String>> {
        let roots = self.root.iter().chain(&self.named);
        roots.filter_map(|root| path.strip_prefix(&root[..])).map(<[String]>::to_vec).next()
    }
}

/// The base that stands for the project: the only one that is absolute, else the one that is called so.
fn named_root(run: &Run) -> Option<Vec<String>> {
    let bases =
        run.original_uri_base_ids.iter().filter_map(|(id, base)| match target(base.uri.as_deref()?) {
            Target::Absolute(steps) => Some((id, steps)),
            _ => None,
        });
    let mut bases: Vec<_> = bases.collect();
    if bases.len() > 1 {
        bases.retain(|(id, _)| {
            matches!(id.trim_matches('%'), "SRCROOT" | "ROOT" | "PROJECTROOT" | "REPOROOT")
        });
    }
    if bases.len() == 1 { bases.pop().map(|(_, steps)| steps) } else { None }
}

fn target(uri: &str) -> Target {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let absolute =
        |path: &str| decode(path).and_then(|path| steps(&path)).map_or(Target::Elsewhere, Target::Absolute);
    let scheme = uri.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
    match scheme {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => match path.strip_prefix("//") {
            Some(path) if path.starts_with('/') => absolute(path),
            Some(path) => path.strip_prefix("localhost/").map_or(Target::Elsewhere, absolute),
            None if path.starts_with('/') => absolute(path),
            None => Target::Elsewhere,
        },
        Some(_) => Target::Elsewhere,
        None if uri.starts_with("//") || uri.is_empty() => Target::Elsewhere,
        None if uri.starts_with('/') => absolute(uri),
        None => decode(uri).map_or(Target::Elsewhere, Target::Relative),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// The steps of a path without empty ones, `.` and `..`; none if it leads out of where it begins.
fn steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()?),
            step => steps.push(step.to_owned()),
        }
    }
    Some(steps)
}

/// Undoes percent-encoding; a `%` that begins none stays. None if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.first_chunk::<2>().filter(|_| byte == b'%');
        if let Some(value) = digits.and_then(|&[high, low]| Some(hex(high)? << 4 | hex(low)?)) {
            bytes.push(value);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// A path as a relative reference: every byte that has a meaning of its own is encoded.
pub(super) fn encode(path: &SourcePath) -> String {
    let mut uri = String::with_capacity(path.as_str().len());
    for byte in path.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.extend([byte >> 4, byte & 15].map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)])));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn run(bases: &Value) -> Run {
        let run = json!({
            "tool": { "driver": { "name": "t" } },
            "artifacts": [{ "location": { "uri": "listed.rs" } }],
            "originalUriBaseIds": bases,
        });
        serde_json::from_value(run).unwrap()
    }

    fn path(run: &Run, root: Option<&str>, artifact: Value) -> Option<String> {
        let artifact: ArtifactLocation = serde_json::from_value(artifact).unwrap();
        Roots::of(run, root).path(&artifact).map(|path| path.to_string())
    }

    #[test]
    fn a_uri_leads_into_the_project_or_nowhere() {
        let cases = [
            ("src/a.rs", Some("src/a.rs")),
            ("./src//x/../a.rs", Some("src/a.rs")),
            ("src/with%20space%20%C3%B1.rs", Some("src/with space ñ.rs")),
            ("100%.rs", Some("100%.rs")),
            ("a.rs?query#fragment", Some("a.rs")),
            ("file:///p/src/a.rs", Some("src/a.rs")),
            ("FILE://localhost/p/a.rs", Some("a.rs")),
            ("file:/p/a.rs", Some("a.rs")),
            ("/p/a.rs", Some("a.rs")),
            ("file:///p/../etc/passwd", None),
            ("file:///p", None),
            ("file:///pp/a.rs", None),
            ("file://host/p/a.rs", None),
            ("/etc/passwd", None),
            ("//host/p/a.rs", None),
            ("../a.rs", None),
            ("src/%2e%2e/%2e%2e/a.rs", None),
            ("src%2f..%2f..%2fa.rs", None),
            ("https://example.com/a.rs", None),
            ("C:/p/a.rs", None),
            ("src\\a.rs", None),
            ("a%00.rs", None),
            ("a%ff.rs", None),
            ("app/[id].ts", Some("app/[id].ts")),
            ("", None),
            ("#a", None),
        ];
        for (uri, expected) in cases {
            let found = path(&run(&json!({})), Some("/p/"), json!({ "uri": uri }));
            assert_eq!(found.as_deref(), expected, "{uri}");
        }
        assert_eq!(path(&run(&json!({})), None, json!({ "uri": "file:///p/a.rs" })), None);
        assert_eq!(path(&run(&json!({})), None, json!({ "index": 0 })).as_deref(), Some("listed.rs"));
        assert_eq!(path(&run(&json!({})), None, json!({ "index": -1 })), None);
    }

    #[test]
    fn a_base_is_followed() {
        let bases = json!({
            "SRCROOT": { "uri": "file:///ci/work/" },
            "LIB": { "uri": "lib/", "uriBaseId": "SRCROOT" },
            "USR": { "uri": "file:///usr/include/" },
            "LOOP": { "uri": "x/", "uriBaseId": "LOOP" },
            "SILENT": { "description": { "text": "the project" } },
        });
        let cases = [
            ("SRCROOT", None, Some("a.c")),
            ("LIB", None, Some("lib/a.c")),
            ("LIB", Some("/ci"), Some("work/lib/a.c")),
            ("LIB", Some("/elsewhere"), Some("lib/a.c")),
            ("USR", None, None),
            ("LOOP", None, None),
            ("SILENT", None, Some("a.c")),
            ("UNKNOWN", None, Some("a.c")),
        ];
        for (base, root, expected) in cases {
            let found = path(&run(&bases), root, json!({ "uri": "a.c", "uriBaseId": base }));
            assert_eq!(found.as_deref(), expected, "{base} {root:?}");
        }
        let found = path(&run(&bases), None, json!({ "uri": "file:///ci/work/a.c" }));
        assert_eq!(found.as_deref(), Some("a.c"));
        let found = path(&run(&bases), None, json!({ "uri": "../a.c", "uriBaseId": "LIB" }));
        assert_eq!(found.as_deref(), Some("a.c"));
    }

    #[test]
    fn a_written_path_is_read_back() {
        for name in ["src/a.rs", "a b/ñ%20.rs", "a:b#c&d", "~x/-.rs", "x\"<>|`^"] {
            let written = encode(&SourcePath::new(name).unwrap());
            assert!(written.is_ascii(), "{written}");
            assert_eq!(path(&run(&json!({})), None, json!({ "uri": written })).as_deref(), Some(name));
        }
        assert_eq!(encode(&SourcePath::new("a b/ñ:.rs").unwrap()), "a%20b/%C3%B1%3A.rs");
    }
}
