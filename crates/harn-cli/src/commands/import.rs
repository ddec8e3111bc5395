//! `harn import …`

mod tree;

use std::collections::{BTreeMap, HashSet};

use harn_ledger::StreamId;
use harn_workflow::Arrival;
use harn_workflow::harnery::{self, Damage, DamageKind, Translated};
use serde_json::{Value, json};

use super::Context;
use crate::args::{HarneryArgs, ImportCommand};
use crate::exit::Exit;
use crate::failure::{Fails as _, Failure};
use crate::render;
use tree::Directory;

pub(super) fn run(context: &mut Context<'_, '_>, command: &ImportCommand) -> Result<Exit, Failure> {
    match command {
        ImportCommand::Harnery(args) => import_harnery(context, args),
    }
}

/// What was done so far.
#[derive(Default)]
struct Done {
    imported: Vec<harn_workflow::work::Projection>,
    unchanged: Vec<harn_workflow::work::Projection>,
    problems: Vec<Value>,
    exit: Option<Exit>,
}

fn import_harnery(context: &mut Context<'_, '_>, args: &HarneryArgs) -> Result<Exit, Failure> {
    let caller = context.session.caller(args.actor.as_deref(), context.io)?;
    let directory = Directory::find(&context.io.directory.join(&args.directory))?;
    let mut done = Done::default();
    let mut items = BTreeMap::new();
    for id in directory.items()? {
        match harnery::translate(&directory, &id) {
            Ok(translated) => {
                items.insert(translated.intent.id.clone(), translated);
            }
            Err(damage) => done.left_out_by_damage(context, &id, &damage),
        }
    }
    for id in in_order(&items) {
        match context.session.works.import(&caller, &items[id]) {
            Ok(Arrival::Created(item)) => done.imported.push(item.projection),
            Ok(Arrival::Unchanged(item)) => done.unchanged.push(item.projection),
            Err(error) => done.left_out(context, id.as_str(), &error.failure()),
        }
    }
    let Done { imported, unchanged, problems, exit } = done;
    context.output.text(&render::rows(imported.iter().chain(&unchanged), context.io.width()));
    context.output.text(&format!(
        "{} imported, {} were here already, {} left out\n",
        imported.len(),
        unchanged.len(),
        problems.len()
    ));
    context.output.document(json!({
        "schema_version": 1,
        "imported": imported,
        "unchanged": unchanged,
        "problems": problems,
    }));
    Ok(exit.unwrap_or(Exit::Done))
}

impl Done {
    fn left_out_by_damage(&mut self, context: &mut Context<'_, '_>, id: &str, damage: &Damage) {
        let exit = if damage.kind == DamageKind::Leased { Exit::Busy } else { Exit::Damaged };
        let mut failure = Failure::new(exit, damage.code(), damage.to_string());
        if let Some(hint) = damage.hint() {
            failure = failure.hint(hint);
        }
        self.left_out(context, id, &failure);
        if let Some(problem) = self.problems.last_mut() {
            problem["file"] = damage.path.as_str().into();
            if let Some(line) = damage.line {
                problem["line"] = line.into();
            }
        }
    }

    fn left_out(&mut self, context: &mut Context<'_, '_>, id: &str, failure: &Failure) {
        context.warn(&format!("{id} is left out: {}", failure.message));
        let mut problem = json!({ "id": id, "code": failure.code, "message": failure.message });
        if let Some(hint) = &failure.hint {
            problem["hint"] = hint.as_str().into();
        }
        self.problems.push(problem);
        // What is damaged says most, then what is in use.
        let rank = |exit: Exit| match exit {
            Exit::Damaged => 2,
            Exit::Busy => 1,
            _ => 0,
        };
        if self.exit.is_none_or(|exit| rank(failure.exit) > rank(exit)) {
            self.exit = Some(failure.exit);
        }
    }
}

/// The items, each after those on which it depends. What depends on itself comes last, in some order.
fn in_order(items: &BTreeMap<StreamId, Translated>) -> Vec<&StreamId> {
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    for id in items.keys() {
        let mut path = vec![(id, false)];
        while let Some((id, after_dependencies)) = path.pop() {
            if after_dependencies {
                order.push(id);
            } else if seen.insert(id) {
                path.push((id, true));
                let dependencies = items[id].intent.dependencies.iter();
                path.extend(dependencies.filter_map(|id| items.get_key_value(id)).map(|(id, _)| (id, false)));
            }
        }
    }
    order
}
