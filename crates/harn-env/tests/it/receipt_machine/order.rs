//! The order of the reference, written down as a sequence: what a receipt of a course is expected to hold.

use harn_env::receipt::{CommandResult, Purpose};

use super::Course;

/// The labels of all events of the course.
pub(super) fn expected(course: &Course) -> Vec<String> {
    let mut results = course.results.iter().cycle();
    let mut told = in_full(course, &mut || results.next().is_some_and(CommandResult::passed));
    if let Some(at) = course.stop_at.filter(|at| *at < told.len()) {
        told.truncate(at);
        told.push("Held(Cancelled)".to_owned());
    }
    told
}

fn in_full(course: &Course, passes: &mut dyn FnMut() -> bool) -> Vec<String> {
    let mut told = vec!["started".to_owned()];
    let [setup, tools, baseline] = course.sizes.unwrap_or_default();
    let prepares = course.purpose == Purpose::Prepare {};
    if matches!(course.purpose, Purpose::Check { .. }) {
        for index in 0..baseline {
            let rounds = if course.rerun { 2 } else { 1 };
            for round in 1..=rounds {
                told.push(format!("final {index} {round}"));
                passes();
            }
            told.push(format!("compared {index}"));
        }
        told.push("Checked".to_owned());
        return told;
    }
    'rounds: for round in 1..=2 {
        if prepares && setup > 0 && round == 1 && course.reuse {
            told.push("reused".to_owned());
        } else if prepares {
            for index in 0..setup {
                told.push(format!("setup {index} {round}"));
                if !passes() {
                    told.push("Held(Setup)".to_owned());
                    return told;
                }
            }
        }
        for index in 0..tools {
            told.push(format!("tools {index} {round}"));
            if !passes() {
                if prepares && round == 1 {
                    told.push("retried".to_owned());
                    continue 'rounds;
                }
                told.push("Held(Tools)".to_owned());
                return told;
            }
        }
        break;
    }
    if prepares && course.sizes.is_some() {
        for (after, commands) in [("setup", 0), ("baseline", baseline)] {
            for index in 0..commands {
                told.push(format!("baseline {index} 1"));
                passes();
            }
            told.push(format!("source {after}"));
            if !course.changed[usize::from(after == "baseline")].paths.is_empty() {
                told.push("Held(Source)".to_owned());
                return told;
            }
        }
    }
    told.push("Ready".to_owned());
    told
}
