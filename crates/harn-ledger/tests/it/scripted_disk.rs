//! A disk that does as another one does, counts the calls, and at chosen calls fails, falls short or lets something
//! else happen first.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use harn_ledger::disk::{Disk, DiskFile, FileSystem, Lock, Open, Stat};

#[derive(Debug, Clone)]
pub(crate) struct ScriptedDisk {
    inner: Arc<dyn Disk>,
    script: Arc<Mutex<Script>>,
}

/// A call that a script can name. Calls that change nothing and that no test needs to disturb are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Open,
    CreateDir,
    Rename,
    Link,
    SyncDir,
    Read,
    Write,
    Truncate,
    Sync,
    TryLock,
    FileSystem,
}

/// What happens at a call.
pub(crate) enum Act {
    /// It fails and does nothing.
    Fail(io::ErrorKind),
    /// It writes this many bytes, and says so.
    Short(usize),
    /// This happens first; then the call goes on, to the next act that is due or as usual.
    First(Box<dyn FnOnce() + Send>),
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Act")
    }
}

#[derive(Debug, Default)]
struct Script {
    calls: Vec<(Call, String)>,
    bytes_read: u64,
    largest_read: usize,
    /// Each with how many matching calls go by before it.
    acts: Vec<(Call, String, usize, Act)>,
    /// What belongs to somebody else.
    foreign: Option<(PathBuf, u32)>,
    file_system: Option<FileSystem>,
    /// Everything changes at the same time.
    clock_stands: bool,
}

impl ScriptedDisk {
    pub(crate) fn new(inner: impl Disk + 'static) -> Self {
        Self { inner: Arc::new(inner), script: Arc::default() }
    }

    /// Lets `act` happen once, at the next `call` on a file of this name; a name that ends in `*` is a prefix.
    pub(crate) fn next(&self, call: Call, name: &str, act: Act) {
        self.after(0, call, name, act);
    }

    /// The same, after `skipped` calls that match.
    pub(crate) fn after(&self, skipped: usize, call: Call, name: &str, act: Act) {
        self.script.lock().unwrap().acts.push((call, name.to_owned(), skipped, act));
    }

    /// Makes what is at `path` look as if it belonged to `user`.
    pub(crate) fn give_away(&self, path: &Path, user: u32) {
        self.script.lock().unwrap().foreign = Some((path.to_owned(), user));
    }

    /// Makes the disk look like another one.
    pub(crate) fn pretend(&self, file_system: FileSystem) {
        self.script.lock().unwrap().file_system = Some(file_system);
    }

    /// Lets all changes of files, past and to come, happen at one time.
    pub(crate) fn stop_the_clock(&self) {
        self.script.lock().unwrap().clock_stands = true;
    }

    /// How often `call` was made on files of this name.
    pub(crate) fn count(&self, call: Call, name: &str) -> usize {
        let script = self.script.lock().unwrap();
        script.calls.iter().filter(|(made, on)| *made == call && matches(name, on)).count()
    }

    /// How many bytes were read, and how many at most were asked for at once.
    pub(crate) fn reads(&self) -> (u64, usize) {
        let script = self.script.lock().unwrap();
        (script.bytes_read, script.largest_read)
    }

    /// How many acts have not happened yet.
    pub(crate) fn left(&self) -> usize {
        self.script.lock().unwrap().acts.len()
    }

    fn meet(&self, call: Call, path: &Path) -> io::Result<Option<usize>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        meet(&self.script, call, &name)
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |prefix| name.starts_with(prefix))
}

/// Plays what the script has for this call: an error, a length to write, or nothing. What happens first may be followed
/// by one more act.
fn meet(script: &Mutex<Script>, call: Call, name: &str) -> io::Result<Option<usize>> {
    script.lock().unwrap().calls.push((call, name.to_owned()));
    loop {
        let act = script.lock().unwrap().take(call, name);
        match act {
            None => return Ok(None),
            Some(Act::Fail(kind)) => return Err(kind.into()),
            Some(Act::Short(length)) => return Ok(Some(length)),
            Some(Act::First(act)) => act(),
        }
    }
}

impl Script {
    const fn timed(&self, stat: Stat) -> Stat {
        if self.clock_stands { Stat { modified: 1, changed: 1, ..stat } } else { stat }
    }

    /// The first act that is due; the others that match come one call closer.
    fn take(&mut self, call: Call, name: &str) -> Option<Act> {
        let mut due = None;
        for (index, (awaited, pattern, skipped, _)) in self.acts.iter_mut().enumerate() {
            if *awaited == call && matches(pattern, name) {
                if *skipped == 0 {
                    due.get_or_insert(index);
                } else {
                    *skipped -= 1;
                }
            }
        }
        due.map(|index| self.acts.remove(index).3)
    }
}

impl Disk for ScriptedDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        self.meet(Call::Open, path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let inner = self.inner.open(path, how)?;
        Ok(Arc::new(ScriptedFile { inner, name, script: Arc::clone(&self.script) }))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let stat = self.inner.stat(path)?;
        let script = self.script.lock().unwrap();
        let user =
            script.foreign.as_ref().filter(|(given, _)| given == path).map_or(stat.user, |(_, user)| *user);
        Ok(script.timed(Stat { user, ..stat }))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.inner.read_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.meet(Call::CreateDir, path)?;
        self.inner.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.meet(Call::Rename, to)?;
        self.inner.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.meet(Call::Link, to)?;
        self.inner.link(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.inner.unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.inner.set_mode(path, mode)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.meet(Call::SyncDir, path)?;
        self.inner.sync_dir(path)
    }

    fn user(&self) -> u32 {
        self.inner.user()
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        self.meet(Call::FileSystem, path)?;
        let pretended = self.script.lock().unwrap().file_system;
        pretended.map_or_else(|| self.inner.file_system(path), Ok)
    }

    fn boot(&self) -> Option<String> {
        self.inner.boot()
    }
}

#[derive(Debug)]
struct ScriptedFile {
    inner: Arc<dyn DiskFile>,
    name: String,
    script: Arc<Mutex<Script>>,
}

impl ScriptedFile {
    fn meet(&self, call: Call) -> io::Result<Option<usize>> {
        meet(&self.script, call, &self.name)
    }
}

impl DiskFile for ScriptedFile {
    fn stat(&self) -> io::Result<Stat> {
        let stat = self.inner.stat()?;
        Ok(self.script.lock().unwrap().timed(stat))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.meet(Call::Read)?;
        let read = self.inner.read_at(offset, buffer)?;
        let mut script = self.script.lock().unwrap();
        script.bytes_read += read as u64;
        script.largest_read = script.largest_read.max(buffer.len());
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let length = self.meet(Call::Write)?.unwrap_or(bytes.len());
        self.inner.write_at(offset, &bytes[..length.min(bytes.len())])
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.meet(Call::Truncate)?;
        self.inner.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.meet(Call::Sync)?;
        self.inner.sync()
    }

    fn try_lock(&self, lock: Lock) -> io::Result<bool> {
        self.meet(Call::TryLock)?;
        self.inner.try_lock(lock)
    }

    fn unlock(&self) -> io::Result<()> {
        self.inner.unlock()
    }
}
