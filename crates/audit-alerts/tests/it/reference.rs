//! The reference implementation of a rule for one group: a transcript of the documentation, which keeps every event. Times
//! are milliseconds.

/// A rule between two edits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) threshold: i64,
    pub(crate) window: i64,
    pub(crate) cooldown: i64,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    arrived: i64,
    occurred: i64,
    id: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alert {
    pub(crate) fired_at: i64,
    pub(crate) event_count: u64,
    pub(crate) samples: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) rule: Rule,
    /// The events since the last edit or firing.
    arrivals: Vec<Arrival>,
    last_fired: Option<i64>,
}

impl Reference {
    pub(crate) fn new(rule: Rule) -> Self {
        Self {
            rule,
            arrivals: Vec::new(),
            last_fired: None,
        }
    }

    /// "A rule edit takes effect at once and starts its windows afresh."
    pub(crate) fn edit(&mut self, rule: Rule) {
        self.rule = rule;
        self.arrivals.clear();
    }

    /// "A rule looks at each stored event as it arrives."
    pub(crate) fn arrive(&mut self, now: i64, occurred: i64, id: u64) -> Option<Alert> {
        // "An event that arrives later than its window after it occurred is history and counts for no rule."
        if now - occurred > self.rule.window {
            return None;
        }
        self.arrivals.push(Arrival {
            arrived: now,
            occurred,
            id,
        });
        // "The group stays silent for cooldown_seconds, counted from fired_at."
        if self
            .last_fired
            .is_some_and(|fired| now < fired + self.rule.cooldown)
        {
            return None;
        }
        // "Within the last window_seconds (both ends included; a time in the future counts as now)."
        let time = |event: &Arrival| event.occurred.min(event.arrived);
        let mut counted: Vec<(i64, u64)> = self
            .arrivals
            .iter()
            .filter(|event| (now - self.rule.window..=now).contains(&time(event)))
            .map(|event| (time(event), event.id))
            .collect();
        // "It fires when, counting that event, at least threshold matching events of its group occurred."
        if (counted.len() as i64) < self.rule.threshold {
            return None;
        }
        counted.sort();
        // "Then a new alert needs the threshold again with events after the last firing."
        self.arrivals.clear();
        self.last_fired = Some(now);
        Some(Alert {
            fired_at: now,
            event_count: counted.len() as u64,
            samples: counted.iter().rev().take(10).map(|(_, id)| *id).collect(),
        })
    }
}
