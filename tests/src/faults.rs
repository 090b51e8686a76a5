//! Faults of the machine: a full disk, a disk that fails or lies, few open files, little memory.
//!
//! They need root and a C compiler. With `AUDIT_TEST_REQUIRE_FAULTS` set, not having them is a failure.

use crate::edge::{Deadline, temporary_directory};
use crate::prerequisite::Prerequisite;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a program; fails with what it wrote.
fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program} does not run: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A small file system in memory. It is unmounted when dropped, and when the test process ends.
#[derive(Debug)]
pub struct SmallDisk {
    directory: PathBuf,
    /// A shell that unmounts when its standard input is closed.
    unmounter: Child,
}

impl SmallDisk {
    /// Mounts one of this size, which every user may use. `None` where the machine does not allow it.
    pub fn mount(mebibytes: u32) -> Option<Self> {
        Prerequisite::Faults.check(Self::mounted(mebibytes))
    }

    fn mounted(mebibytes: u32) -> Result<Self, String> {
        let directory = temporary_directory("disk-");
        let options = format!("size={mebibytes}m,mode=0777");
        run(
            "mount",
            &["-t", "tmpfs", "-o", &options, "tmpfs", text(&directory)],
        )?;
        let unmounter = Command::new("sh")
            .args(["-c", r#"cat; umount -l "$0""#, text(&directory)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("start a shell that unmounts");
        Ok(Self { directory, unmounter })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Fills it to the last byte.
    pub fn fill(&self) {
        let mut ballast = std::fs::File::create(self.ballast()).expect("create a file");
        for bytes in [64 << 10, 1] {
            while ballast.write_all(&vec![0; bytes]).is_ok() {}
        }
    }

    /// Frees what [`Self::fill`] took.
    pub fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("remove a file");
    }

    fn ballast(&self) -> PathBuf {
        self.directory.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The shell ends when its standard input is closed, which `wait` does first.
        let unmounted = self.unmounter.wait();
        assert!(
            unmounted.is_ok() || std::thread::panicking(),
            "unmount: {unmounted:?}"
        );
    }
}

/// A disk that fails or lies, for a process started with [`Self::prefix`] (`tests/faults/fsync.c`).
#[derive(Debug)]
pub struct FaultyDisk {
    library: &'static Path,
    control: PathBuf,
}

impl FaultyDisk {
    /// A disk without faults so far. `None` without a C compiler.
    pub fn create() -> Option<Self> {
        static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let library = LIBRARY.get_or_init(compile).as_deref();
        Some(Self {
            library: Prerequisite::Faults.check(library)?,
            control: temporary_directory("fsync-").join("control"),
        })
    }

    /// Prefix of the command line of a process that uses the disk.
    pub fn prefix(&self) -> Vec<String> {
        vec![
            "env".to_owned(),
            format!("LD_PRELOAD={}", self.library.display()),
            format!("FAULT_FSYNC_CONTROL={}", self.control.display()),
        ]
    }

    /// From now on, each sync fails.
    pub fn fail(&self) {
        std::fs::write(&self.control, "fail").expect("write the control file");
    }

    /// From now on, each sync succeeds and does nothing.
    pub fn lie(&self) {
        std::fs::write(&self.control, "lie").expect("write the control file");
    }

    /// From now on, data is synced.
    pub fn heal(&self) {
        std::fs::remove_file(&self.control).expect("remove the control file");
    }

    /// How many syncs have failed or lied so far.
    pub fn faults(&self) -> u64 {
        let mut calls = self.control.clone().into_os_string();
        calls.push(".calls");
        std::fs::metadata(calls).map_or(0, |calls| calls.len())
    }
}

fn compile() -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/fsync.c");
    let library = temporary_directory("library-").join("fsync.so");
    let arguments = [
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        text(&library),
    ];
    run("cc", &[&arguments[..], &[text(&source)]].concat())?;
    Ok(library)
}

/// Prefix of the command line of a process that may have this many files open. `None` without `prlimit`.
pub fn few_open_files(count: u32) -> Option<Vec<String>> {
    let limit = format!("--nofile={count}:{count}");
    Prerequisite::Faults.check(run("prlimit", &[&limit, "true"]))?;
    Some(vec!["prlimit".to_owned(), limit])
}

/// A memory cgroup, of version 1 or 2. It is removed when dropped.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    is_unified: bool,
}

impl MemoryGroup {
    /// A group without a limit. `None` where the machine does not let the tests make one.
    pub fn create() -> Option<Self> {
        Prerequisite::Faults.check(Self::created())
    }

    fn created() -> Result<Self, String> {
        let root = Path::new("/sys/fs/cgroup");
        let is_unified = root.join("cgroup.controllers").exists();
        let parent = if is_unified {
            root.to_owned()
        } else {
            root.join("memory")
        };
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("audit-tests-{}-{number}", std::process::id()));
        std::fs::create_dir(&directory).map_err(|error| format!("no memory cgroup can be made: {error}"))?;
        let group = Self {
            directory,
            is_unified,
        };
        match group.file("memory.limit_in_bytes", "memory.max").exists() {
            true => Ok(group),
            false => Err("the memory controller is not enabled for cgroups".to_owned()),
        }
    }

    fn file(&self, one: &str, two: &str) -> PathBuf {
        self.directory.join(if self.is_unified { two } else { one })
    }

    /// Prefix of the command line of a process in the group.
    pub fn prefix(&self) -> Vec<String> {
        let script = r#"echo $$ > "$0" && exec "$@""#;
        let processes = self.directory.join("cgroup.procs");
        ["sh", "-c", script, text(&processes)].map(str::to_owned).into()
    }

    /// From now on, the processes of the group may use this much more memory than they do. The kernel kills one that needs more.
    pub fn allow_more(&self, bytes: u64) {
        let used = self.number(&self.file("memory.usage_in_bytes", "memory.current"));
        // The kernel refuses a limit that is below the usage by then, so this repeats with the present one.
        let limit = self.file("memory.limit_in_bytes", "memory.max");
        let set = |limit_bytes: u64| std::fs::write(&limit, limit_bytes.to_string()).ok();
        let mut limit_bytes = used + bytes;
        Deadline::seconds(30).poll("a limit of memory", || {
            limit_bytes += 1 << 20;
            set(limit_bytes)
        });
    }

    /// Removes the limit.
    pub fn allow_all(&self) {
        let limit = self.file("memory.limit_in_bytes", "memory.max");
        let none = if self.is_unified { "max" } else { "-1" };
        std::fs::write(limit, none).expect("remove the limit");
    }

    /// How many processes of the group the kernel has killed for want of memory.
    pub fn kills(&self) -> u64 {
        let path = self.file("memory.oom_control", "memory.events");
        let text = std::fs::read_to_string(path).expect("read the events of the group");
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count
            .and_then(|count| count.parse().ok())
            .expect("a count of kills")
    }

    fn number(&self, path: &Path) -> u64 {
        let text = std::fs::read_to_string(path).expect("read a file of the group");
        text.trim().parse().expect("a number of bytes")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let removed = std::fs::remove_dir(&self.directory);
        assert!(
            removed.is_ok() || std::thread::panicking(),
            "remove a cgroup: {removed:?}"
        );
    }
}
