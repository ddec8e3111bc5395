//! The two streams: who reads them, colours, and widths.

use std::io::pipe;
use std::process::Stdio;

use harn_tests::{FAIL, Outcome, PASS, Project};
use unicode_width::UnicodeWidthStr as _;

use crate::PROGRAM;

fn project() -> Project {
    let project = Project::new();
    project.item("a", PASS, &["--accept", "The suite passes"]);
    let _ = project.harn(&["work", "run", "a"]).ok();
    project
}

/// R59. Nobody reads: the command ends quietly, and what it was to change is changed.
#[test]
fn r_59_a_closed_stream_ends_quietly() {
    let project = project();
    for line in [
        "work list",
        "work list --json",
        "work show a",
        "work log a",
        "run list",
        "verify",
        "checkpoint",
        "--help",
        "completions zsh",
        "work note a --text gone",
        "work show nope",
        "work show nope --json",
        "work frobnicate",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let usual = project.process(PROGRAM, &words).output().unwrap().status.code();
        for close_stderr in [false, true] {
            // A pipe whose reader is gone before the first byte.
            let (reader, writer) = pipe().unwrap();
            drop(reader);
            let mut command = project.process(PROGRAM, &words);
            command.stdout(writer.try_clone().unwrap());
            if close_stderr {
                command.stderr(writer);
            } else {
                command.stderr(Stdio::piped());
            }
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), usual, "{line}");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("panicked") && !stderr.contains("ipe"), "{line}: {stderr}");
        }
    }
    let shown = project.harn(&["work", "show", "a", "--json"]).ok().json();
    assert_eq!(shown["projection"]["notes"].as_array().unwrap().len(), 3);
}

/// R59. Both streams are no streams at all.
#[test]
fn r_59_streams_that_are_not_open() {
    let project = project();
    for line in ["work list", "work list --json", "work show a"] {
        let shell = format!("exec \"$0\" {line} >&- 2>&-");
        let status = project.process("sh", &["-c", &shell, PROGRAM]).status().unwrap();
        assert_eq!(status.code(), Some(0), "{line}");
    }
}

/// A full disk is no reader that went away: it is said.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let project = project();
    let shell = "exec \"$0\" work list > /dev/full";
    let output = project.process("sh", &["-c", shell, PROGRAM]).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write to standard output"));
}

