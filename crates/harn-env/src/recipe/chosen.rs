//! Which recipe governs: that of the plan, else the project's own.

use serde::{Deserialize, Serialize};

use super::{InvalidRecipe, Recipe};

/// Where a project keeps its recipe, in the order in which they are looked for.
pub const PROJECT_FILES: [&str; 2] = [".harn/environment.json", ".sprowt/environment.json"];

/// Where a recipe comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// From the accepted plan.
    Plan,
    /// From a file of the project, at the accepted starting commit.
    Project {
        /// Its path.
        path: String,
    },
}

/// The recipe that governs. That there is none is said, so that a baseline that is missing is not taken for one that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// There is one.
    Recipe {
        /// Where it comes from.
        origin: Origin,
        /// What it says.
        recipe: Recipe,
    },
    /// There is none.
    None,
}

/// Chooses: the plan's recipe replaces the project's as a whole, for a mixture of two could not be explained. `project` are
/// the files that were found, with their paths, in the order of [`PROJECT_FILES`].
pub fn choose(plan: Option<&[u8]>, project: &[(&str, &[u8])]) -> Result<Chosen, InvalidRecipe> {
    let (origin, bytes) = match (plan, project.first()) {
        (Some(plan), _) => (Origin::Plan, plan),
        (None, Some((path, bytes))) => (Origin::Project { path: (*path).to_owned() }, *bytes),
        (None, None) => return Ok(Chosen::None),
    };
    Ok(Chosen::Recipe { origin, recipe: Recipe::parse(bytes)? })
}
