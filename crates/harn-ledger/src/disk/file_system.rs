//! What a disk knows of the file system under a path, and which file systems are on another machine.

/// Facts about a file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Whether it is mounted for reading only.
    pub read_only: bool,
    /// The kind of network file system that it is, such as `nfs`; `None` for a local one and for one that is not known.
    /// Only Linux is asked, and takes FUSE and 9P for local.
    pub network: Option<&'static str>,
}

#[cfg(target_os = "linux")]
pub(super) use linux::network;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::path::Path;

    use rustix::fs::FsWord;

    /// The numbers by which Linux knows them. FUSE and 9P are left out: containers and virtual machines reach local
    /// directories through them.
    const NETWORK: [(u32, &str); 9] = [
        (0x0000_564c, "ncp"),
        (0x0000_517b, "smb"),
        (0x0000_6969, "nfs"),
        (0x00c3_6400, "ceph"),
        (0x5346_414f, "afs"),
        (0x6b41_4653, "afs"),
        (0x7375_7245, "coda"),
        (0xfe53_4d42, "smb2"),
        (0xff53_4d42, "cifs"),
    ];

    /// The kind of network file system at `path`, if it is one.
    pub(in super::super) fn network(path: &Path) -> io::Result<Option<&'static str>> {
        Ok(name(rustix::fs::statfs(path)?.f_type))
    }

    fn name(number: FsWord) -> Option<&'static str> {
        // Width and sign differ between architectures; the number is in the lowest four bytes.
        let [a, b, c, d, ..] = number.to_le_bytes();
        let number = u32::from_le_bytes([a, b, c, d]);
        NETWORK.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_number_is_read_whatever_its_width() {
            assert_eq!(name(rustix::fs::NFS_SUPER_MAGIC), Some("nfs"));
            assert_eq!(name(rustix::fs::PROC_SUPER_MAGIC), None);
            assert_eq!(network(Path::new("/proc")).unwrap(), None);
        }
    }
}

/// Only Linux is asked.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as where the machine is asked")]
pub(super) const fn network(_: &std::path::Path) -> std::io::Result<Option<&'static str>> {
    Ok(None)
}
