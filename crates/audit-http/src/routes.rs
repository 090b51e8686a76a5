//! The table of routes: routes are registered from it, `audit-server routes` prints it, and tests compare with it.

mod actions;
mod alert_rules;
mod alerts;
mod deliveries;
mod destination_replays;
mod destination_sends;
mod destinations;
mod documentation;
mod erasures;
mod events;
mod export;
mod feed;
mod filter;
mod holds;
mod key_limits;
mod keys;
mod log;
mod master_keys;
mod operations;
mod portal;
mod projects;
mod proofs;
mod redaction;
mod redaction_trial;
mod removals;
mod report;
mod retention;
mod rule_conditions;
mod streams;
mod summary;
mod tenants;
mod usage;
mod viewer_tiers;
mod viewer_tokens;
mod webhooks;

use crate::about::About;
use crate::cors;
use crate::error::ApiError;
use crate::metrics::RouteCounters;
use crate::openapi::{CredentialKind, Facts, facts_of};
use crate::state::HttpState;
use actix_web::http::Method;
use actix_web::{HttpRequest, Route, guard, web};
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(crate) use alerts::AlertBody;
pub use report::report_json;

/// The path of the metrics, which a listener of their own may serve.
const METRICS: &str = "/metrics";

/// One endpoint.
pub struct Endpoint {
    /// The module of the handler.
    module: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path; parts in braces are parameters, and `{path}` is the rest of it, slashes included.
    pub path: &'static str,
    route: fn(Method) -> Route,
    pub(crate) facts: fn() -> Facts,
    pub(crate) about: fn() -> About,
}

impl Endpoint {
    fn method(&self) -> Method {
        Method::from_bytes(self.method.as_bytes()).unwrap_or_default()
    }
}

/// Makes an [`Endpoint`] of a method, a path and a handler. Its documentation is the function of the same name in the module
/// `about` of the module of the handler.
macro_rules! endpoint {
    ($method:ident $path:expr => $module:ident :: $handler:ident) => {
        Endpoint {
            module: stringify!($module),
            method: stringify!($method),
            path: $path,
            route: |method| of_method(method).to($module::$handler),
            facts: || facts_of($module::$handler),
            about: $module::about::$handler,
        }
    };
}

/// A route of this method. The guard of the framework notes the methods of a resource with each request, for a response that
/// [`register`] makes itself.
fn of_method(method: Method) -> Route {
    web::route().guard(guard::fn_guard(move |context| context.head().method == method))
}

