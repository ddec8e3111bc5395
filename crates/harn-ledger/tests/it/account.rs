//! The domains that the tests store: a bank account, and a ballot whose limits are soon reached.

use harn_ledger::{BlobRef, Decider, Digest, Ledger, Limits, Recorded, Stream};
use serde::{Deserialize, Serialize};

pub(crate) struct Account;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Owner {
    pub(crate) owner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contract: Option<BlobRef>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum AccountEvent {
    #[serde(rename = "account.opened")]
    Opened {},
    #[serde(rename = "account.credited")]
    Credited {
        cents: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    #[serde(rename = "account.debited")]
    Debited { cents: u64 },
    #[serde(rename = "account.audited")]
    Audited { hash: Digest },
    #[serde(rename = "account.documented")]
    Documented { papers: Vec<BlobRef> },
    #[serde(rename = "account.closed")]
    Closed {},
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountState {
    pub(crate) owner: String,
    pub(crate) cents: u64,
    pub(crate) notes: Vec<String>,
    pub(crate) closed: bool,
    /// Sequence numbers of everything that was folded.
    pub(crate) folded: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) enum AccountCommand {
    Credit(u64),
    Debit(u64),
    Close,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccountRefusal {
    #[error("only {left} cents are left")]
    Overdrawn { left: u64 },
    #[error("the account is closed")]
    Closed,
}

impl Decider for Account {
    const KIND: &'static str = "account";
    type Intent = Owner;
    type Event = AccountEvent;
    type State = AccountState;
    type Command = AccountCommand;
    type Facts = ();
    type Refusal = AccountRefusal;

    fn init(intent: &Owner) -> AccountState {
        let owner = intent.owner.clone();
        AccountState { owner, cents: 0, notes: Vec::new(), closed: false, folded: Vec::new() }
    }

    fn decide(
        state: &AccountState,
        command: AccountCommand,
        (): &(),
    ) -> Result<Vec<AccountEvent>, AccountRefusal> {
        match command {
            AccountCommand::Close if state.closed => Ok(Vec::new()),
            _ if state.closed => Err(AccountRefusal::Closed),
            AccountCommand::Credit(cents) => Ok(vec![credited(cents)]),
            AccountCommand::Debit(cents) if cents > state.cents => {
                Err(AccountRefusal::Overdrawn { left: state.cents })
            }
            AccountCommand::Debit(cents) => Ok(vec![AccountEvent::Debited { cents }]),
            AccountCommand::Close => Ok(vec![AccountEvent::Closed {}]),
        }
    }

    fn evolve(state: &mut AccountState, recorded: &Recorded<AccountEvent>) {
        state.folded.push(recorded.seq);
        match &recorded.event {
            AccountEvent::Credited { cents, note } => {
                state.cents = state.cents.saturating_add(*cents);
                state.notes.extend(note.clone());
            }
            AccountEvent::Debited { cents } => state.cents = state.cents.saturating_sub(*cents),
            AccountEvent::Closed {} => state.closed = true,
            AccountEvent::Opened {} | AccountEvent::Audited { .. } | AccountEvent::Documented { .. } => {}
        }
    }

    fn closes(event: &AccountEvent) -> bool {
        matches!(event, AccountEvent::Closed {})
    }
}

pub(crate) const fn credited(cents: u64) -> AccountEvent {
    AccountEvent::Credited { cents, note: None }
}

pub(crate) fn noted(cents: u64, note: &str) -> AccountEvent {
    AccountEvent::Credited { cents, note: Some(note.to_owned()) }
}

/// An account that was opened, and nothing more.
pub(crate) fn open_account(ledger: &Ledger, id: &str) -> Stream<Account> {
    let intent = Owner { owner: "Alice".to_owned(), contract: None };
    ledger.create(id, "teller", &intent, &[AccountEvent::Opened {}]).unwrap()
}

/// A ballot: every vote is one event, and `Facts` says how many people there are.
pub(crate) struct Ballot;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) question: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) enum BallotEvent {
    #[serde(rename = "opened")]
    Opened {},
    #[serde(rename = "voted")]
    Voted { voter: String },
    #[serde(rename = "counted")]
    Counted { votes: u64 },
}

#[derive(Debug, thiserror::Error)]
#[error("all {people} people have voted")]
pub(crate) struct AllHaveVoted {
    pub(crate) people: u64,
}

impl Decider for Ballot {
    const KIND: &'static str = "ballot";
    /// Beside the reserve of 16 events and 16 lines, there is room for 4 events and for 2,000 bytes.
    const LIMITS: Limits =
        Limits { intent_bytes: 200, line_bytes: 600, events: 20, log_bytes: 16 * 600 + 2000 };
    type Intent = Question;
    type Event = BallotEvent;
    type State = u64;
    type Command = String;
    type Facts = u64;
    type Refusal = AllHaveVoted;

    fn init(_: &Question) -> u64 {
        0
    }

    fn decide(count: &u64, voter: String, people: &u64) -> Result<Vec<BallotEvent>, AllHaveVoted> {
        if count < people {
            Ok(vec![BallotEvent::Voted { voter }])
        } else {
            Err(AllHaveVoted { people: *people })
        }
    }

    fn evolve(count: &mut u64, recorded: &Recorded<BallotEvent>) {
        if let BallotEvent::Voted { .. } = recorded.event {
            *count += 1;
        }
    }

    fn closes(event: &BallotEvent) -> bool {
        matches!(event, BallotEvent::Counted { .. })
    }
}

pub(crate) fn voted(voter: &str) -> BallotEvent {
    BallotEvent::Voted { voter: voter.to_owned() }
}

pub(crate) fn open_ballot(ledger: &Ledger, id: &str) -> Stream<Ballot> {
    let intent = Question { question: "Tea or coffee?".to_owned() };
    ledger.create(id, "clerk", &intent, &[BallotEvent::Opened {}]).unwrap()
}
