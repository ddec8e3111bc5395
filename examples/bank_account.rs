//! A bank account on `harn-ledger`: overdrafts are refused, and every cent is accounted for.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use harn_ledger::{Decider, Entry, Ledger, Recorded, VerifyOptions};
use serde::{Deserialize, Serialize};

struct Account;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    owner: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Event {
    #[serde(rename = "account.opened")]
    Opened {},
    #[serde(rename = "account.credited")]
    Credited { cents: u64 },
    #[serde(rename = "account.debited")]
    Debited { cents: u64 },
}

#[derive(Clone)]
enum Command {
    Credit(u64),
    Debit(u64),
}

#[derive(Debug, thiserror::Error)]
#[error("cannot debit {asked} cents, only {balance} are there")]
struct Overdrawn {
    asked: u64,
    balance: u64,
}

impl Decider for Account {
    const KIND: &'static str = "account";
    type Intent = Opening;
    type Event = Event;
    type State = u64;
    type Command = Command;
    type Facts = ();
    type Refusal = Overdrawn;

    fn init(_: &Opening) -> u64 {
        0
    }

    fn decide(balance: &u64, command: Command, (): &()) -> Result<Vec<Event>, Overdrawn> {
        match command {
            Command::Credit(cents) => Ok(vec![Event::Credited { cents }]),
            Command::Debit(asked) if asked > *balance => Err(Overdrawn { asked, balance: *balance }),
            Command::Debit(cents) => Ok(vec![Event::Debited { cents }]),
        }
    }

    fn evolve(balance: &mut u64, recorded: &Recorded<Event>) {
        match recorded.event {
            Event::Opened {} => {}
            Event::Credited { cents } => *balance += cents,
            Event::Debited { cents } => *balance -= cents,
        }
    }
}

/// Opens an account, moves money, and proves the record.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let ledger = Ledger::open(directory.path().join("bank"))?;
    let opening = Opening { owner: "Alice".to_owned() };
    let alice = ledger.create::<Account>("alice", "teller", &opening, &[Event::Opened {}])?;

    alice.execute("teller", Command::Credit(100))?;
    alice.execute("teller", Command::Debit(30))?;
    match alice.execute("teller", Command::Debit(71)) {
        Err(refusal) => println!("refused: {refusal}"),
        Ok(_) => return Err("an overdraft went through".into()),
    }
    println!("{} has {} cents", alice.intent().owner, alice.state()?);
    for entry in alice.history()?.iter().filter_map(Entry::domain) {
        println!("{}  {}  {:?}", entry.seq, entry.actor, entry.event);
    }
    let found = ledger.verify(&VerifyOptions::default());
    println!("{} events verify, {} problems", found.events, found.problems.len());
    if alice.state()? == 70 && found.problems.is_empty() {
        Ok(())
    } else {
        Err("the account is wrong".into())
    }
}
