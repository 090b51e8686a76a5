//! What a file proves, in words.

use super::RunKey;
use super::chain::{Covered, FINDINGS_MAX, Findings, Listed, Run};
use audit_ledger::VerifierKey;
use std::collections::BTreeMap;

/// The result of the check.
pub(super) struct Report {
    pub(super) text: String,
    /// Whether records are missing, or are not those that were sent.
    pub(super) is_refused: bool,
    /// Whether a checkpoint covers records of each run.
    pub(super) is_covered: bool,
}

impl Report {
    pub(super) fn of(runs: BTreeMap<RunKey, Run>, tests: u64, key: Option<&VerifierKey>) -> Self {
        let mut report = Self {
            text: String::new(),
            is_refused: false,
            is_covered: !runs.is_empty(),
        };
        for ((destination, log, number), mut run) in runs {
            run.settle_with_gaps();
            report.is_refused |= run.found.is_refused();
            report.is_covered &= run.covered.is_some();
            report.add(format!("destination {destination}, run {number}, log {log}:"));
            report.add_run(&run);
        }
        if tests > 0 {
            report.add(format!("{tests} records of tests"));
        }
        report.add(match key {
            Some(key) => format!("the checkpoints are signed by {}", key.name()),
            None => {
                "the signatures of the checkpoints were not checked: --key has the key of the log".to_owned()
            }
        });
        report
    }

    fn add(&mut self, line: impl AsRef<str>) {
        self.text += line.as_ref();
        self.text.push('\n');
    }

    fn add_run(&mut self, run: &Run) {
        let Findings {
            first,
            last,
            gaps,
            missing,
            set_aside,
            changed,
            contradicting,
            unchained,
            invalid,
            checkpoints,
            events,
            hashes_only,
            repeats,
            far_repeats,
        } = &run.found;
        let range = |(first, last): &(u64, u64)| match first == last {
            true => first.to_string(),
            false => format!("{first}–{last}"),
        };
        self.add(format!(
            "  positions {first}–{last}: {events} events and {checkpoints} checkpoints"
        ));
        self.add_findings(&format!("  MISSING: {missing} positions: "), gaps, range);
        self.add_findings(
            "  CHANGED: events without their content hash, at the positions ",
            changed,
            u64::to_string,
        );
        self.add_findings(
            "  CONTRADICTING: two records with the positions ",
            contradicting,
            u64::to_string,
        );
        let of_checkpoint = "  OTHER: the records are not those of the next checkpoint, at the positions ";
        self.add_findings(of_checkpoint, unchained, range);
        let reason = |(position, reason): &(u64, String)| format!("{position} ({reason})");
        self.add_findings("  INVALID: checkpoints at the positions ", invalid, reason);
        self.add_findings(
            "  set aside by the receiver: positions ",
            set_aside,
            u64::to_string,
        );
        if *hashes_only > 0 {
            self.add(format!(
                "  of {hashes_only} events the hash was compared and no field"
            ));
        }
        if *repeats + *far_repeats > 0 {
            self.add(format!("  {} repeats", repeats + far_repeats));
        }
        match run.covered {
            Some(covered) => self.add(format!("  {}", proved(covered, *last))),
            None => self.add("  no checkpoint covers them"),
        }
    }

    fn add_findings<T>(&mut self, words: &str, found: &Listed<T>, text: impl Fn(&T) -> String) {
        if found.count == 0 {
            return;
        }
        let listed: Vec<String> = found.first.iter().map(text).collect();
        let others = found.count - listed.len() as u64;
        let others = match others {
            0 => String::new(),
            others => format!(" and {others} more, of which the first {FINDINGS_MAX} are listed"),
        };
        self.add(format!("{words}{}{others}", listed.join(", ")));
    }
}

/// What the last checkpoint proves.
fn proved(covered: Covered, last: u64) -> String {
    let Covered {
        since,
        position,
        next_seq,
        logged_at,
    } = covered;
    let at = logged_at.map_or_else(String::new, |at| format!(", which the log received at {at}"));
    let later = match last.saturating_sub(position + 1) {
        0 => String::new(),
        later => format!("; {later} later records have no checkpoint yet"),
    };
    let read = match next_seq.checked_sub(1) {
        Some(seq) => format!("up to seq {seq}{at}"),
        None => "before the first event of the log".to_owned(),
    };
    format!("positions {since}–{position} are complete {read}{later}")
}
