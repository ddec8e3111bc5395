//! Ids as people type them: whole, or a prefix that only one of them has.

use harn_ledger::{Ledger, StreamId};

use crate::exit::Exit;
use crate::failure::Failure;

/// Most candidates that an ambiguous prefix lists.
const CANDIDATES: usize = 10;

/// The stream of `kind` that is meant by `text`. An exact id wins; a prefix counts only where it is `allowed`.
pub(crate) fn resolve(ledger: &Ledger, kind: &str, text: &str, allowed: bool) -> Result<StreamId, Failure> {
    let unknown = || {
        let list = format!("harn {kind} list");
        Failure::new(
            Exit::Refused,
            "not_found",
            format!("there is no {} `{}`", noun(kind), text.escape_debug()),
        )
        .hint(format!("`{list}` shows what there is"))
    };
    let ids = ledger
        .ids(kind)
        .map_err(|error| Failure::from_error(Exit::Environment, error.code(), error.hint(), &error))?;
    if let Some(exact) = ids.iter().find(|id| id.as_str() == text) {
        return Ok(exact.clone());
    }
    let candidates: Vec<&StreamId> = ids.iter().filter(|id| id.as_str().starts_with(text)).collect();
    match candidates.as_slice() {
        [] => Err(unknown()),
        _ if text.is_empty() => Err(unknown()),
        [only] if allowed => Ok((*only).clone()),
        [only] => Err(unknown().hint(format!("give the whole id: {only}"))),
        several => {
            let names: Vec<String> = several.iter().take(CANDIDATES).map(ToString::to_string).collect();
            let more = several.len().saturating_sub(CANDIDATES);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message = format!("`{text}` is short for {} ids: {}{rest}", several.len(), names.join(", "));
            Err(Failure::new(Exit::Refused, "ambiguous_id", message)
                .hint("type more of the id")
                .detail("candidates", names))
        }
    }
}

fn noun(kind: &str) -> &str {
    if kind == "work" { "work item" } else { kind }
}

#[cfg(test)]
mod tests {
    use harn_ledger::disk::{Disk as _, MemDisk};

    use super::*;

    #[test]
    fn exact_ids_win_and_prefixes_must_be_unique() {
        let disk = MemDisk::new();
        for path in ["/s", "/s/work", "/s/work/a", "/s/work/ab", "/s/work/ab1", "/s/work/c-1"] {
            disk.create_dir(path.as_ref()).unwrap();
        }
        let ledger = Ledger::builder("/s").disk(disk).open().unwrap();
        let resolve = |text: &str, allowed| {
            resolve(&ledger, "work", text, allowed).map(|id| id.to_string()).map_err(|failure| failure.code())
        };
        assert_eq!(resolve("a", true).as_deref(), Ok("a"));
        assert_eq!(resolve("ab", false).as_deref(), Ok("ab"));
        assert_eq!(resolve("c", true).as_deref(), Ok("c-1"));
        assert_eq!(resolve("c", false), Err("not_found"));
        assert_eq!(resolve("", true), Err("not_found"));
        assert_eq!(resolve("nope", true), Err("not_found"));
        assert_eq!(resolve("../a", true), Err("not_found"));
    }
}
