//! The catalog: what every stream of a kind amounts to, without reading the streams that did not change.

mod file;
mod refresh;
mod stamp;

use std::marker::PhantomData;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "testing")]
pub(crate) use self::file::{Header, parse};
use crate::decider::{Decider, Head};
use crate::id::{StreamId, StreamName, check_kind};
use crate::ledger::{Ledger, StreamError};
use crate::log::ReadError;
use crate::scan::UnfinishedTail;

pub(crate) const CATALOG: &str = "catalog";
/// End of the names of the files in it, behind the kind.
const SUFFIX: &str = ".jsonl";

/// Whether a file in the directory of catalogs may be one.
pub(crate) fn is_file_name(name: &str) -> bool {
    name.strip_suffix(SUFFIX).is_some_and(|kind| check_kind(kind).is_ok())
}

/// Summaries of all streams of a domain; see [`Ledger::catalog`].
///
/// A summary is the domain's, and follows from one stream alone: what depends on other streams, on leases or on the time
/// must be added when it is shown. Summaries are kept in `catalog/<kind>.jsonl`, each with a *stamp* of the intent and the
/// log that it was made from: lengths, inodes, devices, and the times of the last changes. A stream is read and verified
/// again when its stamp differs, or when it was so young that a later change might have left the same stamp: not older than
/// an empty file that the refresh makes before it reads anything. So the disk's own clock decides, however coarse it is.
///
/// So a summary tells what was verified when the stream last changed. What is changed without a trace in lengths and times,
/// by somebody who sets the clock back or by the disk itself, is not noticed here; [`Ledger::verify`] notices it, which
/// never reads a catalog. A loss of power can do so too, to what was not synced. Where the disk tells one run of the
/// machine from the next ([`Disk::boot`](crate::disk::Disk::boot)), a catalog is not believed in another run.
///
/// The file is derived. It may be deleted at any time; one that is missing, damaged, unsafe or of another version is made
/// anew. On a read-only ledger or disk it is used if it is there, and never written. Any number of threads and processes
/// may refresh it at once.
#[derive(Debug, Clone)]
pub struct Catalog<D> {
    ledger: Ledger,
    version: u32,
    domain: PhantomData<fn() -> D>,
}

/// One stream of a catalog.
#[derive(Debug)]
pub struct Listed<S> {
    /// Its id.
    pub id: StreamId,
    /// What it amounts to, or why it cannot be read.
    pub summary: Result<S, ReadError>,
    /// What a crash left behind its last whole event.
    pub tail: Option<UnfinishedTail>,
}

impl Ledger {
    /// The catalog of a domain. `version` is that of its summaries: another one makes all of them anew.
    #[must_use]
    pub fn catalog<D: Decider>(&self, version: u32) -> Catalog<D> {
        Catalog { ledger: self.clone(), version, domain: PhantomData }
    }
}

impl<D: Decider> Catalog<D> {
    /// All streams of the kind, by id, each with its summary. Reads and verifies those that changed since the last
    /// refresh, on as many threads as the machine has, up to 4; a stream that cannot be read does not hide the others.
    ///
    /// Fails only if the kind's directory cannot be read. That the file cannot be written is no failure.
    pub fn refresh<S: Serialize + DeserializeOwned + Send>(
        &self,
        summarize: impl Fn(&D::Intent, &D::State, Head) -> S + Sync,
    ) -> Result<Vec<Listed<S>>, StreamError> {
        check_kind(D::KIND)?;
        Ok(refresh::Refresh::new(self)?.run(&summarize))
    }

    /// Where the summaries are kept.
    fn path(&self) -> PathBuf {
        self.ledger.root().join(CATALOG).join(format!("{}{SUFFIX}", D::KIND))
    }

    fn name(id: &StreamId) -> StreamName {
        StreamName::new(D::KIND, id.clone()).expect("the kind was checked at the start of the refresh")
    }
}
