//! `ctx.check({name, argv, …})`: a command that the engine itself runs and observes.

use rquickjs::Value;

use super::fields::{Fields, Read};

/// The most characters of a check's name.
const NAME_LIMIT: usize = 200;

const MEMBERS: [&str; 5] = ["name", "argv", "cwd", "timeoutMs", "acceptanceIds"];

/// One command that the script wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCall {
    /// A name for people, 1 to 200 characters; longer names are cut.
    pub name: String,
    /// The program and its arguments; the program is there and not blank. No shell is involved.
    pub argv: Vec<String>,
    /// Where to run it, as the script gave it; absent for the workspace.
    pub cwd: Option<String>,
    /// The most time it may take in milliseconds, 1 to 86,400,000 (a day).
    pub timeout_ms: Option<u32>,
    /// The acceptance criteria that the outcome is evidence for, without duplicates. The host knows which exist.
    pub acceptance_ids: Vec<String>,
}

impl CheckCall {
    pub(super) fn read(input: &Value<'_>) -> Read<Self> {
        let fields = Fields::of("check()", input, &MEMBERS)?;
        let argv = fields.strings("argv")?.unwrap_or_default();
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(fields.missing("argv", "an array that starts with the program"));
        }
        Ok(Self {
            name: fields.label("name", NAME_LIMIT)?.ok_or_else(|| fields.missing("name", "text"))?,
            argv,
            cwd: fields.exact("cwd")?,
            timeout_ms: fields.whole("timeoutMs", 1..=86_400_000)?,
            acceptance_ids: fields.ids("acceptanceIds")?,
        })
    }
}
