//! `harn work show` and `harn work log`

use super::super::Context;
use super::{looked_at, print_item, warn_of_tail};
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn show(context: &mut Context<'_, '_>, id: &str) -> Result<Exit, Failure> {
    let id = looked_at(context, id)?;
    let item = context.session.works.get(&id)?;
    warn_of_tail(context, &item)?;
    print_item(context, &item)
}

pub(super) fn log(context: &mut Context<'_, '_>, id: &str, chain: bool) -> Result<Exit, Failure> {
    let id = looked_at(context, id)?;
    super::super::run::print_log(context, "work", &id, chain)
}
