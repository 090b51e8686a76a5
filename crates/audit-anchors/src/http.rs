//! The HTTP client. The operator gives the URLs, so they are not checked like those of webhooks, which users give.

use std::time::Duration;
use ureq::Agent;

/// The timeout of a request: resolving, connecting, sending and receiving.
const TIMEOUT: Duration = Duration::from_secs(15);

pub(crate) fn agent(user_agent: &str) -> Agent {
    Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .user_agent(user_agent)
        .build()
        .into()
}
