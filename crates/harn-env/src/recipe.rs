//! How a project is prepared and checked: the closed document `environment.v1`.
//!
//! A recipe names the commands that set a project up, the tools that must work, the commands whose results are compared
//! before and after the work, and the files that the set-up depends on. It is read whole and checked whole before any of
//! its commands runs.

mod chosen;
mod expect;
mod path;

use std::collections::HashSet;

use harn_ledger::Digest;
use serde::{Deserialize, Deserializer, Serialize, de};

pub use chosen::{Chosen, Origin, PROJECT_FILES, choose};
pub use expect::{Expect, InvalidExpect};
pub use path::{InvalidPath, ProjectPath};

/// Longest recipe, in bytes.
pub const RECIPE_MAX: usize = 64 << 10;
/// Most commands of the set-up.
pub const SETUP_MAX: usize = 16;
/// Most tools.
pub const TOOLS_MAX: usize = 32;
/// Most commands of the baseline.
pub const BASELINE_MAX: usize = 32;
/// Most inputs.
pub const INPUTS_MAX: usize = 64;
/// Most strings of a command, the program included.
pub const ARGUMENTS_MAX: usize = 128;
/// Longest command, in bytes over all its strings.
pub const ARGUMENT_BYTES_MAX: usize = 64 << 10;
/// Longest name of a command or tool, in characters.
pub const NAME_MAX: usize = 100;
/// How long a command may take unless it says otherwise, in seconds.
pub const TIMEOUT_DEFAULT: u32 = 30;
/// How long a command may take at most, in seconds.
pub const TIMEOUT_MAX: u32 = 180;

/// A recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of the document.
    pub schema: Schema,
    /// Sets the project up; up to 16, in their order.
    #[serde(default)]
    pub setup: Vec<Command>,
    /// What must work before an edit; up to 32.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// What is run before and after the work, and compared; up to 32.
    #[serde(default)]
    pub baseline: Vec<Command>,
    /// Files that the set-up depends on beside the known manifests; up to 64, each named once.
    #[serde(default)]
    pub inputs: Vec<ProjectPath>,
}

/// The version of a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schema {
    /// The only one.
    #[serde(rename = "environment.v1")]
    V1,
}

/// A command of a recipe. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// What it is called: one line of 1 to 100 characters, each once in its list.
    pub name: String,
    /// The program and its arguments: 1 to 128 strings, 64 KiB in all, the program not empty, none with a NUL.
    pub argv: Vec<String>,
    /// How long it may take, in seconds: 1 to 180; 30 unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "seconds")]
    pub timeout_seconds: Option<u32>,
    /// Where it runs, below the project; the project itself unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<ProjectPath>,
}

/// A tool that must work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// What it is called: one line of 1 to 100 characters, each once.
    pub name: String,
    /// Shows that it works.
    pub command: Command,
    /// What its output must show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
}

/// Why a text is not a recipe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRecipe {
    /// It is too long.
    #[error("the recipe has {bytes} bytes, expected at most {RECIPE_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It does not have the form. The message names the line.
    #[error("the recipe does not have the form `environment.v1`: {why}")]
    Form {
        /// What the parser said.
        why: String,
    },
    /// A list is too long.
    #[error("`{member}` has {count} entries, expected at most {max}")]
    TooMany {
        /// Which list.
        member: &'static str,
        /// How many entries it has.
        count: usize,
        /// The most allowed.
        max: usize,
    },
    /// A member is out of its bounds.
    #[error("`{member}` is not acceptable, expected {expected}")]
    Member {
        /// Its path in the document, such as `setup[0].argv`.
        member: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A name or a path stands twice in one list.
    #[error("`{member}` is `{}`, which another entry of the list is too", name.escape_debug())]
    Twice {
        /// The path of the later one.
        member: String,
        /// What stands there twice.
        name: String,
    },
}

impl InvalidRecipe {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "recipe_too_long",
            Self::Form { .. } => "recipe_form",
            Self::TooMany { .. } => "recipe_too_many",
            Self::Member { .. } => "recipe_member",
            Self::Twice { .. } => "recipe_twice",
        }
    }
}

