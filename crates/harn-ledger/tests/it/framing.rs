//! R05: one line feed for each event, whatever its text holds, and every text comes back as it was.

use harn_ledger::{Entry, Expect};

use crate::account::{AccountEvent, noted, open_account};
use crate::store::{LOG, account, in_memory, open, read};

#[test]
fn texts_that_break_other_lines() {
    let texts = [
        "a\u{2028}b\u{2029}c\u{85}d\r\ne\n\nf",
        "\n",
        "\r",
        "\u{b}\u{c}\u{1c}\u{1d}\u{1e}",
        "\0",
        "\u{7f}\u{1b}[2J",
        "\u{feff}bom",
        "\u{fffd}\u{10ffff}\u{1f600}",
        r#"","hash":"0000000000000000000000000000000000000000000000000000000000000000"}"#,
        r#"},"more":true,"prev":""#,
        r"\\\\\n\u0000",
        "null [ ] { } , : \t",
        "",
    ];
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    for (index, text) in texts.iter().enumerate() {
        stream.append(Expect::Any, "teller", vec![noted(1, text)]).unwrap();
        let log = read(&disk, &account("a").join(LOG));
        assert_eq!(log.split(|&byte| byte == b'\n').count(), index + 3, "{text:?}");
        assert!(!log.iter().any(|&byte| byte != b'\n' && byte < b' '), "{text:?}: a raw control character");
    }
    let reopened = open(disk, std::path::Path::new("/bank"));
    for ledger in [ledger, reopened] {
        let stream = ledger.stream::<crate::account::Account>("a").unwrap();
        assert_eq!(stream.state().unwrap().notes, texts);
        let last = stream.history().unwrap().pop().unwrap();
        let Entry::Domain(last) = last else { panic!("not an event of the domain") };
        assert_eq!(last.event, AccountEvent::Credited { cents: 1, note: Some(String::new()) });
    }
}

/// The actor stands outside the data, with its own escapes.
#[test]
fn actors_that_need_escapes() {
    let (disk, ledger) = in_memory();
    let stream = open_account(&ledger, "a");
    let actors = [r#"a "b""#, r"back\slash\", "Ñandú 👤", "a\u{2028}line", "</script>", r#"","event":"x"#];
    for actor in actors {
        stream.append(Expect::Any, actor, vec![noted(1, "x")]).unwrap();
    }
    let reopened = open(disk, std::path::Path::new("/bank"));
    let history = reopened.stream::<crate::account::Account>("a").unwrap().history().unwrap();
    let found: Vec<&str> = history[1..].iter().map(|entry| entry.domain().unwrap().actor.as_str()).collect();
    assert_eq!(found, actors);
}
