//! What stands in the directory of catalogs. Nothing rests on a catalog, so none is read.

use super::{ProblemKind, Problems};
use crate::catalog::{CATALOG, is_file_name};
use crate::disk::FileKind;

impl Problems<'_> {
    /// Names what is no catalog, and the catalogs that others can reach: they hold what the streams hold.
    pub(super) fn check_catalogs(&mut self) {
        let directory = self.ledger.root().join(CATALOG);
        if self.is_file(&directory) {
            return self.add(CATALOG, ProblemKind::ForeignFile);
        }
        self.check_place(&directory, CATALOG, FileKind::Directory);
        for name in self.names(&directory, CATALOG) {
            let (path, place) = (directory.join(&name), format!("{CATALOG}/{name}"));
            if is_file_name(&name) {
                self.check_place(&path, &place, FileKind::File);
            } else {
                self.add(place, ProblemKind::ForeignFile);
            }
        }
    }
}
