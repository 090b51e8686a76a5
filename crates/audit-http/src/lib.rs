//! The HTTP interface of the audit log on actix-web: wire types, extractors, routes, error mapping. No rules live here.
//!
//! ```no_run
//! use actix_web::{App, HttpServer, web};
//! use audit_http::{HttpState, Surface};
//!
//! # async fn serve(state: HttpState) -> std::io::Result<()> {
//! let state = web::Data::new(state);
//! let server = HttpServer::new(move || {
//!     App::new().configure(|config| audit_http::configure(config, state.clone(), Surface::Whole))
//! });
//! server.bind("127.0.0.1:8080")?.run().await
//! # }
//! ```
//!
//! Invariants:
//! - Every response is JSON with `request_id`, errors of the framework included. The exceptions have a form of their own:
//!   exports, streams of the feed, checkpoints and tiles, reports to print, `/metrics`, preflights, the OpenAPI document and its page. One
//!   middleware renders all errors.
//! - [`ENDPOINTS`] is the one list of routes. The types of a handler's arguments declare the credentials, parameters and
//!   body of its endpoint, the type of its result the response. The OpenAPI document is made from these types.
//! - A bad credential is reported before a bad body or parameter, and before the body is read.

mod about;
mod access_log;
mod blocking;
mod body;
mod caller;
mod client_address;
mod compression;
mod console_session;
mod cors;
mod csv;
mod error;
mod error_code;
mod event_schema;
mod event_stream;
mod held;
mod input;
mod metrics;
mod middleware;
mod openapi;
mod own_url;
mod owner;
mod parameters;
mod preference;
mod public_url;
mod rate_limit;
mod reply;
mod report_html;
mod request_id;
mod routes;
mod schema;
mod sent_events;
mod state;
mod streaming;
mod time_zones;
mod tls_metrics;
mod unread;
mod vary;
mod xlsx;

pub use error::ApiError;
pub use error_code::ErrorCode;
pub use metrics::MetricTimes;
pub use public_url::{PublicUrl, PublicUrlError};
pub use rate_limit::RateLimit;
pub use report_html::report_html;
pub use routes::{ENDPOINTS, Endpoint, Surface, report_json};
pub use state::{CorsOrigins, HttpOptions, HttpState};

use actix_web::middleware::from_fn;
use actix_web::web;

/// Bytes of a request body, at most.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Adds the interface, or a part of it, to an application.
pub fn configure(config: &mut web::ServiceConfig, state: web::Data<HttpState>, surface: Surface) {
    let without_streams = state.without_streams;
    let has_console = !state.without_pages && surface != Surface::Operations;
    config.app_data(state).service(
        web::scope("")
            .wrap(from_fn(middleware::around_route))
            .configure(|config| {
                if has_console {
                    console_session::register(config);
                }
            })
            .configure(|config| routes::register(config, surface, without_streams)),
    );
}