/// Every endpoint.
pub static ENDPOINTS: &[Endpoint] = &[
    endpoint!(POST "/api/v1/events" => events::ingest),
    endpoint!(GET "/api/v1/events" => events::list),
    endpoint!(GET "/api/v1/events/summary" => summary::summarize),
    endpoint!(GET "/api/v1/events/feed" => feed::follow),
    endpoint!(GET "/api/v1/events/export" => export::export),
    endpoint!(GET "/api/v1/events/{id}" => events::get),
    endpoint!(GET "/api/v1/events/{id}/proof" => proofs::proof),
    endpoint!(GET "/api/v1/events/{id}/receipt" => proofs::receipt),
    endpoint!(GET "/api/v1/log/checkpoint" => log::checkpoint),
    endpoint!(GET "/api/v1/log/tile/{path}" => log::tile),
    endpoint!(GET "/api/v1/log/consistency" => log::consistency),
    endpoint!(GET "/api/v1/log/key" => log::key),
    endpoint!(GET "/api/v1/log/key/rotations" => log::rotations),
    endpoint!(GET "/api/v1/log/completeness" => log::completeness),
    endpoint!(GET "/api/v1/log/tenants" => log::tenants),
    endpoint!(GET "/api/v1/log/removals" => removals::list),
    endpoint!(GET "/api/v1/log/report" => report::get),
    endpoint!(GET "/api/v1/tenants" => tenants::list),
    endpoint!(POST "/api/v1/keys" => keys::create),
    endpoint!(GET "/api/v1/keys" => keys::list),
    endpoint!(GET "/api/v1/keys/{id}" => keys::get),
    endpoint!(PATCH "/api/v1/keys/{id}" => keys::change),
    endpoint!(DELETE "/api/v1/keys/{id}" => keys::revoke),
    endpoint!(POST "/api/v1/keys/{id}/rotate" => keys::rotate),
    endpoint!(POST "/api/v1/master-keys" => master_keys::create),
    endpoint!(GET "/api/v1/master-keys" => master_keys::list),
    endpoint!(GET "/api/v1/master-keys/{id}" => master_keys::get),
    endpoint!(DELETE "/api/v1/master-keys/{id}" => master_keys::revoke),
    endpoint!(POST "/api/v1/master-keys/{id}/rotate" => master_keys::rotate),
    endpoint!(POST "/api/v1/projects" => projects::create),
    endpoint!(GET "/api/v1/projects" => projects::list),
    endpoint!(GET "/api/v1/projects/{id}" => projects::get),
    endpoint!(PATCH "/api/v1/projects/{id}" => projects::change),
    endpoint!(GET "/api/v1/usage" => usage::get),
    endpoint!(GET "/api/v1/redaction/rules" => redaction::list),
    endpoint!(POST "/api/v1/redaction/rules" => redaction::create),
    endpoint!(GET "/api/v1/redaction/rules/{id}" => redaction::get),
    endpoint!(PUT "/api/v1/redaction/rules/{id}" => redaction::change),
    endpoint!(DELETE "/api/v1/redaction/rules/{id}" => redaction::delete),
    endpoint!(POST "/api/v1/redaction/test" => redaction_trial::test),
    endpoint!(POST "/api/v1/viewer-tokens" => viewer_tokens::create),
    endpoint!(GET "/api/v1/portal" => portal::get),
    endpoint!(PATCH "/api/v1/portal" => portal::change),
    endpoint!(GET "/api/v1/portal/{project_id}/sign-in" => portal::sign_in),
    endpoint!(GET "/api/v1/actions" => actions::list),
    endpoint!(GET "/api/v1/actions/labels" => actions::labels),
    endpoint!(PUT "/api/v1/actions/{action}" => actions::put),
    endpoint!(DELETE "/api/v1/actions/{action}" => actions::delete),
    endpoint!(POST "/api/v1/viewer-tiers" => viewer_tiers::create),
    endpoint!(GET "/api/v1/viewer-tiers" => viewer_tiers::list),
    endpoint!(GET "/api/v1/viewer-tiers/{name}" => viewer_tiers::get),
    endpoint!(PATCH "/api/v1/viewer-tiers/{name}" => viewer_tiers::change),
    endpoint!(DELETE "/api/v1/viewer-tiers/{name}" => viewer_tiers::delete),
    endpoint!(GET "/api/v1/alerts/rules" => alert_rules::list),
    endpoint!(POST "/api/v1/alerts/rules" => alert_rules::create),
    endpoint!(GET "/api/v1/alerts/rules/{id}" => alert_rules::get),
    endpoint!(PATCH "/api/v1/alerts/rules/{id}" => alert_rules::change),
    endpoint!(DELETE "/api/v1/alerts/rules/{id}" => alert_rules::delete),
    endpoint!(GET "/api/v1/alerts/webhooks" => webhooks::list),
    endpoint!(POST "/api/v1/alerts/webhooks" => webhooks::create),
    endpoint!(GET "/api/v1/alerts/webhooks/{id}" => webhooks::get),
    endpoint!(PATCH "/api/v1/alerts/webhooks/{id}" => webhooks::change),
    endpoint!(DELETE "/api/v1/alerts/webhooks/{id}" => webhooks::delete),
    endpoint!(POST "/api/v1/alerts/webhooks/{id}/rotate-secret" => webhooks::rotate_secret),
    endpoint!(POST "/api/v1/alerts/webhooks/{id}/test" => deliveries::test),
    endpoint!(GET "/api/v1/alerts/webhooks/{id}/deliveries" => deliveries::list),
    endpoint!(GET "/api/v1/alerts/deliveries/{id}" => deliveries::get),
    endpoint!(POST "/api/v1/alerts/deliveries/{id}/retry" => deliveries::retry),
    endpoint!(GET "/api/v1/alerts" => alerts::list),
    endpoint!(GET "/api/v1/alerts/{id}" => alerts::get),
    endpoint!(PATCH "/api/v1/alerts/{id}" => alerts::change),
    endpoint!(GET "/api/v1/destinations" => destinations::list),
    endpoint!(POST "/api/v1/destinations" => destinations::create),
    endpoint!(GET "/api/v1/destinations/{id}" => destinations::get),
    endpoint!(PATCH "/api/v1/destinations/{id}" => destinations::change),
    endpoint!(DELETE "/api/v1/destinations/{id}" => destinations::delete),
    endpoint!(POST "/api/v1/destinations/{id}/test" => destination_sends::test),
    endpoint!(GET "/api/v1/destinations/{id}/preview" => destination_sends::preview),
    endpoint!(POST "/api/v1/destinations/{id}/replay" => destination_replays::replay),
    endpoint!(DELETE "/api/v1/destinations/{id}/replay" => destination_replays::stop_replay),
    endpoint!(GET "/api/v1/destinations/{id}/set-aside" => destination_sends::set_aside),
    endpoint!(POST "/api/v1/destinations/{id}/set-aside/resend" => destination_sends::resend),
    endpoint!(GET "/api/v1/retention" => retention::get),
    endpoint!(PUT "/api/v1/retention" => retention::set),
    endpoint!(GET "/api/v1/retention/preview" => retention::preview),
    endpoint!(POST "/api/v1/retention/confirm" => retention::confirm),
    endpoint!(POST "/api/v1/retention/cancel" => retention::cancel),
    endpoint!(GET "/api/v1/holds" => holds::list),
    endpoint!(POST "/api/v1/holds" => holds::place),
    endpoint!(POST "/api/v1/holds/{id}/release" => holds::release),
    endpoint!(POST "/api/v1/erasures" => erasures::request),
    endpoint!(GET "/api/v1/erasures" => erasures::list),
    endpoint!(GET "/api/v1/erasures/{id}" => erasures::get),
    endpoint!(DELETE "/api/v1/erasures/{id}" => erasures::cancel),
    endpoint!(GET "/api/v1/erasures/{id}/events" => erasures::events),
    endpoint!(POST "/api/v1/erasures/{id}/exclude" => erasures::exclude),
    endpoint!(POST "/api/v1/erasures/{id}/confirm" => erasures::confirm),
    endpoint!(POST "/api/v1/streams/claim" => streams::claim),
    endpoint!(POST "/api/v1/streams/{token}/events" => streams::ingest),
    endpoint!(GET "/api/v1/streams/{token}/info" => streams::info),
    endpoint!(GET "/api/v1/openapi.json" => documentation::openapi),
    endpoint!(GET "/docs" => documentation::page),
    endpoint!(GET "/docs/scalar.js" => documentation::library),
    endpoint!(GET "/healthz" => operations::healthz),
    endpoint!(GET "/readyz" => operations::readyz),
    endpoint!(GET METRICS => operations::metrics),
];

