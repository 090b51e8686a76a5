//! The codes of errors, with their statuses and messages.

use actix_web::http::StatusCode;

audit_domain::words! {
    /// The value of `error.code`. Programs evaluate it and the status; the message is for people.
    pub enum ErrorCode {
        /// The request is invalid.
        ValidationError = "validation_error",
        /// No credential, or none of a known form.
        Unauthorized = "unauthorized",
        /// The key is mistyped or was never issued.
        InvalidApiKey = "invalid_api_key",
        /// The key was revoked.
        KeyRevoked = "key_revoked",
        /// The key has expired.
        KeyExpired = "key_expired",
        /// The viewer token is altered, or its tier or secret no longer exists.
        InvalidToken = "invalid_token",
        /// The viewer token has expired.
        TokenExpired = "token_expired",
        /// The credential does not allow this, or the interface does not.
        Forbidden = "forbidden",
        /// No more custom alert rules.
        AlertRuleLimitReached = "alert_rule_limit_reached",
        /// The plan includes no webhooks.
        WebhooksNotAvailable = "webhooks_not_available",
        /// The project is archived and takes no events.
        ProjectArchived = "project_archived",
        /// The object does not exist, or the credential has no access to it.
        NotFound = "not_found",
        /// No stream has this token.
        StreamNotFound = "stream_not_found",
        /// The path does not support this method.
        MethodNotAllowed = "method_not_allowed",
        /// The request contradicts stored data.
        Conflict = "conflict",
        /// Removals have left too many holes in the log of a tenant for one proof.
        TooManyRemoved = "too_many_removed",
        /// The status of the alert does not allow the requested transition.
        InvalidTransition = "invalid_transition",
        /// The stream has expired.
        StreamExpired = "stream_expired",
        /// The stream belongs to a project.
        StreamAlreadyClaimed = "stream_already_claimed",
        /// The event was removed, or never existed.
        EventRemoved = "event_removed",
        /// Events were removed before the reader of the feed got them.
        EventsRemoved = "events_removed",
        /// The body is too large.
        PayloadTooLarge = "payload_too_large",
        /// The body is not declared to be JSON, or is compressed other than as gzip.
        UnsupportedMediaType = "unsupported_media_type",
        /// The sender exceeds its request rate.
        RateLimited = "rate_limited",
        /// The project has reached the daily event limit of its plan.
        DailyEventLimitReached = "daily_event_limit_reached",
        /// The stream has reached its daily event limit.
        StreamDailyLimitReached = "stream_daily_limit_reached",
        /// The stream has reached its total event limit.
        StreamEventLimitReached = "stream_event_limit_reached",
        /// The stored log contradicts its signed checkpoint.
        LogInconsistent = "log_inconsistent",
        /// The log takes no events until its operator has verified it. Nothing was stored.
        LogStopped = "log_stopped",
        /// An internal error of the service.
        InternalError = "internal_error",
        /// The same request may succeed soon. Nothing was done, unless the message says that the outcome is unknown.
        Unavailable = "unavailable",
    }
}

impl ErrorCode {
    /// The codes with which a credential is refused, before anything else is checked.
    pub(crate) const OF_CREDENTIALS: [Self; 7] = [
        Self::Unauthorized,
        Self::InvalidApiKey,
        Self::KeyRevoked,
        Self::KeyExpired,
        Self::InvalidToken,
        Self::TokenExpired,
        Self::RateLimited,
    ];

    /// The codes of any request that uses the database.
    pub(crate) const OF_THE_SERVICE: [Self; 3] = [Self::InternalError, Self::LogStopped, Self::Unavailable];

