//! What the commands of a project share: the project, its work items, and who acts.

use std::sync::Arc;

use harn_ledger::{
    Actor, Clock, CountingIds, FixedClock, IdSource, Ledger, SystemClock, SystemIds, Timestamp,
};
use harn_workflow::WorkLedger;
use harn_workflow::work::{Caller, Role};

use crate::config::Config;
use crate::disk::ProjectDisk;
use crate::exit::Exit;
use crate::failure::{Fails as _, Failure};
use crate::io::Io;
use crate::project::Project;

/// Tests set the time with this variable; events that are written then say so.
const TEST_NOW: &str = "HARN_TEST_NOW";

/// Tests make ids exact with this variable.
const TEST_SEED: &str = "HARN_TEST_SEED";

/// The engine marks the processes that it starts with this variable.
const CHILD: &str = "HARN_CHILD";

/// Whoever sets this variable to `1` accepts a network file system.
const ALLOW_NETWORK: &str = "HARN_ALLOW_NETWORK_FS";

/// One command in one project.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) project: Project,
    pub(crate) works: WorkLedger,
    /// Actor names end in this when the clock is not the machine's.
    actor_suffix: &'static str,
    role: Role,
    network_accepted: bool,
}

impl Session {
    /// Opens the project that the command line means.
    pub(crate) fn open(root: Option<&std::path::Path>, io: &Io<'_>) -> Result<Self, Failure> {
        let project = Project::find(root, &io.directory).map_err(|error| error.failure())?;
        let clock = AnyClock::from(io)?;
        let ids = AnyIds::from(io)?;
        let actor_suffix = if matches!(clock, AnyClock::Fixed(_)) { " (test clock)" } else { "" };
        let network_accepted = network_accepted(io)?;
        let ledger = Ledger::builder(&project.state)
            .disk(ProjectDisk::from(io)?)
            .clock(clock)
            .network_file_system(network_accepted)
            .open()
            .map_err(|error| Failure::from_error(Exit::Environment, error.code(), error.hint(), &error))?;
        let role = if io.variable(CHILD).is_some() { Role::WorkflowChild } else { Role::Person };
        Ok(Self { works: WorkLedger::new(ledger, clock, ids), project, actor_suffix, role, network_accepted })
    }

    /// Whether the records can be read and not changed, as far as the machine says so.
    pub(crate) fn on_read_only_file_system(&self) -> bool {
        self.works.ledger().file_system().is_ok_and(|found| found.read_only)
    }

    /// Adds to a refusal by the place how to accept that place, where that can be done.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let on_a_network = || self.works.ledger().file_system().is_ok_and(|found| found.network.is_some());
        if failure.is_about_the_place() && !self.network_accepted && on_a_network() {
            failure.hint(format!("keep the project on a local disk, or set `{ALLOW_NETWORK}=1`"))
        } else {
            failure
        }
    }

    /// The project's configuration.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        Config::read(&self.project.configuration)
    }

    /// Whether a workflow started this process.
    pub(crate) fn is_child(&self) -> bool {
        self.role == Role::WorkflowChild
    }

    /// Who acts: the option, `HARN_ACTOR`, `USER`, or `operator`.
    pub(crate) fn caller(&self, option: Option<&str>, io: &Io<'_>) -> Result<Caller, Failure> {
        let named = option.or_else(|| io.text_variable("HARN_ACTOR")).or_else(|| io.text_variable("USER"));
        let named = named.unwrap_or("operator").trim();
        // The name must be one by itself, whatever the suffix would make of it.
        let actor = Actor::new(named)
            .and_then(|_| Actor::new(&format!("{named}{}", self.actor_suffix)))
            .map_err(|error| Failure::from_error(Exit::Refused, error.code(), None, &error))?;
        Ok(Caller { actor, role: self.role })
    }
}

/// Whether the environment accepts a network file system.
fn network_accepted(io: &Io<'_>) -> Result<bool, Failure> {
    match io.variable(ALLOW_NETWORK) {
        None => Ok(false),
        Some(text) if text == "1" => Ok(true),
        Some(text) => Err(Failure::new(
            Exit::Usage,
            "allow_network_fs_invalid",
            format!(
                "`{ALLOW_NETWORK}` is `{}`, expected `1` or nothing",
                text.to_string_lossy().escape_debug()
            ),
        )),
    }
}

/// The machine's clock, or the one that a test stopped.
#[derive(Debug, Clone, Copy)]
enum AnyClock {
    System(SystemClock),
    Fixed(FixedClock),
}

impl AnyClock {
    fn from(io: &Io<'_>) -> Result<Self, Failure> {
        match io.text_variable(TEST_NOW) {
            None => Ok(Self::System(SystemClock)),
            Some(text) => match Timestamp::from_rfc3339(text) {
                Ok(now) => Ok(Self::Fixed(FixedClock(now))),
                Err(error) => Err(Failure::from_error(Exit::Usage, "test_clock_invalid", None, &error)),
            },
        }
    }
}

impl Clock for AnyClock {
    fn now(&self) -> Timestamp {
        match self {
            Self::System(clock) => clock.now(),
            Self::Fixed(clock) => clock.now(),
        }
    }
}

/// Random ids, or the ones that a test counts.
#[derive(Debug, Clone)]
enum AnyIds {
    System(SystemIds),
    Counting(Arc<CountingIds>),
}

impl AnyIds {
    fn from(io: &Io<'_>) -> Result<Self, Failure> {
        match io.text_variable(TEST_SEED) {
            None => Ok(Self::System(SystemIds)),
            Some(text) => match text.parse() {
                Ok(seed) => Ok(Self::Counting(Arc::new(CountingIds::from_seed(seed)))),
                Err(_) => Err(Failure::new(
                    Exit::Usage,
                    "test_seed_invalid",
                    format!("`{TEST_SEED}` is `{}`, expected a whole number", text.escape_debug()),
                )),
            },
        }
    }
}

impl IdSource for AnyIds {
    fn next_bytes(&self) -> [u8; 3] {
        match self {
            Self::System(ids) => ids.next_bytes(),
            Self::Counting(ids) => ids.next_bytes(),
        }
    }
}
