//! The reasons that a projection gives. They are composed of bounded parts and hold no time, age, process or count that
//! grows by itself, so unchanged evidence gives an unchanged reason.

use super::attempt::Attempt;
use super::budget::Budget;
use super::dependencies::Dependency;
use super::end::End;
use super::review::AcceptedReview;
use super::{bounds, fit};

/// Bounds a composed text. No part is ever blank, so something is always left.
pub(super) fn bounded(text: &str) -> String {
    fit::block(text, bounds::REASON).unwrap_or_default()
}

/// Why an item was accepted, and the clean review that this rests on, if it requires one.
pub(super) fn accepted(reason: Option<&str>, review: Option<&AcceptedReview>) -> String {
    let text = reason.unwrap_or("accepted");
    let Some(review) = review else { return text.to_owned() };
    let tail = format!(" (it rests on {})", review.named());
    let room = bounds::REASON - tail.chars().count();
    format!("{}{tail}", fit::block(text, room).unwrap_or_default())
}

/// Names each unresolved dependency with its own state.
pub(super) fn waits_for(unresolved: &[Dependency]) -> String {
    let named: Vec<_> = unresolved.iter().map(|it| format!("`{}` ({})", it.id, it.state_words())).collect();
    bounded(&format!("waits for {}", named.join(", ")))
}

/// `text`, and the attempt's error if it has one.
pub(super) fn with_error(text: &str, attempt: &Attempt) -> String {
    match attempt.end.as_ref().and_then(End::error) {
        Some(error) => format!("{text}: {error}"),
        None => text.to_owned(),
    }
}

/// `text`, and what the budget has to do with it if nothing is left.
pub(super) fn with_budget(text: &str, budget: &Budget) -> String {
    if budget.remaining() > 0 {
        return bounded(text);
    }
    let tail = format!("; no charged attempt is left ({}/{})", budget.charged, budget.ceiling());
    let room = bounds::REASON - tail.chars().count();
    format!("{}{tail}", fit::block(text, room).unwrap_or_default())
}

/// A decision that a person must make, in the script's own words.
pub(super) fn decision(attempt: &Attempt, id: Option<&str>) -> String {
    let tail = id.map(|id| format!(" (decision `{id}`)")).unwrap_or_default();
    let room = bounds::REASON - tail.chars().count();
    let text = with_error("a person must rule", attempt);
    format!("{}{tail}", fit::block(&text, room).unwrap_or_default())
}
