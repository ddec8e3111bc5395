//! The plan: who owns which files, and which checks must pass.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobMatcher};
use harn_ledger::Digest;
use harn_ledger::text::{TextError, check_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounds;
use crate::check::{Check, InvalidCheck};
use crate::path::SourcePath;

/// A plan, closed: `{"schema": "plan.v1", "tasks": […], "combined": […]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `plan.v1`.
    pub schema: PlanSchema,
    /// 1 to 64 tasks, each with an id of its own.
    pub tasks: Vec<Task>,
    /// Up to 64 checks of the whole. They always run all, on one source.
    #[serde(default)]
    pub combined: Vec<Check>,
    /// How the project is prepared; not read here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Value>,
}

/// The version of the plan's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanSchema {
    /// The first.
    #[serde(rename = "plan.v1")]
    V1,
}

/// A part of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// One line of 1 to 100 characters. A finding names its owner by it.
    pub id: String,
    /// Who does it, one line; the id itself without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Up to 64 globs of the files that belong to it; `**` crosses directories.
    pub files: Vec<String>,
    /// Up to 64 checks.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The tasks that must be done before it.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPlan {
    /// It is not a plan at all.
    #[error("the plan is not valid: {0}")]
    Json(String),
    /// A text is blank, too long, or not one line.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A check is out of its bounds.
    #[error(transparent)]
    Check(#[from] InvalidCheck),
    /// A list is empty or too long.
    #[error("there are {count} {what}, expected {expected}")]
    Count {
        /// What.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        expected: &'static str,
    },
    /// Two have one name.
    #[error("{what} `{name}` stands there twice")]
    Twice {
        /// What.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A task depends on one that is not there.
    #[error("the task `{task}` depends on `{on}`, which is not in the plan")]
    UnknownTask {
        /// The task.
        task: String,
        /// What it names.
        on: String,
    },
    /// Tasks wait for each other.
    #[error("the tasks {} depend on each other", .0.join(", "))]
    Circle(Vec<String>),
    /// A pattern is not a glob.
    #[error("`{pattern}` of the task `{task}` is not a glob: {why}")]
    Glob {
        /// The task.
        task: String,
        /// The pattern.
        pattern: String,
        /// Why.
        why: String,
    },
    /// It is too large.
    #[error("the plan has {0} bytes, expected at most 262144")]
    TooLarge(usize),
}

impl Plan {
    /// Reads a plan and checks it.
    pub fn read(bytes: &[u8]) -> Result<Self, InvalidPlan> {
        let plan: Self =
            serde_json::from_slice(bytes).map_err(|error| InvalidPlan::Json(error.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// The plan of work that nobody has divided: one task `work` that owns every file, and these combined checks.
    #[must_use]
    pub fn undivided(combined: Vec<Check>) -> Self {
        let whole = Task {
            id: "work".to_owned(),
            owner: None,
            files: vec!["**".to_owned()],
            checks: Vec::new(),
            depends_on: Vec::new(),
        };
        Self { schema: PlanSchema::V1, tasks: vec![whole], combined, environment: None }
    }

    /// Checks the bounds, and that the tasks form an order. Writer and reader both use it.
    pub fn check(&self) -> Result<(), InvalidPlan> {
        count("tasks", self.tasks.len(), 1..=bounds::TASKS, "1 to 64")?;
        checks(&self.combined)?;
        unique("the task", self.tasks.iter().map(|task| &task.id))?;
        for task in &self.tasks {
            check_line("id of a task", &task.id, bounds::NAME)?;
            if let Some(owner) = &task.owner {
                check_line("owner of a task", owner, bounds::NAME)?;
            }
            count("globs of a task", task.files.len(), 0..=bounds::PER_TASK, "up to 64")?;
            count("dependencies of a task", task.depends_on.len(), 0..=bounds::PER_TASK, "up to 64")?;
            checks(&task.checks)?;
            unique("the dependency", task.depends_on.iter())?;
            for pattern in &task.files {
                glob(&task.id, pattern)?;
            }
            if let Some(on) = task.depends_on.iter().find(|on| self.task(on).is_none()) {
                return Err(InvalidPlan::UnknownTask { task: task.id.clone(), on: on.clone() });
            }
        }
        self.check_order()?;
        let bytes = serde_json::to_vec(self).map_or(usize::MAX, |bytes| bytes.len());
        if bytes > bounds::PLAN { Err(InvalidPlan::TooLarge(bytes)) } else { Ok(()) }
    }

    fn check_order(&self) -> Result<(), InvalidPlan> {
        let mut left: BTreeMap<&str, &[String]> =
            self.tasks.iter().map(|task| (&*task.id, &*task.depends_on)).collect();
        loop {
            let free: Vec<_> = left
                .iter()
                .filter(|(_, on)| !on.iter().any(|on| left.contains_key(&**on)))
                .map(|(id, _)| *id)
                .collect();
            if free.is_empty() {
                break;
            }
            for id in free {
                left.remove(id);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(InvalidPlan::Circle(left.into_keys().map(|id| format!("`{id}`")).collect()))
    }

    /// The task with this id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The task that alone owns a file, if one does.
    #[must_use]
    pub fn owner_of(&self, path: &SourcePath) -> Option<&Task> {
        let mut owners = self.tasks.iter().filter(|task| task.owns(path));
        owners.next().filter(|_| owners.next().is_none())
    }

    /// The tasks that depend on one of these, over any number of steps, in the order of the plan.
    #[must_use]
    pub fn dependents(&self, of: &BTreeSet<&str>) -> Vec<&Task> {
        let mut reached: BTreeSet<&str> = of.clone();
        loop {
            let more = self.tasks.iter().filter(|task| {
                !reached.contains(&*task.id) && task.depends_on.iter().any(|on| reached.contains(&**on))
            });
            let more: Vec<_> = more.map(|task| &*task.id).collect();
            if more.is_empty() {
                break;
            }
            reached.extend(more);
        }
        self.tasks.iter().filter(|task| reached.contains(&*task.id) && !of.contains(&*task.id)).collect()
    }

    /// The digest of the plan. Another plan is one with another digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).expect("a plan has only string keys"))
    }
}

impl Task {
    /// Whether a file belongs to it.
    #[must_use]
    pub fn owns(&self, path: &SourcePath) -> bool {
        let matches =
            |pattern: &String| glob(&self.id, pattern).is_ok_and(|glob| glob.is_match(path.as_str()));
        self.files.iter().any(matches)
    }

    /// Who does it.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or(&self.id)
    }
}

impl InvalidPlan {
    /// A stable name for the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(_) => "plan_invalid",
            Self::Text(error) => error.code(),
            Self::Check(error) => error.code(),
            Self::Count { .. } => "plan_count",
            Self::Twice { .. } => "plan_twice",
            Self::UnknownTask { .. } => "plan_unknown_task",
            Self::Circle(_) => "plan_circle",
            Self::Glob { .. } => "plan_glob",
            Self::TooLarge(_) => "plan_too_large",
        }
    }
}

fn glob(task: &str, pattern: &str) -> Result<GlobMatcher, InvalidPlan> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| InvalidPlan::Glob {
        task: task.to_owned(),
        pattern: pattern.to_owned(),
        why: error.kind().to_string(),
    })
}

fn checks(checks: &[Check]) -> Result<(), InvalidPlan> {
    count("checks", checks.len(), 0..=bounds::PER_TASK, "up to 64")?;
    unique("the check", checks.iter().map(|check| &check.name))?;
    Ok(checks.iter().try_for_each(Check::check)?)
}

fn count(
    what: &'static str,
    count: usize,
    allowed: std::ops::RangeInclusive<usize>,
    expected: &'static str,
) -> Result<(), InvalidPlan> {
    if allowed.contains(&count) { Ok(()) } else { Err(InvalidPlan::Count { what, count, expected }) }
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), InvalidPlan> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(InvalidPlan::Twice { what, name: name.clone() });
        }
    }
    Ok(())
}
