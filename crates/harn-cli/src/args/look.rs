//! Options of the commands that only look.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use harn_workflow::work::ItemState;

use super::numbers::positive;

/// `harn work list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only items in these states, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = state())]
    pub state: Vec<ItemState>,
    /// At most so many items; how many more there are is said
    #[arg(long, value_name = "N", value_parser = positive)]
    pub limit: Option<u32>,
    /// What the order goes by: the newest, the last changed, the state, or the id first
    #[arg(long, value_name = "KEY", default_value = "created", hide_possible_values = true)]
    pub sort: SortKey,
    /// The other way round
    #[arg(long)]
    pub reverse: bool,
}

/// What a list is sorted by: `created`, `updated`, `state` or `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortKey {
    /// When an item was created, the newest first.
    Created,
    /// When its log last grew, the latest first.
    Updated,
    /// Its state, in the order of an item's life.
    State,
    /// Its id.
    Id,
}

/// `harn work show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The item; a unique prefix will do
    #[arg(value_name = "WORK-ID")]
    pub id: String,
    /// Show the item as its log stood after this event
    #[arg(long, value_name = "SEQ", value_parser = positive)]
    pub at: Option<u32>,
}

/// `harn work log` and `harn run log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Whose log it is; a unique prefix will do
    #[arg(value_name = "ID")]
    pub id: String,
    /// Only events after this one
    #[arg(long, value_name = "SEQ", value_parser = positive)]
    pub after: Option<u32>,
    /// Only the last so many events
    #[arg(long, value_name = "N", value_parser = positive)]
    pub limit: Option<u32>,
    /// Show the hash of every line, and that of the line before
    #[arg(long)]
    pub chain: bool,
}

/// `harn work why`
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// The item; a unique prefix will do
    #[arg(value_name = "WORK-ID")]
    pub id: String,
}

/// A word that stands for a state.
fn state() -> impl TypedValueParser<Value = ItemState> {
    let words = PossibleValuesParser::new(ItemState::ALL.map(ItemState::as_str));
    words.map(|word| {
        ItemState::ALL.into_iter().find(|state| state.as_str() == word).expect("it is one of them")
    })
}
