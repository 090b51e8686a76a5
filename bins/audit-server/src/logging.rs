//! The log on standard error.

use crate::printable::printable;
use env_logger::{Builder, Env, Logger};
use std::borrow::Cow;

/// Targets that are never logged, whatever `RUST_LOG` says: their lines contain webhook URLs with tokens, and whole
/// requests.
const SILENT_TARGETS: [&str; 3] = ["ureq", "ureq_proto", "rustls"];

/// Drops [`SILENT_TARGETS`], and escapes control characters: some texts are of clients.
struct FilteredLogger(Logger);

impl log::Log for FilteredLogger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        !is_silent(metadata.target()) && self.0.enabled(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        if !is_silent(record.target()) {
            let message = record.args().to_string();
            match printable(&message) {
                Cow::Borrowed(_) => self.0.log(record),
                Cow::Owned(escaped) => {
                    let mut copy = log::Record::builder();
                    copy.metadata(record.metadata().clone())
                        .module_path(record.module_path())
                        .file(record.file())
                        .line(record.line());
                    self.0.log(&copy.args(format_args!("{escaped}")).build());
                }
            }
        }
    }

    fn flush(&self) {
        self.0.flush();
    }
}

fn is_silent(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    SILENT_TARGETS.contains(&krate)
}

/// Starts the log with the filter in `RUST_LOG`.
pub(crate) fn start() {
    let environment = Env::default().default_filter_or("info");
    let logger = Builder::from_env(environment).build();
    let level_max = logger.filter();
    // Fails only if there is a logger already.
    if log::set_boxed_logger(Box::new(FilteredLogger(logger))).is_ok() {
        log::set_max_level(level_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_log_webhook_requests_are_silent() {
        for target in [
            "ureq",
            "ureq::unversioned::transport",
            "ureq_proto::client",
            "rustls::client::hs",
        ] {
            assert!(is_silent(target), "{target}");
        }
        for target in ["", "audit_app::dispatcher", "ureqs", "audit_webhooks::ureq"] {
            assert!(!is_silent(target), "{target}");
        }
    }
}
