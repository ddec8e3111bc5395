//! The version, with the commit that the program was built from where that is known.

/// For example `0.1.0 (1a2b3c4d5e6f)`.
pub const VERSION: &str = env!("HARN_VERSION");
