//! Work items that Harnery made, told in events of ours: a pure translation of the files that it left.
//!
//! [`translate`] takes one item. It reads through a [`Tree`], checks what Harnery's own reader would check, and returns an
//! intent and a log that say the same: the same state, the same next action, the same budget, the same open findings.
//! Whatever is damaged is refused as a whole, by [`Damage`] that names the file and the line, because half a history
//! would look like a whole one. The old files come along as blobs, so nothing that they say is lost.

mod attempt;
mod damage;
mod intent;
mod log;
mod member;
mod prior;
mod translate;
mod tree;

pub use damage::{Damage, DamageKind};
pub use translate::{Translated, translate};
pub use tree::{Tree, Unreadable};

pub(crate) use prior::prior_of;
