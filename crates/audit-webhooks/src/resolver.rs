//! Resolving names, at every attempt, to addresses that the policy allows.

use crate::AddressPolicy;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// How a name becomes addresses: called with a host name and a port. It may block; whoever waits for it stops in time.
pub type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// The most lookups at once. The operating system's cannot be interrupted, so one that hangs lives on in its thread
/// after its attempt timed out. When so many hang, names count as not resolved, instead of threads without end.
const LOOKUPS_MAX: usize = 256;
/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 16;
/// The port of a URL that names none.
const HTTPS_PORT: u16 = 443;

/// The host is, or resolves to, an address that the policy refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address not allowed")]
pub(crate) struct AddressNotAllowed;

/// The lookup of the operating system.
pub(crate) fn system_lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    (host, port).to_socket_addrs().map(Iterator::collect)
}

/// Gives the HTTP client addresses that the policy allows, and no others.
///
/// The client connects to what it is given here and resolves nothing itself, so a name that leads elsewhere a moment
/// later (DNS rebinding) changes nothing. One bad address refuses the whole attempt: a name that mixes public and
/// private addresses is either a mistake or an attempt to get at the private one.
pub(crate) struct VettingResolver {
    policy: AddressPolicy,
    lookup: Arc<Lookup>,
    running: Arc<AtomicUsize>,
}

impl VettingResolver {
    pub(crate) fn new(policy: AddressPolicy, lookup: Arc<Lookup>) -> Self {
        Self {
            policy,
            lookup,
            running: Arc::default(),
        }
    }

    /// Looks `host` up in a thread of its own, since the operating system's lookup knows no timeout.
    fn look_up(&self, host: &str, port: u16, timeout: NextTimeout) -> Result<Vec<SocketAddr>, Error> {
        let slot = Slot::take(&self.running).ok_or(Error::HostNotFound)?;
        let (lookup, host) = (Arc::clone(&self.lookup), host.to_owned());
        let (sender, receiver) = mpsc::sync_channel(1);
        let look_up = move || {
            let found = lookup(&host, port);
            drop(slot);
            if sender.send(found).is_err() {
                log::debug!("nobody waits for the address any more");
            }
        };
        thread::Builder::new()
            .name("webhook-lookup".into())
            .spawn(look_up)
            .map_err(|_| Error::HostNotFound)?;
        match receiver.recv_timeout(*timeout.after) {
            Ok(found) => found.map_err(|_| Error::HostNotFound),
            Err(RecvTimeoutError::Timeout) => Err(Error::Timeout(timeout.reason)),
            // The lookup panicked.
            Err(RecvTimeoutError::Disconnected) => Err(Error::HostNotFound),
        }
    }
}

impl Resolver for VettingResolver {
    fn resolve(&self, uri: &Uri, _: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?;
        let port = uri.port_u16().unwrap_or(HTTPS_PORT);
        let found = match literal(host) {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => self.look_up(host, port, timeout)?,
        };
        if found.iter().any(|address| !self.policy.allows(address.ip())) {
            return Err(Error::Other(Box::new(AddressNotAllowed)));
        }
        let mut vetted = self.empty();
        for address in found.into_iter().take(ADDRESSES_MAX) {
            vetted.push(address);
        }
        if vetted.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(vetted)
    }
}

/// The address that `host` is, if it is none that needs resolving. URLs were normalised: there is one spelling.
fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().ok().map(IpAddr::from),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::from),
    }
}

