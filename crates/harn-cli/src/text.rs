//! Text for people: safe on a terminal, aligned, and no wider than it.

mod columns;
mod palette;
mod safe;
mod wrap;

pub(crate) use columns::{columns, rows};
pub(crate) use palette::{Palette, paint};
pub(crate) use safe::{safe_block, safe_line};
pub(crate) use wrap::{cut, wrapped};
