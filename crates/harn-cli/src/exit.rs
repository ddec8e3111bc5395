//! Exit codes: a public contract.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// Done.
    Done,
    /// The work failed: an attempt or a check.
    WorkFailed,
    /// The command line is wrong.
    Usage,
    /// Refused; nothing changed.
    Refused,
    /// The command did its work, and the result waits for a person.
    Waiting,
    /// Damaged or unfinished records were found.
    Damaged,
    /// The environment or an outside service failed.
    Environment,
    /// Somebody else holds it.
    Busy,
    /// Stopped by a signal.
    Interrupted,
}

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::WorkFailed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Waiting => 4,
            Self::Damaged => 5,
            Self::Environment => 6,
            Self::Busy => 7,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
