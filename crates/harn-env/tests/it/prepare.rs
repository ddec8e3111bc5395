//! Real projects are prepared and checked, with real commands and a real ledger. Names of tests carry the cases of the
//! reference that they cover.

mod check;
mod output;
mod project;
mod resolve;
mod reuse;
mod source;
mod stages;
mod stop;
