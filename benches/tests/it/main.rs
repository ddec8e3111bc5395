//! Everything that is measured, in a small size: so that the measurements do not rot. No time is looked at.

mod rows;
