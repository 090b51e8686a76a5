//! The reasons for an attempt without a response.

use crate::resolver::AddressNotAllowed;
use std::io;
use ureq::Error;

audit_domain::words! {
    /// The reason for an attempt without a response, as shown in a delivery log. It tells the receiver's operator what
    /// failed and reveals nothing about the sender's network.
    pub enum FailureKind {
        /// The host is, or its name resolves to, an address that the policy refuses. Nothing was sent.
        AddressNotAllowed = "address_not_allowed",
        /// The name has no address, or the lookup failed.
        NameNotResolved = "name_not_resolved",
        /// No address accepted a connection.
        ConnectionFailed = "connection_failed",
        /// The certificate is not trusted or for another name, or the port does not speak TLS.
        TlsFailed = "tls_failed",
        /// No complete response arrived before the timeout.
        TimedOut = "timed_out",
        /// The connection ended before the response was complete.
        ConnectionDropped = "connection_dropped",
        /// The response is not HTTP/1, or its headers are too many or too long.
        ProtocolError = "protocol_error",
        /// The message cannot be built: the webhook's secret cannot be decrypted, or the stored delivery is damaged. Nothing
        /// was sent.
        NotSendable = "not_sendable",
    }
}

impl FailureKind {
    /// The reason that an error of the HTTP client stands for.
    pub fn of(error: &Error) -> Self {
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
        // The TLS handshake runs inside reads and writes, so its errors arrive as I/O errors.
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