/// The paths of [`ENDPOINTS`] that every kind of credential may read, which web pages do with viewer tokens. Destinations of tenants are for
/// the portal, whose origin is that of the server.
pub(crate) static VIEWER_READS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let is_viewer_read = |endpoint: &&Endpoint| {
        let credentials = (endpoint.facts)().credentials;
        endpoint.method == "GET" && credentials.is_some_and(|kinds| kinds == CredentialKind::ALL)
    };
    ENDPOINTS
        .iter()
        .filter(is_viewer_read)
        .map(|endpoint| endpoint.path)
        .collect()
});

/// The route that a request was passed to. Each resource has its own among its data, so finding it matches no path again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedRoute {
    /// The path of its endpoints, with the names of parameters: a path itself can hold a stream's token or a customer's id.
    pub(crate) path: &'static str,
    /// Whether it is one of [`VIEWER_READS`].
    pub(crate) is_viewer_read: bool,
}

impl MatchedRoute {
    /// The route of a path, also of one that belongs to a page and is no endpoint.
    pub(crate) fn at(path: &'static str) -> Self {
        Self {
            path,
            is_viewer_read: VIEWER_READS.contains(path),
        }
    }

    /// The route of a request; `None` where no route has its path. The path of a request that was refused before it reached its
    /// resource is matched here.
    pub(crate) fn of(request: &HttpRequest) -> Option<Self> {
        let matched_again = || {
            let pattern = request.match_pattern()?;
            let mut endpoints = ENDPOINTS.iter();
            let endpoint = endpoints.find(|endpoint| pattern_of(endpoint.path) == pattern)?;
            Some(Self::at(endpoint.path))
        };
        request.app_data().copied().or_else(matched_again)
    }
}