impl Recipe {
    /// Reads a recipe and checks all of it.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidRecipe> {
        if bytes.len() > RECIPE_MAX {
            return Err(InvalidRecipe::TooLong { bytes: bytes.len() });
        }
        let recipe: Self =
            serde_json::from_slice(bytes).map_err(|error| InvalidRecipe::Form { why: error.to_string() })?;
        recipe.check()?;
        Ok(recipe)
    }

    /// The recipe in one form whatever its text looked like: compact JSON, members in their order, defaults left out.
    #[must_use]
    pub fn canonical(&self) -> String {
        serde_json::to_string(self).expect("it has only string keys")
    }

    /// The digest of the canonical form.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }

    pub(crate) fn check(&self) -> Result<(), InvalidRecipe> {
        let lists = [
            ("setup", self.setup.len(), SETUP_MAX),
            ("tools", self.tools.len(), TOOLS_MAX),
            ("baseline", self.baseline.len(), BASELINE_MAX),
            ("inputs", self.inputs.len(), INPUTS_MAX),
        ];
        for (member, count, max) in lists {
            if count > max {
                return Err(InvalidRecipe::TooMany { member, count, max });
            }
        }
        check_commands("setup", &self.setup)?;
        check_commands("baseline", &self.baseline)?;
        let names = self.tools.iter().map(|tool| &*tool.name);
        each_once(names, |at| format!("tools[{at}].name"))?;
        for (at, tool) in self.tools.iter().enumerate() {
            check_name(&format!("tools[{at}].name"), &tool.name)?;
            tool.command.check(&format!("tools[{at}].command"))?;
        }
        each_once(self.inputs.iter().map(ProjectPath::as_str), |at| format!("inputs[{at}]"))
    }
}

impl Command {
    /// How long it may take, in seconds.
    #[must_use]
    pub fn timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(TIMEOUT_DEFAULT)
    }

    fn check(&self, member: &str) -> Result<(), InvalidRecipe> {
        check_name(&format!("{member}.name"), &self.name)?;
        let bytes: usize = self.argv.iter().map(String::len).sum();
        let fits = (1..=ARGUMENTS_MAX).contains(&self.argv.len())
            && bytes <= ARGUMENT_BYTES_MAX
            && self.argv.first().is_some_and(|program| !program.is_empty())
            && self.argv.iter().all(|argument| !argument.contains('\0'));
        if fits {
            return Ok(());
        }
        Err(InvalidRecipe::Member {
            member: format!("{member}.argv"),
            expected: "a program and up to 127 arguments, 64 KiB in all, without NUL characters",
        })
    }
}

fn check_commands(member: &str, commands: &[Command]) -> Result<(), InvalidRecipe> {
    for (at, command) in commands.iter().enumerate() {
        command.check(&format!("{member}[{at}]"))?;
    }
    each_once(commands.iter().map(|command| &*command.name), |at| format!("{member}[{at}].name"))
}

fn check_name(member: &str, name: &str) -> Result<(), InvalidRecipe> {
    harn_ledger::text::check_line("name", name, NAME_MAX).map_err(|_| InvalidRecipe::Member {
        member: member.to_owned(),
        expected: "one line of 1 to 100 characters, without blanks around it",
    })
}

fn each_once<'a>(
    names: impl Iterator<Item = &'a str>,
    member: impl Fn(usize) -> String,
) -> Result<(), InvalidRecipe> {
    let mut seen = HashSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name) {
            return Err(InvalidRecipe::Twice { member: member(at), name: name.to_owned() });
        }
    }
    Ok(())
}

/// A whole number of seconds; neither a text nor a fraction.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let seconds = u32::deserialize(deserializer)?;
    if (1..=TIMEOUT_MAX).contains(&seconds) {
        return Ok(Some(seconds));
    }
    Err(de::Error::custom(format!("`timeout_seconds` is {seconds}, expected 1 to {TIMEOUT_MAX}")))
}
