//! The progress of commands that read all events.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over this many events, drawn only on a terminal.
pub fn over_events(total: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:40} {percent:>3} %  {human_pos}/{human_len} events  {per_sec}";
    Ok(ProgressBar::new(total).with_style(ProgressStyle::with_template(style)?))
}
