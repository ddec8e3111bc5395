//! Verification against a checkpoint: what nothing in the ledger itself can show.

use std::path::{Path, PathBuf};

use harn_ledger::disk::{Disk as _, MemDisk};
use harn_ledger::{Checkpoint, Digest, Expect, Ledger, ProblemKind, Verification, VerifyOptions};

use crate::account::{Account, credited, open_account, open_ballot};
use crate::forge::{Forged, hash_of, lines};
use crate::store::{INTENT, LOG, account, in_memory, open, read, write};

/// A ledger, and a checkpoint of it.
struct Bench {
    disk: MemDisk,
    checkpoint: Checkpoint,
}

impl Bench {
    /// `a` has three single events and a batch of two; `b` and a ballot have one event each.
    fn new() -> Self {
        let (disk, ledger) = in_memory();
        let stream = open_account(&ledger, "a");
        for batch in [vec![credited(1)], vec![credited(2)], vec![credited(3), credited(4)]] {
            stream.append(Expect::Any, "teller", batch).unwrap();
        }
        open_account(&ledger, "b");
        open_ballot(&ledger, "c");
        let checkpoint = ledger.checkpoint().unwrap();
        Self { disk, checkpoint }
    }

    fn ledger(&self) -> Ledger {
        open(self.disk.clone(), Path::new("/bank"))
    }

    fn log(&self) -> Vec<u8> {
        read(&self.disk, &account("a").join(LOG))
    }

    fn set_log(&self, log: &[u8]) {
        write(&self.disk, &account("a").join(LOG), log);
    }

    fn verify(&self) -> Verification {
        verify(&self.ledger(), &self.checkpoint)
    }

    /// What is found, and that without the checkpoint nothing is.
    fn found_only_so(&self) -> Vec<(String, ProblemKind)> {
        assert_eq!(self.ledger().verify(&VerifyOptions::default()).problems, []);
        self.found()
    }

    fn found(&self) -> Vec<(String, ProblemKind)> {
        self.verify().problems.into_iter().map(|problem| (problem.place, problem.kind)).collect()
    }

    fn known(&self) -> Digest {
        self.checkpoint.heads().iter().find(|(name, _)| name.to_string() == "account/a").unwrap().1.hash
    }

    fn remove(&self, stream: &Path) {
        for file in [INTENT, LOG] {
            self.disk.unlink(&stream.join(file)).unwrap();
        }
        self.disk.remove_dir(stream).unwrap();
    }
}

fn verify(ledger: &Ledger, checkpoint: &Checkpoint) -> Verification {
    let mut options = VerifyOptions::default();
    options.against = Some(checkpoint.clone());
    ledger.verify(&options)
}

fn codes(found: &Verification) -> Vec<(&str, &'static str)> {
    found.problems.iter().map(|problem| (&*problem.place, problem.kind.code())).collect()
}

/// A ledger that went on extends what was seen of it.
#[test]
fn what_goes_on_is_fine() {
    let bench = Bench::new();
    let untouched = bench.verify();
    assert_eq!((untouched.streams, untouched.events, untouched.problems), (3, 7, Vec::new()));
    let ledger = bench.ledger();
    ledger.stream::<Account>("a").unwrap().append(Expect::Any, "teller", vec![credited(5)]).unwrap();
    open_account(&ledger, "later");
    ledger.blobs().put(b"later").unwrap();
    assert_eq!(bench.found_only_so(), []);
    let (_, empty) = in_memory();
    assert_eq!(verify(&bench.ledger(), &empty.checkpoint().unwrap()).problems, []);
}

/// The end of each batch is a whole, shorter log: the checkpoint is all that can tell.
#[test]
fn a_cut_off_end() {
    let bench = Bench::new();
    let log = bench.log();
    for events in [3, 2, 1] {
        bench.set_log(&lines(&log)[..events].concat());
        let shorter = ProblemKind::Shorter { seq: events as u64, known: 5, cut: None };
        assert_eq!(bench.found_only_so(), [("account/a".to_owned(), shorter)]);
    }
    // Cut inside the batch, a crash could have done it, but not to what the checkpoint saw.
    bench.set_log(&lines(&log)[..4].concat());
    assert_eq!(
        codes(&bench.verify()),
        [("account/a", "unfinished_tail"), ("account/a", "cut_off")],
        "the tail, and what is missing"
    );
}

