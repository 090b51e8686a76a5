//! Name resolution at every attempt, limited to addresses that the policy allows.

use crate::AddressPolicy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::{Error, Timeout};

/// Resolves a host name and a port to addresses. It may block: the caller stops waiting at its timeout.
pub type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Most concurrent lookups. A lookup of the operating system cannot be interrupted, so a hanging one keeps its thread after its
/// attempt timed out. The limit bounds the number of such threads.
const LOOKUPS_MAX: usize = 256;
/// Most concurrent lookups of one name, so that a name whose servers hang leaves lookups to other names.
const LOOKUPS_OF_NAME_MAX: usize = 4;
/// Most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 16;
/// The ports of URLs without a port.
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

/// The host is, or resolves to, an address that the policy refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address not allowed")]
pub(crate) struct AddressNotAllowed;

/// No attempt was made: the limit of concurrent lookups, of all names or of this one, is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many concurrent name lookups")]
pub struct TooManyLookups;

/// The lookup of the operating system.
pub fn system_lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    (host, port).to_socket_addrs().map(Iterator::collect)
}

/// Gives the HTTP client only addresses that the policy allows.
///
/// The client connects to these addresses and resolves nothing itself, so DNS rebinding has no effect. One address that is not
/// allowed refuses the whole attempt: a name with both public and private addresses is a mistake or an attack.
#[derive(Clone)]
pub struct VettingResolver {
    policy: AddressPolicy,
    lookup: Arc<Lookup>,
    running: Arc<Running>,
}

impl VettingResolver {
    /// Resolves with `lookup` and checks its results against `policy`. Clones share one limit of concurrent lookups.
    pub fn new(policy: AddressPolicy, lookup: Arc<Lookup>) -> Self {
        Self {
            policy,
            lookup,
            running: Arc::default(),
        }
    }

    /// The addresses of a host, a name or an address, for connections without HTTP. All of them are allowed; there is one at
    /// least, and at most 16.
    ///
    /// # Errors
    /// As for the HTTP client: [`FailureKind::of`](crate::FailureKind::of) classifies them, and [`TooManyLookups`] is the cause
    /// of [`Error::Other`].
    pub fn addresses(&self, host: &str, port: u16, timeout: Duration) -> Result<Vec<SocketAddr>, Error> {
        let timeout = NextTimeout {
            after: timeout.into(),
            reason: Timeout::Resolve,
            ..NextTimeout::default()
        };
        self.vetted(host, port, timeout)
    }

    fn vetted(&self, host: &str, port: u16, timeout: NextTimeout) -> Result<Vec<SocketAddr>, Error> {
        let mut found = match literal(host) {
            Some(address) => vec![SocketAddr::new(address, port)],
            None => self.look_up(host, port, timeout)?,
        };
        if found.iter().any(|address| !self.policy.allows(address.ip())) {
            return Err(Error::Other(Box::new(AddressNotAllowed)));
        }
        found.truncate(ADDRESSES_MAX);
        if found.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(found)
    }

    /// Looks `host` up in a thread of its own, because the operating system's lookup has no timeout.
    fn look_up(&self, host: &str, port: u16, timeout: NextTimeout) -> Result<Vec<SocketAddr>, Error> {
        let slot = Slot::take(&self.running, host).ok_or_else(|| Error::Other(Box::new(TooManyLookups)))?;
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
        let default_port = match uri.scheme_str() {
            Some("http") => HTTP_PORT,
            _ => HTTPS_PORT,
        };
        let mut resolved = self.empty();
        for address in self.vetted(host, uri.port_u16().unwrap_or(default_port), timeout)? {
            resolved.push(address);
        }
        Ok(resolved)
    }
}

/// The address that `host` is, if it is none that needs resolving. URLs were normalised: there is one spelling.
fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().ok().map(IpAddr::from),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::from),
    }
}

/// The number of running lookups, by name.
type Running = Mutex<HashMap<String, usize>>;

/// A permit for one lookup, returned when dropped.
struct Slot {
    running: Arc<Running>,
    name: String,
}

impl Slot {
    fn take(running: &Arc<Running>, name: &str) -> Option<Self> {
        let mut by_name = running.lock();
        let of_name = by_name.get(name).copied().unwrap_or_default();
        if of_name >= LOOKUPS_OF_NAME_MAX || by_name.values().sum::<usize>() >= LOOKUPS_MAX {
            return None;
        }
        by_name.insert(name.to_owned(), of_name + 1);
        Some(Self {
            running: Arc::clone(running),
            name: name.to_owned(),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut by_name = self.running.lock();
        if let Some(of_name) = by_name.get_mut(&self.name) {
            *of_name -= 1;
            if *of_name == 0 {
                by_name.remove(&self.name);
            }
        }
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
            .map_err(|error| {
                let is_refused = matches!(&error, Error::Other(cause) if cause.is::<TooManyLookups>());
                assert!(!is_refused, "the lookup gets a permit");
                FailureKind::of(&error)
            })
    }

    /// Whether a lookup is refused because of those in flight.
    fn is_refused(resolver: &VettingResolver, url: &str) -> bool {
        let timeout = NextTimeout {
            after: Duration::ZERO.into(),
            reason: Timeout::Global,
            ..NextTimeout::default()
        };
        let found = resolver.resolve(&url.parse().unwrap(), &Config::default(), timeout);
        matches!(found, Err(Error::Other(cause)) if cause.is::<TooManyLookups>())
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
        let held = Mutex::new(held);
        let hanging = move |_: &str, port| {
            // Until the test ends: nothing is ever sent.
            held.lock().recv().unwrap_err();
            Ok(vec![SocketAddr::new(Ipv4Addr::new(1, 1, 1, 1).into(), port)])
        };
        let resolver = VettingResolver::new(AddressPolicy::Public, Arc::new(hanging));
        let url = |name: usize| format!("https://{name}.example/");
        let hang = |name: usize, timeout| resolve(&resolver, &url(name), timeout);
        for name in 0..LOOKUPS_MAX / LOOKUPS_OF_NAME_MAX {
            for _ in 0..LOOKUPS_OF_NAME_MAX {
                assert_eq!(hang(name, Duration::ZERO), Err(FailureKind::TimedOut));
            }
            assert!(
                is_refused(&resolver, &url(name)),
                "the limit of one name is reached"
            );
        }
        assert!(
            is_refused(&resolver, &url(1_000)),
            "the limit of all names is reached"
        );
        drop(hold);
        // All lookups end now and return their permits.
        while !resolver.running.lock().is_empty() {
            thread::yield_now();
        }
        assert_eq!(hang(0, Duration::from_secs(60)).map(|found| found.len()), Ok(1));
    }
}
