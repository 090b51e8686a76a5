//! The clock, and what the Linux kernel reports about the machine and about processes. On other systems these figures are
//! absent.

use anyhow::Context;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// File syncs that are measured.
const SYNCS: u32 = 200;

/// The machine that a run was measured on.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    processor: Option<String>,
    /// Whether the processor computes SHA-256 in instructions, which the service then uses.
    has_sha_instructions: bool,
    cores: usize,
    memory_mib: Option<u64>,
    kernel: Option<String>,
    /// Time to append 4 KiB to a file and sync it, in the directory of the databases.
    sync: crate::latency::LatencySummary,
}

impl Machine {
    pub(crate) fn describe(folder: &Path) -> anyhow::Result<Self> {
        let cpuinfo = Path::new("/proc/cpuinfo");
        let features = field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features"));
        let features = features.unwrap_or_default();
        Ok(Self {
            processor: field(cpuinfo, "model name"),
            has_sha_instructions: features
                .split_whitespace()
                .any(|feature| matches!(feature, "sha_ni" | "sha2")),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mib: kib(Path::new("/proc/meminfo"), "MemTotal").map(|kib| kib / 1_024),
            kernel: read(Path::new("/proc/sys/kernel/osrelease")).map(|text| text.trim().to_owned()),
            sync: measure_sync(folder).context("cannot measure file syncs")?,
        })
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "{}, {} SHA instructions · {} cores · {} MiB · Linux {} · sync of 4 KiB: p50 {:.2} ms, p99 {:.2} ms",
            self.processor.as_deref().unwrap_or("unknown processor"),
            if self.has_sha_instructions {
                "with"
            } else {
                "without"
            },
            self.cores,
            self.memory_mib.unwrap_or_default(),
            self.kernel.as_deref().unwrap_or("unknown"),
            self.sync.p50_ms(),
            self.sync.p99_ms(),
        )
    }
}

fn measure_sync(folder: &Path) -> std::io::Result<crate::latency::LatencySummary> {
    let path = folder.join("sync");
    let mut file = File::create(&path)?;
    let mut latencies = crate::latency::Latencies::default();
    for _ in 0..SYNCS {
        let began = Instant::now();
        file.write_all(&[7; 4_096])?;
        file.sync_data()?;
        latencies.add(began.elapsed());
    }
    std::fs::remove_file(&path)?;
    Ok(latencies.summary())
}

/// Milliseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "events occur when they are sent")]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// CPU time of a process, user and system.
pub(crate) fn cpu_seconds(pid: u32) -> Option<f64> {
    let ticks = cpu_ticks(&read(Path::new(&format!("/proc/{pid}/stat")))?)?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Fields 14 and 15 of `/proc/PID/stat`. Field 2 is the program name in parentheses and may contain any character.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

/// CPU time of a process, of its children, and of the children that have ended.
pub(crate) fn tree_cpu_seconds(pid: u32) -> Option<f64> {
    let own = read(Path::new(&format!("/proc/{pid}/stat")))?;
    let mut ticks = cpu_ticks(&own)? + ended_children_ticks(&own)?;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        // A process may have ended since it was listed.
        if let Some(stat) = read(&entry.path().join("stat"))
            && parent(&stat) == Some(pid)
        {
            ticks += cpu_ticks(&stat)?;
        }
    }
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// CPU time of the whole machine, without idle time.
pub(crate) fn machine_cpu_seconds() -> Option<f64> {
    let ticks = busy_ticks(&read(Path::new("/proc/stat"))?)?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The first line of `/proc/stat` without `idle` and `iowait`, up to `softirq`: `steal` is time of other machines.
fn busy_ticks(stat: &str) -> Option<u64> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _, _, irq, softirq, ..] = ticks[..] else {
        return None;
    };
    Some(user + nice + system + irq + softirq)
}

/// Field 4 of `/proc/PID/stat`.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Fields 16 and 17 of `/proc/PID/stat`.
fn ended_children_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

/// Peak resident memory of a process since [`reset_peak_memory`].
pub(crate) fn peak_memory_kib(pid: u32) -> Option<u64> {
    kib(Path::new(&format!("/proc/{pid}/status")), "VmHWM")
}

/// Resets the peak, so that each phase has its own. Where the kernel refuses, the peak since the process started remains,
/// which is never lower.
pub(crate) fn reset_peak_memory(pid: u32) {
    drop(std::fs::write(format!("/proc/{pid}/clear_refs"), "5"));
}

/// Bytes that a process has caused to be written to disk.
pub(crate) fn written_bytes(pid: u32) -> Option<u64> {
    field(Path::new(&format!("/proc/{pid}/io")), "write_bytes")?
        .parse()
        .ok()
}

/// The value of `name: value` or `name : value`.
fn field(path: &Path, name: &str) -> Option<String> {
    let text = read(path)?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned())
}

fn kib(path: &Path, name: &str) -> Option<u64> {
    field(path, name)?.split_whitespace().next()?.parse().ok()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_parsed_after_any_program_name() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 100 0 0 0 700 300 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_ticks(stat), Some(1_000));
        assert_eq!(cpu_ticks("42 (a) S 1"), None);
    }

    #[test]
    fn parent_and_ended_children_are_parsed_after_any_program_name() {
        let stat = "42 (a) b (c)) S 7 42 42 0 -1 4194304 100 0 0 0 700 300 20 5 20 0 1 0 5 6 7";
        assert_eq!((parent(stat), ended_children_ticks(stat)), (Some(7), Some(25)));
    }

    #[test]
    fn the_machine_is_not_busy_while_idle_or_waiting() {
        let stat = "cpu  100 10 30 5000 600 1 2 99 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(busy_ticks(stat), Some(143));
        assert_eq!(busy_ticks("intr 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory_and_cpu_time() {
        let pid = std::process::id();
        assert!(peak_memory_kib(pid).is_some_and(|kib| kib > 100));
        assert!(cpu_seconds(pid) <= tree_cpu_seconds(pid));
        assert!(cpu_seconds(pid).is_some() && machine_cpu_seconds() > Some(0.0));
    }
}
