//! The HTTP client. The operator gives the URLs, so they are not checked like those of webhooks, which users give.

use std::time::Duration;
use ureq::Agent;

/// The usual timeout of a request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);

/// A client with a timeout for each request: resolving, connecting, sending and receiving.
pub(crate) fn agent(user_agent: &str, timeout: Duration) -> Agent {
    Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .user_agent(user_agent)
        .build()
        .into()
}