/// One of [`LOOKUPS_MAX`] places, given back when dropped.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(running: &Arc<AtomicUsize>) -> Option<Self> {
        let slot = Self(Arc::clone(running));
        let before = running.fetch_add(1, Ordering::Relaxed);
        (before < LOOKUPS_MAX).then_some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for VettingResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("VettingResolver")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;
    use std::time::Duration;
    use ureq::Timeout;

    fn resolve(
        resolver: &VettingResolver,
        url: &str,
        timeout: Duration,
    ) -> Result<Vec<SocketAddr>, FailureKind> {
        let timeout = NextTimeout {
            after: timeout.into(),
            reason: Timeout::Global,
            ..NextTimeout::default()
        };
        resolver
            .resolve(&url.parse().unwrap(), &Config::default(), timeout)
            .map(|addresses| addresses.iter().copied().collect())
            .map_err(|error| FailureKind::of(&error))
    }

    fn finding(policy: AddressPolicy, addresses: &[&str]) -> VettingResolver {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let lookup = move |_: &str, port| {
            Ok(addresses
                .iter()
                .map(|address| SocketAddr::new(*address, port))
                .collect())
        };
        VettingResolver::new(policy, Arc::new(lookup))
    }

    fn of_name(policy: AddressPolicy, addresses: &[&str]) -> Result<Vec<SocketAddr>, FailureKind> {
        resolve(
            &finding(policy, addresses),
            "https://name.example/",
            Duration::from_secs(60),
        )
    }

    #[test]
    fn one_special_address_refuses_the_name() {
        use AddressPolicy::{AllowPrivate, Public};
        let found = of_name(Public, &["1.1.1.1", "2606:4700::1"]);
        assert_eq!(
            found,
            Ok(vec![
                "1.1.1.1:443".parse().unwrap(),
                "[2606:4700::1]:443".parse().unwrap()
            ])
        );
        for mixed in [
            &["1.1.1.1", "10.0.0.1"][..],
            &["::1"],
            &["1.1.1.1", "::ffff:1.1.1.1"],
        ] {
            assert_eq!(of_name(Public, mixed), Err(FailureKind::AddressNotAllowed));
            assert_eq!(
                of_name(AllowPrivate, mixed).map(|found| found.len()),
                Ok(mixed.len())
            );
        }
        // Also behind the last address that would be tried.
        let many = [&["1.1.1.1"; 16][..], &["10.0.0.1"]].concat();
        assert_eq!(of_name(Public, &many), Err(FailureKind::AddressNotAllowed));
        assert_eq!(
            of_name(AllowPrivate, &many).map(|found| found.len()),
            Ok(ADDRESSES_MAX)
        );
    }

    #[test]
    fn a_literal_address_is_vetted_without_a_lookup() {
        let no_lookup = Arc::new(|_: &str, _| panic!("a lookup"));
        let resolver = VettingResolver::new(AddressPolicy::Public, no_lookup);
        let literal = |url: &str| resolve(&resolver, url, Duration::from_secs(60));
        assert_eq!(
            literal("https://1.1.1.1/"),
            Ok(vec!["1.1.1.1:443".parse().unwrap()])
        );
        let v6 = "[2606:4700::1]:444".parse().unwrap();
        assert_eq!(literal("https://[2606:4700::1]:444/"), Ok(vec![v6]));
        assert_eq!(literal("https://127.0.0.1/"), Err(FailureKind::AddressNotAllowed));
        assert_eq!(literal("https://[::1]/"), Err(FailureKind::AddressNotAllowed));
    }

    #[test]
    fn a_name_without_addresses_is_not_resolved() {
        let of_lookup = |lookup: Arc<Lookup>| {
            let resolver = VettingResolver::new(AddressPolicy::Public, lookup);
            resolve(&resolver, "https://name.example/", Duration::from_secs(60))
        };
        assert_eq!(
            of_name(AddressPolicy::Public, &[]),
            Err(FailureKind::NameNotResolved)
        );
        let unknown = of_lookup(Arc::new(|_, _| Err(io::Error::other("no such name"))));
        assert_eq!(unknown, Err(FailureKind::NameNotResolved));
        let panicking = of_lookup(Arc::new(|_, _| panic!("as the test wants")));
        assert_eq!(panicking, Err(FailureKind::NameNotResolved));
    }

    #[test]
    fn lookups_that_hang_are_given_up_and_their_number_is_bounded() {
        let (hold, held) = mpsc::channel::<()>();
        let held = std::sync::Mutex::new(held);
        let hanging = move |_: &str, port| {
            // Until the test ends: nothing is ever sent.
            drop(held.lock().map(|held| held.recv()));
            Ok(vec![SocketAddr::new(Ipv4Addr::new(1, 1, 1, 1).into(), port)])
        };
        let resolver = VettingResolver::new(AddressPolicy::Public, Arc::new(hanging));
        let hang = |timeout| resolve(&resolver, "https://name.example/", timeout);
        for _ in 0..LOOKUPS_MAX {
            assert_eq!(hang(Duration::ZERO), Err(FailureKind::TimedOut));
        }
        assert_eq!(hang(Duration::from_secs(60)), Err(FailureKind::NameNotResolved));
        drop(hold);
        // All come to an end now, and give their places back.
        while resolver.running.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(hang(Duration::from_secs(60)).map(|found| found.len()), Ok(1));
    }
}
