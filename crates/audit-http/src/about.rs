//! What the documentation of an endpoint says beyond what its types declare. Each module of handlers has a module `about`, and
//! in it one function for each handler, of the same name. [`crate::ENDPOINTS`] pairs them, so none can be missing.

use crate::error_code::ErrorCode;
use crate::openapi::SchemaOf;

audit_domain::words! {
    /// The group of an endpoint.
    pub enum Tag {
        /// Writing and reading events.
        Events = "events",
        /// Keys of projects, and master keys.
        Keys = "keys",
        /// Projects of an organization.
        Projects = "projects",
        /// Viewer tokens and viewer tiers.
        Viewers = "viewers",
        /// Rules that take personal data and secrets out of events before they are stored.
        Redaction = "redaction",
        /// Alert rules, and the alerts that they raised.
        Alerts = "alerts",
        /// Webhooks and their deliveries.
        Webhooks = "webhooks",
        /// Receivers of all events, such as a SIEM.
        Destinations = "destinations",
        /// What the service sends to webhooks.
        Messages = "webhook-messages",
        /// How long events are kept, legal holds, and erasures.
        Retention = "retention",
        /// Anonymous streams.
        Streams = "streams",
        /// Checkpoints, tiles and proofs for auditors.
        Log = "log",
        /// For operators.
        Operations = "operations",
    }
}

impl Tag {
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Events => {
                "Writing and reading events. Events are never changed; only the retention of their log and erasures remove them or \
                 parts of them. 201 means that they are committed and synced."
            }
            Self::Keys => {
                "Project keys and master keys. A key can be limited: to scopes, to networks, to a time."
            }
            Self::Projects => "The projects of the organization to which a master key belongs.",
            Self::Viewers => {
                "Viewer tokens are safe in a browser: each reads the events of one tenant that its viewer tier shows."
            }
            Self::Redaction => {
                "Rules that redact personal data and secrets before anything is stored. A change applies from the \
                 next request on; stored events do not change."
            }
            Self::Alerts => {
                "Alert rules count events as they arrive. When the matching events of a group within the window reach \
                 the threshold, the rule raises an alert, in the transaction that stores the event."
            }
            Self::Webhooks => {
                "Live alerts are delivered to webhooks at least once, signed according to the Standard Webhooks \
                 specification."
            }
            Self::Destinations => {
                "Destinations receive the events of a project in the order of its log, without gaps: HTTPS, S3-compatible \
                 buckets, Splunk, Datadog, OpenTelemetry, syslog. Nothing is dropped: what a receiver does not take is sent \
                 again, and what it refuses is set aside."
            }
            Self::Messages => "Requests that the service sends to webhooks.",
            Self::Retention => {
                "How long the events of a log are kept, the legal holds that keep them longer, and the erasure of persons. Policies, \
                 holds, plans, removals and erasures are events of the log themselves."
            }
            Self::Streams => {
                "Anonymous streams accept events without an account or a key. The sender chooses the token that \
                 identifies the stream. A stream lives seven days unless it is claimed into a project."
            }
            Self::Log => {
                "The verifiable log: a Merkle tree over the content hashes of a project's events, with signed \
                 checkpoints, which show every change, deletion and reordering."
            }
            Self::Operations => "For operators. Do not expose these paths to the public.",
        }
    }
}

/// The description of an endpoint.
pub(crate) struct About {
    /// Its name in generated clients.
    pub(crate) id: &'static str,
    pub(crate) tag: Tag,
    pub(crate) summary: &'static str,
    /// Paragraphs between blank lines, with `code`.
    pub(crate) description: &'static str,
    /// The parameter in braces in the path.
    pub(crate) path: Option<PathParameter>,
    /// Headers that only this endpoint looks at.
    pub(crate) headers: &'static [HeaderParameter],
    /// Bodies that are accepted.
    pub(crate) requests: &'static [Sample],
    /// The description of the response.
    pub(crate) outcome: &'static str,
    /// Example responses, without their `request_id`.
    pub(crate) responses: &'static [Sample],
    /// A response that is not described by its type, or an alternative one.
    pub(crate) plain: Option<Plain>,
    /// Codes of errors that do not follow from the types.
    pub(crate) errors: &'static [ErrorCode],
    /// Whether it goes beyond the interface that clients may know from elsewhere.
    pub(crate) is_additive: bool,
}

impl About {
    pub(crate) const fn new(id: &'static str, tag: Tag, summary: &'static str) -> Self {
        Self {
            id,
            tag,
            summary,
            description: "",
            path: None,
            headers: &[],
            requests: &[],
            outcome: "",
            responses: &[],
            plain: None,
            errors: &[],
            is_additive: false,
        }
    }
}

/// A parameter in a path.
pub(crate) struct PathParameter {
    pub(crate) description: &'static str,
    pub(crate) schema: SchemaOf,
    pub(crate) example: &'static str,
    /// The code for something that is not there or cannot be.
    pub(crate) refusal: ErrorCode,
}

/// A header that only some endpoints look at.
pub(crate) struct HeaderParameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) schema: SchemaOf,
    pub(crate) example: &'static str,
    /// Whether a request is refused without it.
    pub(crate) is_required: bool,
}

/// An example: its name, and its JSON.
pub(crate) struct Sample(pub(crate) &'static str, pub(crate) &'static str);

/// A response without a JSON schema.
pub(crate) struct Plain {
    pub(crate) status: u16,
    /// Its content types; none for an empty response.
    pub(crate) content_types: &'static [&'static str],
    /// `object` or `string`.
    pub(crate) json_type: &'static str,
}

impl Plain {
    /// Plain text.
    pub(crate) const TEXT: Self = Self {
        status: 200,
        content_types: &["text/plain"],
        json_type: "string",
    };
}