/// The path of an endpoint as actix-web writes it.
fn pattern_of(path: &str) -> String {
    path.replace("{path}", "{path:.*}")
}

/// Which endpoints a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// All of them.
    Whole,
    /// All but `/metrics`, which another listener serves.
    WithoutMetrics,
    /// Those for operators: `/healthz`, `/readyz` and `/metrics`.
    Operations,
}

impl Surface {
    fn has(self, endpoint: &Endpoint) -> bool {
        match self {
            Self::Whole => true,
            Self::WithoutMetrics => endpoint.path != METRICS,
            Self::Operations => endpoint.module == "operations",
        }
    }
}

/// Registers the endpoints of a surface, and the preflights of what web pages read; another method of a known path is 405,
/// another path 404. So is every method of a stream's path if streams are switched off.
pub(crate) fn register(config: &mut web::ServiceConfig, surface: Surface, without_streams: bool) {
    let served = ENDPOINTS.iter().filter(|endpoint| surface.has(endpoint));
    let is_off = |endpoint: &&Endpoint| without_streams && endpoint.module == "streams";
    let (off, on): (Vec<_>, Vec<_>) = served.partition(is_off);
    for endpoint in off {
        let refuse = web::route().to(|| async { Err::<&str, _>(ApiError::StreamsOff) });
        let resource = web::resource(endpoint.path).app_data(MatchedRoute::at(endpoint.path));
        config.service(resource.default_service(refuse));
    }
    let mut paths: Vec<&'static str> = on.iter().map(|endpoint| endpoint.path).collect();
    paths.dedup();
    for path in paths {
        let mut resource = web::resource(pattern_of(path))
            .app_data(MatchedRoute::at(path))
            .app_data(RouteCounters::default());
        let mut allow: Vec<&str> = Vec::new();
        for endpoint in on.iter().filter(|endpoint| endpoint.path == path) {
            resource = resource.route((endpoint.route)(endpoint.method()));
            allow.push(endpoint.method);
            // HEAD is GET whose body is not sent (RFC 9110, section 9.3.2).
            if endpoint.method() == Method::GET {
                resource = resource.route((endpoint.route)(Method::HEAD));
                allow.push("HEAD");
            }
        }
        let allow = allow.join(", ");
        if MatchedRoute::at(path).is_viewer_read {
            let allow = allow.clone();
            let preflight = move |request: HttpRequest, state: web::Data<HttpState>| {
                let response = cors::preflight(&request, &state, &allow);
                async move { response }
            };
            resource = resource.route(of_method(Method::OPTIONS).to(preflight));
        }
        let refuse = move || {
            let allow = allow.clone();
            async move { Err::<&str, _>(ApiError::MethodNotAllowed { allow }) }
        };
        config.service(resource.default_service(web::route().to(refuse)));
    }
    config.default_service(web::route().to(|| async { Err::<&str, _>(ApiError::NoRoute) }));
}
