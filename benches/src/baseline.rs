//! What a user would pick instead, or could not do without.

pub mod bare;
pub mod hashing;
pub mod sqlite;
