//! A row of the table of routes.

use Outcome::{Forbidden, NotFound, Revoked, Success, Unauthorized};
use Recorded::Nothing;
use serde_json::Value;

/// The expected outcome of a request with a credential.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// With this status.
    Success(u16),
    /// 403 `forbidden`: the wrong kind of credential.
    Forbidden,
    /// 404 `not_found`: an object of another organization.
    NotFound,
    /// 409 `conflict`: the credential is admitted, and the state does not allow the request.
    Conflict,
    /// 401 `unauthorized`.
    Unauthorized,
    /// 401 `key_revoked`.
    Revoked,
}

/// The new object of the organization under test that the path names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    None,
    Project,
    Event,
    /// The first tile of the log.
    Tile,
    Key,
    MasterKey,
    Rule,
    Tier,
    /// An action with a label.
    Action,
    /// The project, whose readers can sign in.
    SignIn,
    AlertRule,
    Alert,
    /// The same for every request.
    Webhook,
    /// For a request that deletes it.
    NewWebhook,
    Delivery,
    /// Paused, and the same for every request.
    Destination,
    /// For a request that deletes it.
    NewDestination,
    /// The same as [`Target::Destination`], with a replay.
    Replayed,
    /// The same, without one.
    NotReplayed,
    /// A stream with an event.
    Stream,
    /// The same, named by the body.
    ClaimToken,
    /// None, in a log with a retention policy.
    Policy,
    /// A legal hold in force.
    Hold,
    /// An erasure whose list is complete, the same for every request.
    Erasure,
    /// For a request that cancels it.
    NewErasure,
}

/// The scope that a master key acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// One project, which the header names.
    Project,
    /// The organization.
    Organization,
}

/// The event of the service that a request is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recorded {
    /// None, for this reason.
    Nothing(&'static str),
    /// One of this action, with this target.
    As(&'static str, Subject),
}

/// The id of the target of an event of the service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    /// That of the object that the request names.
    Object,
    /// The SHA-256 of that: the token of a stream.
    Digest,
    /// That of the project.
    Project,
    /// The name of the live log of the project.
    Log,
    /// That of the project which the request creates, and whose log has the event.
    NewProject,
    /// Where this JSON pointer leads in the response.
    InResponse(&'static str),
    /// This one.
    Text(&'static str),
}

/// A row: a route, the request to it, what it records, and the expected outcome for each credential.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) recorded: Recorded,
    pub(crate) path: &'static str,
    pub(crate) target: Target,
    pub(crate) scope: Scope,
    /// Parameters that the route needs.
    pub(crate) query: &'static str,
    pub(crate) body: Option<fn(project_id: &str) -> Value>,
    pub(crate) master: Outcome,
    pub(crate) project: Outcome,
    pub(crate) test: Outcome,
    pub(crate) viewer: Outcome,
    pub(crate) revoked: Outcome,
    pub(crate) none: Outcome,
    pub(crate) strangers_master: Outcome,
    pub(crate) strangers_project: Outcome,
}

impl Outcome {
    /// Whether the credential is admitted.
    pub(crate) const fn is_admitted(self) -> bool {
        matches!(self, Self::Success(_) | Self::Conflict)
    }
}

impl Route {
    /// As `audit-server routes` prints it.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Its path with this object as the parameter, and the query that it needs.
    pub(crate) fn path_to(&self, object: &str) -> String {
        let segments = self
            .path
            .split('/')
            .map(|segment| match segment.strip_prefix(':') {
                Some(_) => object,
                None => segment,
            });
        segments.collect::<Vec<&str>>().join("/") + self.query
    }

    /// Whether it needs no credential.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.none, Success(_))
    }

    /// Whether a viewer token may read it, so that pages of other origins may.
    pub(crate) fn is_viewer_read(&self) -> bool {
        self.method == "GET" && matches!(self.viewer, Success(_)) && !self.is_open()
    }

    /// Whether its request has a JSON body.
    pub(crate) fn has_body(&self) -> bool {
        self.body.is_some() || matches!(self.target, Target::ClaimToken)
    }

    /// The scope that a key needs; `None` where no credential is needed.
    pub(crate) fn key_scope(&self) -> Option<&'static str> {
        if self.is_open() {
            return None;
        }
        let path = self.path.strip_prefix("/api/v1/").unwrap_or(self.path);
        Some(match (self.method, path.split('/').next().unwrap_or(path)) {
            ("POST", "events") => "events:write",
            (_, "events" | "log" | "tenants" | "usage") | ("GET", "portal" | "actions") => "events:read",
            (_, "alerts") => "alerts",
            (_, "viewer-tokens") => "viewer-tokens",
            (
                _,
                "keys" | "master-keys" | "projects" | "redaction" | "viewer-tiers" | "streams" | "portal"
                | "actions" | "destinations" | "retention" | "holds" | "erasures",
            ) => "admin",
            (_, other) => panic!("which scope is {other}?"),
        })
    }
}

/// The method of a route, and the event of the service that a request is. There is none without the other, so that every route that can
/// change something says what is recorded.
#[derive(Clone, Copy)]
pub(super) struct Method {
    name: &'static str,
    recorded: Recorded,
}

/// A `GET` that is no event.
pub(super) const READ: Method = get(Nothing("it reads"));

pub(super) const fn get(recorded: Recorded) -> Method {
    let name = "GET";
    Method { name, recorded }
}

pub(super) const fn post(recorded: Recorded) -> Method {
    let name = "POST";
    Method { name, recorded }
}

pub(super) const fn put(recorded: Recorded) -> Method {
    let name = "PUT";
    Method { name, recorded }
}

pub(super) const fn patch(recorded: Recorded) -> Method {
    let name = "PATCH";
    Method { name, recorded }
}

pub(super) const fn delete(recorded: Recorded) -> Method {
    let name = "DELETE";
    Method { name, recorded }
}

/// A route for master keys and project keys, test keys included: the most frequent kind. The stranger's master key names
/// the project under test, so it finds nothing; the stranger's project key acts on its own project.
pub(super) const fn both(method: Method, path: &'static str, status: u16) -> Route {
    Route {
        method: method.name,
        recorded: method.recorded,
        path,
        target: Target::None,
        scope: Scope::Project,
        query: "",
        body: None,
        master: Success(status),
        project: Success(status),
        test: Success(status),
        viewer: Forbidden,
        revoked: Revoked,
        none: Unauthorized,
        strangers_master: NotFound,
        strangers_project: Success(status),
    }
}

/// A route for master keys alone.
pub(super) const fn master(method: Method, path: &'static str, status: u16) -> Route {
    let both = both(method, path, status);
    Route {
        project: Forbidden,
        test: Forbidden,
        strangers_project: Forbidden,
        ..both
    }
}

/// A route on which master keys act on their own organization, whichever project they name.
pub(super) const fn organization(method: Method, path: &'static str, status: u16) -> Route {
    Route {
        scope: Scope::Organization,
        strangers_master: Success(status),
        ..master(method, path, status)
    }
}

/// A route that needs no credential and ignores any.
pub(super) const fn anyone(method: Method, path: &'static str, status: u16) -> Route {
    let success = Success(status);
    Route {
        viewer: success,
        revoked: success,
        none: success,
        strangers_master: success,
        ..both(method, path, status)
    }
}

/// The same, of a `GET`.
pub(super) const fn open(path: &'static str) -> Route {
    anyone(READ, path, 200)
}
