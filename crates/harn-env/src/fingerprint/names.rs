//! Paths as text, without loss.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The bytes of a path as text: what is not UTF-8 becomes `\xNN`, a backslash `\\`.
pub(super) fn text(path: &[u8]) -> String {
    // As nearly every path is.
    if !path.contains(&b'\\')
        && let Ok(text) = std::str::from_utf8(path)
    {
        return text.to_owned();
    }
    let mut out = String::new();
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
        }
        for byte in chunk.invalid() {
            // Writing to memory cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// The path that a text stands for, below `root`.
pub(super) fn path(root: &Path, text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let escaped = after
            .strip_prefix('x')
            .and_then(|hex| hex.get(..2))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = escaped {
            bytes.push(byte);
            rest = &after[3..];
        } else {
            bytes.push(b'\\');
            rest = after.strip_prefix('\\').unwrap_or(after);
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    root.join(OsStr::from_bytes(&bytes))
}

/// A path as one item of a list that Git reads, in which a colon ends an item that is not quoted.
pub(super) fn quoted(path: &OsStr) -> OsString {
    let mut out = b"\"".to_vec();
    for &byte in path.as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_has_a_text_and_comes_back() {
        for (bytes, expected) in [
            (&b"a/b c"[..], "a/b c"),
            (b"\xff\xfe.rs", "\\xff\\xfe.rs"),
            ("ñ\n".as_bytes(), "ñ\n"),
            (b"back\\slash \\xff", "back\\\\slash \\\\xff"),
        ] {
            assert_eq!(text(bytes), expected);
            assert_eq!(path(Path::new("/r"), expected).as_os_str().as_bytes(), [b"/r/", bytes].concat());
        }
    }
}
