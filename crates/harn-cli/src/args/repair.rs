//! `harn repair …`

use clap::Args;
use harn_ledger::{Repair, RepairMode, StreamId, StreamName};

/// Which stream to repair, and how.
#[derive(Debug, Args)]
pub struct RepairArgs {
    /// The stream, as `harn verify` names it, such as work/ID
    #[arg(long, value_name = "KIND/ID", value_parser = stream_name)]
    pub stream: StreamName,

    /// Move everything from the first damaged batch on into a file beside the
    /// log, and record that
    #[arg(long)]
    pub cut_at_damage: bool,

    /// Write the end of a log whose sync failed to the disk again
    #[arg(long, conflicts_with = "cut_at_damage")]
    pub resync: bool,

    /// Do it; otherwise it is only said what would be done
    #[arg(long)]
    pub apply: bool,
}

impl RepairArgs {
    /// What to repair.
    #[must_use]
    pub const fn repair(&self) -> Repair {
        if self.cut_at_damage {
            Repair::CutAtDamage
        } else if self.resync {
            Repair::Resync
        } else {
            Repair::MoveTail
        }
    }

    /// Whether to do it.
    #[must_use]
    pub const fn mode(&self) -> RepairMode {
        if self.apply { RepairMode::Apply } else { RepairMode::DryRun }
    }
}

fn stream_name(text: &str) -> Result<StreamName, String> {
    let (kind, id) = text.split_once('/').ok_or("expected a kind and an id, such as `work/ID`")?;
    let id = StreamId::new(id).map_err(|error| error.to_string())?;
    StreamName::new(kind, id).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_named_by_kind_and_id() {
        assert_eq!(stream_name("work/a.b").map(|name| name.to_string()).as_deref(), Ok("work/a.b"));
        for (text, says) in [
            ("", "such as `work/ID`"),
            ("..", "such as `work/ID`"),
            ("work", "such as `work/ID`"),
            ("work/", "`` is not an id"),
            ("work/..", "`..` is not an id"),
            ("work/a/b", "`a/b` is not an id"),
            ("/a", "`` is not a kind"),
            ("Work/a", "`Work` is not a kind"),
            ("blobs/00", "`blobs` is not a kind"),
        ] {
            let error = stream_name(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