/// On a terminal or not, the option, variables, and whether there is colour.
type Row = (bool, &'static [&'static str], &'static [(&'static str, &'static str)], bool);
const TABLE: [Row; 17] = [
    (false, &[], &[], false),
    (true, &[], &[], true),
    (true, &["--color", "auto"], &[], true),
    (false, &["--color", "always"], &[], true),
    (false, &["--color=always"], &[("NO_COLOR", "1"), ("TERM", "dumb")], true),
    (true, &["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
    (true, &["--color=never"], &[], false),
    (true, &[], &[("NO_COLOR", "1")], false),
    (true, &[], &[("NO_COLOR", "")], true),
    (true, &[], &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
    (false, &[], &[("CLICOLOR_FORCE", "1")], true),
    (false, &[], &[("CLICOLOR_FORCE", "0")], false),
    (false, &[], &[("CLICOLOR_FORCE", "")], false),
    (false, &[], &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], true),
    (true, &[], &[("TERM", "dumb")], false),
    (true, &[], &[("TERM", "xterm")], true),
    (true, &["--color", "auto"], &[("NO_COLOR", "1")], false),
];

/// R62. One decision for each stream: the option, `NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb`, the terminal.
#[test]
fn r_62_who_decides_about_colour() {
    let project = project();
    for (terminal, option, variables, colored) in TABLE {
        for line in ["work show a", "work show nope", "work frobnicate", "--help"] {
            let words: Vec<&str> = option.iter().copied().chain(line.split(' ')).collect();
            let outcome = if terminal {
                project.harn_on_terminal(80, variables, &words)
            } else {
                project.harn_with(variables, &words)
            };
            let escapes = outcome.stdout.contains('\u{1b}') || outcome.stderr.contains('\u{1b}');
            assert_eq!(escapes, colored, "{line} {option:?} {variables:?} terminal: {terminal}");
        }
    }
    // A document never has colours.
    let json = project.harn(&["--color", "always", "work", "show", "a", "--json"]).ok();
    assert!(!json.stdout.contains("\\u001b") && !json.stdout.contains('\u{1b}'));
}

/// Lines that are wider than `width` although they need not be: a command line, an id, a digest or a path is never
/// broken, so that it can be copied.
fn too_wide(outcome: &Outcome, width: usize) -> Vec<String> {
    let may_be_wide = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        line.starts_with("try: ") || line.starts_with("note: ") || words.len() <= 2
    };
    let wide = outcome.stdout.lines().filter(|line| line.width() > width).filter(|line| !may_be_wide(line));
    wide.map(str::to_owned).collect()
}

#[test]
fn text_fits_the_width_that_is_there() {
    let project = Project::new();
    let title = "発表するパッケージの一覧と多くの長い言葉 🚀🚀 ".repeat(4);
    project.write("w.mjs", PASS);
    project.write("f.mjs", FAIL);
    for (id, script) in [("work-2026-07-22T12-00-00-000Z-a1b2c3", "w.mjs"), ("short", "f.mjs")] {
        let objective =
            "A long objective with more words than a line of a narrow terminal can hold ".repeat(3);
        let line = ["work", "create", &title, script, "--objective", &objective, "--id", id];
        let _ = project.harn(&[&line[..], &["--accept", &objective]].concat()).ok();
        let _ = project.harn(&["work", "run", id]);
        let _ = project.harn(&["work", "note", id, "--text", &objective]).ok();
        let _ = project.harn(&["work", "reopen", id, "--finding", &objective]).ok();
    }
    let run =
        project.harn(&["run", "list", "--json"]).ok().json()["items"][0]["id"].as_str().unwrap().to_owned();
    for width in [40, 60, 80, 120] {
        for line in [
            "work list",
            "work show short",
            "work show work-2026-07-22T12-00-00-000Z-a1b2c3",
            "work log short",
            "run list",
            "work --help",
            "work run --help",
            "--help",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let stated = project.harn_with(&[("COLUMNS", &width.to_string())], &words).ok();
            assert_eq!(too_wide(&stated, width), [""; 0], "{line} in {width} columns");
            // A terminal of that width gives the same.
            let shown = project.harn_on_terminal(width, &[("NO_COLOR", "1")], &words).ok();
            assert_eq!(shown.stdout, stated.stdout, "{line} in {width} columns");
        }
        let shown = project.harn_with(&[("COLUMNS", &width.to_string())], &["run", "show", &run]).ok();
        assert_eq!(too_wide(&shown, width), [""; 0], "run show in {width} columns");
    }
    // In a pipe, nothing is cut, and an item is one line.
    let listed = project.harn(&["work", "list"]).ok().stdout;
    assert_eq!(listed.lines().count(), 2);
    assert!(listed.lines().all(|line| line.ends_with(title.trim())), "{listed}");
    let log = project.harn(&["work", "log", "short"]).ok().stdout;
    assert!(log.lines().any(|line| line.len() > 300), "{log}");
    // What is no width is none.
    for columns in ["", "x", "0", "-1"] {
        assert_eq!(project.harn_with(&[("COLUMNS", columns)], &["work", "list"]).ok().stdout, listed);
    }
}

/// R61, N-13. A title is free text up to a limit, never part of a path, and obeyed by no terminal.
#[test]
fn r_61_n_13_titles_are_only_text() {
    let project = Project::new();
    project.write("w.mjs", PASS);
    let (longest, too_long) = ("漢".repeat(200), "a".repeat(300));
    let cases: [(&str, u8); 13] = [
        ("我的任务", 0),
        ("задача", 0),
        ("🚀🚀", 0),
        ("../../etc/x", 0),
        ("a/b", 0),
        ("$(touch x) `id` ; rm -rf /", 0),
        ("\u{202e}txt.exe", 0),
        (&longest, 0),
        ("-rf", 2),
        ("", 3),
        (&too_long, 3),
        ("two\nlines", 3),
        ("\u{1b}[2Jgone", 3),
    ];
    for (title, exit) in cases {
        let outcome =
            project.harn(&["work", "create", title, "w.mjs", "--objective", "O", "--json"]).exits(exit);
        let document = outcome.json();
        assert_eq!(document["intent"]["title"].as_str(), (exit == 0).then_some(title), "{title}");
    }
    let ids = project.tree();
    let ids: Vec<&String> = ids.keys().filter(|path| path.starts_with("work/")).collect();
    let plain = |path: &&&String| path.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    assert_eq!(ids.iter().filter(plain).count(), ids.len(), "{ids:?}");
    let listed = project.harn(&["work", "list"]).ok().stdout;
    assert_eq!(listed.lines().count(), 8);
    assert!(listed.contains("\\u{202e}txt.exe"), "{listed}");
}