#[test]
fn a_removed_stream() {
    let bench = Bench::new();
    bench.remove(&account("a"));
    let removed = |known| ProblemKind::Removed { known };
    assert_eq!(bench.found_only_so(), [("account/a".to_owned(), removed(5))]);
    assert_eq!(bench.verify().streams, 2);

    // An empty directory, and a file in place of one.
    bench.disk.create_dir(&account("a")).unwrap();
    assert_eq!(codes(&bench.verify()), [("account/a", "removed")]);
    bench.disk.remove_dir(&account("a")).unwrap();
    write(&bench.disk, &account("a"), b"");
    assert_eq!(codes(&bench.verify()), [("account/a", "foreign_file"), ("account/a", "removed")]);

    // Nothing is left of a kind.
    let bench = Bench::new();
    let kind = Path::new("/bank/ballot");
    bench.remove(&kind.join("c"));
    assert_eq!(bench.found_only_so(), [("ballot/c".to_owned(), removed(1))]);
    bench.disk.remove_dir(kind).unwrap();
    assert_eq!(bench.found_only_so(), [("ballot/c".to_owned(), removed(1))]);
    write(&bench.disk, kind, b"");
    assert_eq!(codes(&bench.verify()), [("ballot", "foreign_file"), ("ballot/c", "removed")]);
}

/// The whole log chained again from `start`: everything verifies, and nothing is what it was.
fn rechained(log: &[u8], start: Digest, stream: &str, change: impl Fn(&mut Forged)) -> Vec<u8> {
    let mut prev = start;
    let mut forged = Vec::new();
    for line in lines(log) {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        let text = |member: &str| value[member].as_str().unwrap().to_owned();
        let mut line = Forged::new(
            stream,
            value["seq"].as_u64().unwrap(),
            prev,
            &text("event"),
            &value["data"].to_string(),
        );
        line.more = value["more"].as_bool().unwrap_or(false);
        line.actor = text("actor");
        change(&mut line);
        let bytes = line.line();
        prev = hash_of(&bytes);
        forged.extend(bytes);
    }
    forged
}

#[test]
fn a_replaced_intent_with_a_log_that_follows_from_it() {
    let bench = Bench::new();
    let intent = b"{\n  \"owner\": \"Mallory\"\n}\n";
    write(&bench.disk, &account("a").join(INTENT), intent);
    let log = rechained(&bench.log(), Digest::of(intent), "account/a", |_| {});
    bench.set_log(&log);
    assert_eq!(bench.ledger().stream::<Account>("a").unwrap().state().unwrap().owner, "Mallory");
    let found = hash_of(lines(&log)[4]);
    let rewritten = ProblemKind::Rewritten { seq: 5, known: bench.known(), found, cut: None };
    assert_eq!(bench.found_only_so(), [("account/a".to_owned(), rewritten)]);
}

/// A change to any event shows in the last, also when the forger goes on.
#[test]
fn a_rewritten_history() {
    for changed in 1..=5 {
        let bench = Bench::new();
        let intent = Digest::of(&read(&bench.disk, &account("a").join(INTENT)));
        let log = rechained(&bench.log(), intent, "account/a", |line| {
            if line.seq == changed {
                line.actor = "mallory".to_owned();
            }
        });
        bench.set_log(&log);
        let found = hash_of(lines(&log)[4]);
        let rewritten = ProblemKind::Rewritten { seq: 5, known: bench.known(), found, cut: None };
        let expected = [("account/a".to_owned(), rewritten)];
        assert_eq!(bench.found_only_so(), expected, "event {changed}");
        let ledger = bench.ledger();
        ledger.stream::<Account>("a").unwrap().append(Expect::Any, "teller", vec![credited(9)]).unwrap();
        assert_eq!(bench.found_only_so(), expected, "event {changed}, and one more");
    }
}

