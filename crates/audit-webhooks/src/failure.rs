//! Why there was no answer.

use crate::resolver::AddressNotAllowed;
use std::io;
use ureq::Error;

audit_domain::words! {
    /// Why an attempt got no answer: the words of a delivery log. They tell what a receiver's operator needs, and
    /// nothing of the network the attempt was made from.
    pub enum FailureKind {
        /// The host is, or its name resolves to, an address that the policy refuses. Nothing was sent.
        AddressNotAllowed = "address_not_allowed",
        /// The name has no address, or nobody could tell.
        NameNotResolved = "name_not_resolved",
        /// No address accepted a connection.
        ConnectionFailed = "connection_failed",
        /// The certificate is not trusted or for another name, or the port does not speak TLS.
        TlsFailed = "tls_failed",
        /// There was no complete answer in time.
        TimedOut = "timed_out",
        /// The connection ended before the answer did.
        ConnectionDropped = "connection_dropped",
        /// The answer is not HTTP/1, or its headers are too many or too long.
        ProtocolError = "protocol_error",
        /// The message could not be made: the webhook's secret cannot be opened, or what is stored is damaged. Nothing was
        /// sent.
        NotSendable = "not_sendable",
    }
}

impl FailureKind {
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Timeout(_) => Self::TimedOut,
            Error::HostNotFound => Self::NameNotResolved,
            Error::ConnectionFailed => Self::ConnectionFailed,
            Error::Tls(_) | Error::Rustls(_) | Error::TlsRequired => Self::TlsFailed,
            Error::Other(cause) if cause.is::<AddressNotAllowed>() => Self::AddressNotAllowed,
            Error::Io(error) => Self::of_io(error),
            _ => Self::ProtocolError,
        }
    }

    fn of_io(error: &io::Error) -> Self {
        // The handshake and all that follows it run inside reads and writes; this is how their errors come out.
        if error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()) {
            return Self::TlsFailed;
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::TimedOut,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::ConnectionDropped,
            // Refused, unreachable, no route, out of ports or of file descriptors.
            _ => Self::ConnectionFailed,
        }
    }
}
