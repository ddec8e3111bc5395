//! What follows in a publication.

use super::Refusal;
use crate::event::{Event, Publication};
use crate::gate::{Gate, Outside, Published, gate};
use crate::source::Source;
use crate::state::{Phase, PublicationState, State};

/// Begins a publication, if the gate is open for exactly what it publishes.
pub(super) fn begin(
    state: &State,
    publication: Box<Publication>,
    source: &Source,
    base: Option<&str>,
    require_coverage: bool,
) -> Result<Event, Refusal> {
    if let Some(other) = state.publication_under_way() {
        let what = format!("the publication of {}", other.publication.branch);
        return Err(Refusal::Busy { what });
    }
    let published = publication.replaces.as_deref().map_or(Published::Absent, Published::At);
    let outside = Outside { source, base, request: None, published, require_coverage };
    match gate(state, &outside) {
        Gate::Closed { reasons } => Err(Refusal::GateClosed { reasons }),
        Gate::Open { turn, fingerprint, .. }
            if (turn, fingerprint) != (publication.turn, publication.fingerprint) =>
        {
            Err(Refusal::OtherSource)
        }
        Gate::Open { .. } => Ok(Event::PublicationBegun { publication: *publication }),
    }
}

/// The branch is on the remote.
pub(super) fn pushed(state: &State, adopted: bool) -> Result<Event, Refusal> {
    let under_way = in_phase(state, |phase| *phase == Phase::Begun)?;
    Ok(Event::PublicationPushed { commit: under_way.publication.commit.clone(), adopted })
}

/// The publication is complete.
pub(super) fn published(state: &State, url: Option<String>, adopted: bool) -> Result<Event, Refusal> {
    let under_way = in_phase(state, |phase| *phase == Phase::Pushed)?;
    Ok(Event::PublicationDone { commit: under_way.publication.commit.clone(), url, adopted })
}

/// The publication is given up.
pub(super) fn failed(state: &State, reason: String) -> Result<Event, Refusal> {
    in_phase(state, |_| true)?;
    Ok(Event::PublicationFailed { reason })
}

fn in_phase(state: &State, is_it: impl Fn(&Phase) -> bool) -> Result<&PublicationState, Refusal> {
    state.publication_under_way().filter(|under_way| is_it(&under_way.phase)).ok_or(Refusal::NoPublication)
}
