//! harn-workflow.
