//! harn-cli.
