//! Nothing is advertised that does not exist. Every test of this crate checks each hint and each `try:` line that it sees;
//! here are those that no command can bring about today, the help texts, and the documents.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use harn_cli::args::Args;
use harn_ledger::{Actor, BlobRef, Digest, StreamId, Timestamp};
use harn_tests::{command_lines, commands_in_hint, parses};
use harn_workflow::work::{ItemState, Outcome, Refusal, Verb};

fn id(text: &str) -> StreamId {
    StreamId::new(text).unwrap()
}

/// One of each refusal that has a hint, and one of each state where the hint depends on it.
fn refusals() -> Vec<Refusal> {
    let item = || id("a");
    let verb = Verb::Run;
    let digest = Digest::of(b"");
    let proof = BlobRef::of(b"");
    let mut all = vec![
        Refusal::WorkflowChild { verb },
        Refusal::NotAPerson { verb: Verb::Grant },
        Refusal::Finished { id: item(), verb, state: ItemState::Succeeded },
        Refusal::Waiting { id: item(), verb, unresolved: Vec::new() },
        Refusal::Running { id: item(), verb },
        Refusal::NeedsRetry { id: item(), reason: "why".to_owned() },
        Refusal::Exhausted { id: item(), verb, charged: 3, ceiling: 3 },
        Refusal::Exhausted { id: item(), verb: Verb::Reopen, charged: 3, ceiling: 3 },
        Refusal::NeedsPerson { id: item(), reason: "why".to_owned() },
        Refusal::TooEarly { id: item(), at: Timestamp::UNIX_EPOCH },
        Refusal::RunIdUsed { run_id: id("r"), attempt: 1 },
        Refusal::NoOpenAttempt { id: item(), verb },
        Refusal::AlreadyEnded { run_id: id("r"), outcome: Outcome::Failed },
        Refusal::ContradictsRun { run_id: id("r") },
        Refusal::NothingToResume { id: item(), attempt: 1 },
        Refusal::ProofMissing { id: item(), attempt: 1 },
        Refusal::ProofChanged { recorded: proof, found: proof },
        Refusal::Unproven { id: item(), attempt: 1, why: "why".to_owned() },
        Refusal::NoSuchAttempt { id: item(), attempt: 4, used: 3 },
        Refusal::PassedCounts { id: item(), attempt: 1 },
        Refusal::Overdrawn { id: item(), attempt: 1, charged: 3, ceiling: 3 },
        Refusal::OtherProof { expected: digest, recorded: digest },
        Refusal::FindingsOpen { id: item(), findings: vec!["f1".parse().unwrap(), "f2".parse().unwrap()] },
        Refusal::UnknownFinding { finding: "f1".parse().unwrap(), open: Vec::new() },
        Refusal::FindingTwice { finding: "f1".parse().unwrap() },
        Refusal::DeferredWithoutReason { finding: "f1".parse().unwrap() },
        Refusal::NotRaiser { finding: "f1".parse().unwrap(), raised_by: Actor::new("ann").unwrap() },
        Refusal::TooManyFindings { count: 21 },
        Refusal::CarryAndSupersede,
        Refusal::TooManyUnknowns { count: 51 },
        Refusal::GrantOutOfRange { attempts: 0 },
        Refusal::GrantWithoutReason,
        Refusal::ReviewMissing { id: item() },
        Refusal::ReviewNotClean { id: item(), review: Some(id("rv")), reasons: vec!["why".to_owned()] },
    ];
    for decided in [false, true] {
        all.push(Refusal::AwaitingApproval { id: item(), verb, attempt: 1, approval_id: id("apr"), decided });
    }
    for state in ItemState::ALL {
        all.push(Refusal::WrongState { id: item(), verb, state, expected: "`in_review`" });
    }
    all
}

#[test]
fn every_hint_of_a_refusal_is_a_command() {
    let hints: Vec<String> = refusals().iter().filter_map(Refusal::hint).collect();
    assert!(hints.len() > 15);
    for line in hints.iter().flat_map(|hint| commands_in_hint(hint)) {
        assert!(parses(&line), "`{line}` is not a command");
    }
}

#[test]
fn every_example_in_a_help_text_is_a_command() {
    let mut commands = vec![Args::command()];
    let mut examples = 0;
    while let Some(mut command) = commands.pop() {
        let help = command.render_long_help().to_string();
        for line in command_lines(&help) {
            examples += 1;
            assert!(parses(&line), "`{line}` in the help of `{}` is not a command", command.get_name());
        }
        commands.extend(command.get_subcommands().cloned());
    }
    assert!(examples > 10, "the examples were not found");
}

/// The documents of the project that show commands.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut directories = vec![root.join("docs")];
    directories.extend(fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    directories.push(root.to_owned());
    for directory in directories {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        let paths = entries.map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found
}

/// Whether a text in prose names commands and options that exist; it need not be a whole command line.
fn names_what_exists(text: &str) -> bool {
    let root = Args::command();
    let mut command = &root;
    let mut words = text.split_whitespace().skip(1);
    let mut rest: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match command.find_subcommand(word).filter(|found| !found.is_hide_set()) {
            Some(found) => command = found,
            None => rest = std::iter::once(word).chain(words.by_ref()).collect(),
        }
    }
    let known = |flag: &&&str| {
        let name = flag.trim_start_matches("--").split('=').next().unwrap_or_default();
        let mut options = command.get_arguments().chain(root.get_arguments());
        ["help", "version"].contains(&name) || options.any(|option| option.get_long() == Some(name))
    };
    let ends_well =
        rest.first().is_none_or(|word| command.get_subcommands().next().is_none() || word.starts_with('-'));
    ends_well && rest.iter().filter(|word| word.starts_with("--")).all(|flag| known(&flag))
}

#[test]
fn every_command_in_a_document_exists() {
    let documents = documents();
    assert!(
        documents.iter().any(|path| path.ends_with("harn-cli/README.md")),
        "the documents were not found"
    );
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let (mut prose, mut console) = (String::new(), String::new());
        let mut fenced = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else {
                let part = if fenced { &mut console } else { &mut prose };
                part.push_str(line);
                part.push('\n');
            }
        }
        for line in command_lines(&console) {
            let line = line.split(" # ").next().unwrap_or_default();
            assert!(parses(line), "`{line}` in {} is not a command", document.display());
        }
        for line in commands_in_hint(&format!(" {prose}")) {
            assert!(names_what_exists(&line), "`{line}` in {} does not exist", document.display());
        }
    }
}

#[test]
fn the_judge_of_prose_judges() {
    for (text, exists) in [
        ("harn", true),
        ("harn verify", true),
        ("harn --version", true),
        ("harn work reopen --grant", true),
        ("harn work run ID --adapter exec", true),
        ("harn work accept ID --dispose f1=fixed --json", true),
        ("harn work resume ID", true),
        ("harn work park ID", false),
        ("harn approval list", false),
        ("harn verify --against X", true),
        ("harn verify --repair", false),
    ] {
        assert_eq!(names_what_exists(text), exists, "{text}");
    }
}