/// A stream put in another's place has to be written anew, since its lines name it; then its hashes differ.
#[test]
fn swapped_streams() {
    let bench = Bench::new();
    let files = |id: &str| [INTENT, LOG].map(|file| account(id).join(file));
    let read_all = |paths: &[PathBuf; 2]| [read(&bench.disk, &paths[0]), read(&bench.disk, &paths[1])];
    let (a, b) = (read_all(&files("a")), read_all(&files("b")));
    let put = |id: &str, [intent, log]: &[Vec<u8>; 2], again: bool| {
        let log = if again {
            rechained(log, Digest::of(intent), &format!("account/{id}"), |_| {})
        } else {
            log.clone()
        };
        write(&bench.disk, &files(id)[0], intent);
        write(&bench.disk, &files(id)[1], &log);
    };
    put("a", &b, false);
    put("b", &a, false);
    assert_eq!(codes(&bench.verify()), [("account/a", "damaged"), ("account/b", "damaged")]);
    put("a", &b, true);
    put("b", &a, true);
    assert_eq!(bench.ledger().verify(&VerifyOptions::default()).problems, []);
    // The forged `b` begins as it did, but for the time in its line.
    assert_eq!(codes(&bench.verify()), [("account/a", "cut_off")]);
}

/// A repair cuts too, and says so: the message tells the two apart.
#[test]
fn an_end_that_a_repair_cut_off() {
    let bench = Bench::new();
    let log = bench.log();
    let cut = |at: usize| {
        let data = format!(r#"{{"file":"events.cut-1","bytes":1,"sha256":"{}"}}"#, Digest::of(b"cut"));
        let seq = at as u64;
        let line = Forged::new("account/a", seq, hash_of(lines(&log)[at - 2]), "ledger.cut", &data);
        let bytes = Forged { actor: "ledger".to_owned(), ..line }.line();
        [lines(&log)[..at - 1].concat(), bytes].concat()
    };
    bench.set_log(&cut(3));
    let found = bench.found_only_so();
    assert_eq!(found[0].1, ProblemKind::Shorter { seq: 3, known: 5, cut: Some(3) });
    assert!(found[0].1.to_string().contains("event 3 records that a repair cut off"), "{}", found[0].1);
    for credit in [7, 8] {
        let ledger = bench.ledger();
        ledger.stream::<Account>("a").unwrap().append(Expect::Any, "teller", vec![credited(credit)]).unwrap();
    }
    let found = bench.found_only_so();
    assert!(matches!(found[0].1, ProblemKind::Rewritten { seq: 5, cut: Some(3), .. }), "{found:?}");

    // What was cut behind the checkpoint is none of its business.
    let bench = Bench::new();
    let line = Forged::new("account/a", 6, hash_of(lines(&log)[4]), "ledger.cut", "{}");
    bench.set_log(&[log.clone(), Forged { actor: "ledger".to_owned(), ..line }.line()].concat());
    assert_eq!(bench.found_only_so(), []);
}

/// Of a stream that cannot be read up to there, nothing is said but that.
#[test]
fn damage_hides_what_the_checkpoint_knows() {
    let bench = Bench::new();
    let mut log = bench.log();
    log[700] ^= 1;
    bench.set_log(&log);
    assert_eq!(codes(&bench.verify()), [("account/a", "damaged")]);
    // Damage behind it changes nothing about what was before.
    let bench = Bench::new();
    bench.set_log(&[bench.log(), b"damage\n".to_vec()].concat());
    assert_eq!(codes(&bench.verify()), [("account/a", "damaged")]);
}

/// A checkpoint of another ledger says so first, whether the names are others or the same.
#[test]
fn the_checkpoint_of_another_ledger() {
    let bench = Bench::new();
    let (_, other) = in_memory();
    open_account(&other, "x");
    open_account(&other, "y");
    let found = verify(&bench.ledger(), &other.checkpoint().unwrap());
    let expected = [(".", "another_ledger"), ("account/x", "removed"), ("account/y", "removed")];
    assert_eq!(codes(&found), expected);
    assert_eq!(
        found.problems[0].kind.to_string(),
        "no stream of the checkpoint, of 2 in all, is left as it was seen: it may be of another ledger"
    );

    let (_, other) = in_memory();
    open_account(&other, "a").append(Expect::Any, "clerk", vec![credited(1)]).unwrap();
    let found = verify(&bench.ledger(), &other.checkpoint().unwrap());
    assert_eq!(codes(&found), [(".", "another_ledger"), ("account/a", "rewritten")]);

    // One stream in common is enough not to say so.
    open_account(&other, "b");
    let found = verify(&bench.ledger(), &other.checkpoint().unwrap());
    assert_eq!(codes(&found), [("account/a", "rewritten")]);
}
