//! The environment does not affect attempts.

use crate::receiver::{Receiver, deliver, response};
use std::process::Command;

/// Run by the test below in a process of its own, because all tests of a process share one environment.
#[test]
#[ignore = "needs the environment that another test makes"]
fn delivers_past_a_proxy() {
    // By default the HTTP client would use the proxy.
    let chosen = ureq::Agent::config_builder().build();
    assert!(chosen.proxy().is_some());
    let receiver = Receiver::start(response("HTTP/1.1 204 No Content\r\n\r\n"));
    assert!(deliver(&receiver).is_delivered());
}

#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let proxy = Receiver::raw(|_| Ok(()));
    let mut child = Command::new(std::env::current_exe().expect("the path of the tests"));
    child.args(["--ignored", "--exact", "environment::delivers_past_a_proxy"]);
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"] {
        child.env(name, format!("http://{}", proxy.address));
        child.env(name.to_lowercase(), format!("http://{}", proxy.address));
    }
    let output = child
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .expect("a child");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    proxy.assert_untouched();
}