    /// The status of a response with this code.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::ValidationError => StatusCode::BAD_REQUEST,
            Self::Unauthorized
            | Self::InvalidApiKey
            | Self::KeyRevoked
            | Self::KeyExpired
            | Self::InvalidToken
            | Self::TokenExpired => StatusCode::UNAUTHORIZED,
            Self::Forbidden
            | Self::AlertRuleLimitReached
            | Self::WebhooksNotAvailable
            | Self::ProjectArchived => StatusCode::FORBIDDEN,
            Self::NotFound | Self::StreamNotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict | Self::TooManyRemoved | Self::InvalidTransition => StatusCode::CONFLICT,
            Self::StreamExpired | Self::StreamAlreadyClaimed | Self::EventRemoved | Self::EventsRemoved => {
                StatusCode::GONE
            }
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited
            | Self::DailyEventLimitReached
            | Self::StreamDailyLimitReached
            | Self::StreamEventLimitReached => StatusCode::TOO_MANY_REQUESTS,
            Self::LogInconsistent | Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::LogStopped | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// A message for this code.
    pub(crate) const fn example_message(self) -> &'static str {
        match self {
            Self::ValidationError => "the request is not valid",
            Self::Unauthorized => "no credential of a known form was sent",
            Self::InvalidApiKey => "the API key is not valid",
            Self::KeyRevoked => "the API key was revoked",
            Self::KeyExpired => "the API key has expired",
            Self::InvalidToken => "the viewer token is not valid",
            Self::TokenExpired => "the viewer token has expired",
            Self::Forbidden => "this needs a master key",
            Self::AlertRuleLimitReached => "custom alert rules need a paid plan",
            Self::WebhooksNotAvailable => "webhooks need a paid plan",
            Self::ProjectArchived => {
                "the project 5b867afb-5c40-4553-9a5d-adba77d1c5ac is archived and takes no events; \
                 `PATCH /projects/5b867afb-5c40-4553-9a5d-adba77d1c5ac` with `{\"archived\": false}` changes that"
            }
            Self::NotFound => "event not found",
            Self::StreamNotFound => "stream not found",
            Self::MethodNotAllowed => "this path takes GET, POST only",
            Self::Conflict => {
                "the idempotency key was used for event evt_01M7Y455KA2AA367HSAWZTY9SY with other content"
            }
            Self::TooManyRemoved => {
                "removals have taken too many events from between those that the tenant still has for one proof; an audit of the \
                 log with a project key covers them"
            }
            Self::InvalidTransition => "an alert cannot go from resolved to acknowledged",
            Self::StreamExpired => "the stream has expired",
            Self::StreamAlreadyClaimed => "the stream was claimed",
            Self::EventRemoved => {
                "events that were received before 2026-01-15T00:00:00.000Z were removed; this id was one of them, or never \
                 existed"
            }
            Self::EventsRemoved => {
                "events after this cursor were removed; error.cursor is the cursor to continue with"
            }
            Self::PayloadTooLarge => "the request body must have at most 1048576 bytes",
            Self::UnsupportedMediaType => "the header Content-Type must be application/json",
            Self::RateLimited => "this credential asks too often",
            Self::DailyEventLimitReached => "the project has reached its limit of 1000 events a day",
            Self::StreamDailyLimitReached => "the stream has reached its limit of 100 events a day",
            Self::StreamEventLimitReached => "the stream has reached its limit of 500 events",
            Self::LogInconsistent => {
                "the log contradicts its signed checkpoint; the operator has to verify it"
            }
            Self::LogStopped => "the log takes no events until its operator has verified it",
            Self::InternalError => "internal error",
            Self::Unavailable => "the service is busy or its database cannot be reached",
        }
    }

    /// The condition of this code, for the documentation.
    pub(crate) const fn when(self) -> &'static str {
        match self {
            Self::ValidationError => {
                "the body or a parameter is invalid: broken JSON, unknown fields, wrong types, limits"
            }
            Self::Unauthorized => "no credential, or none that begins with `mk_`, `pk_` or `vt_`",
            Self::InvalidApiKey => "the key is unknown, or its checksum is wrong",
            Self::KeyRevoked => "the key was revoked",
            Self::KeyExpired => "the key has expired",
            Self::InvalidToken => {
                "the viewer token was altered, its tier was deleted, or its signing secret is gone"
            }
            Self::TokenExpired => "the viewer token has expired",
            Self::Forbidden => {
                "wrong kind of credential, a change that a built-in rule does not allow, or a limit on the number of \
                 objects"
            }
            Self::AlertRuleLimitReached => {
                "a custom alert rule more than the plan allows (none on free) or than a project may have"
            }
            Self::WebhooksNotAvailable => "the plan has no webhooks",
            Self::ProjectArchived => "the project is archived and takes no events",
            Self::NotFound => "no such path, or no such object that the credential may access",
            Self::StreamNotFound => "there is no stream with this token",
            Self::MethodNotAllowed => "the path takes other methods; the header `Allow` lists them",
            Self::Conflict => {
                "the idempotency key was used with other content, the viewer tier exists already, the webhook is disabled, \
                 a note is written while own events are off, the plan of retention is not open, the hold was released, or the state or list \
                 of the erasure is another one"
            }
            Self::TooManyRemoved => {
                "removals have taken more than 10,000 events from between those that the tenant still has, or too many of those are \
                 left to find out"
            }
            Self::InvalidTransition => "the alert is resolved and cannot be acknowledged",
            Self::StreamExpired => "the stream was not claimed in time; its events are gone",
            Self::StreamAlreadyClaimed => "the stream's events belong to a project",
            Self::EventRemoved => {
                "no event has this id, and retention has removed events that were received at its time or later"
            }
            Self::EventsRemoved => {
                "events behind the cursor of the feed were removed before its reader got them; `error.cursor` stands for the \
                 same position, and continues"
            }
            Self::PayloadTooLarge => "the body has more than 1 MiB",
            Self::UnsupportedMediaType => {
                "the body has no `Content-Type: application/json`, or with a `Content-Encoding` other than `gzip`"
            }
            Self::RateLimited => {
                "too many requests of the credential, if the operator limits them, or of the address to streams or to the URL at which \
                 readers of a portal sign in; `Retry-After` is the time to wait"
            }
            Self::DailyEventLimitReached => {
                "the project has reached the limit of its plan of this UTC day; `Retry-After` is the time until the \
                 next day"
            }
            Self::StreamDailyLimitReached => {
                "the stream has reached its limit of this UTC day; `Retry-After` is the time until the next day"
            }
            Self::StreamEventLimitReached => "the stream has reached its total limit",
            Self::LogInconsistent => {
                "the log lost events or was tampered with: it contradicts its last signed checkpoint"
            }
            Self::LogStopped => {
                "the log was changed in the database, or was unsigned for too long: it accepts no events until the \
                 operator has verified it"
            }
            Self::InternalError => "a fault of the service; the cause is in its log under the `request_id`",
            Self::Unavailable => {
                "overloaded, stopping, or the database does not respond; `Retry-After` is the time to wait. If the \
                 message says that the outcome is unknown, the request may have succeeded: retry it with the same \
                 idempotency keys"
            }
        }
    }
}
