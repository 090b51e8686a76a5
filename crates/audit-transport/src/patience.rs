//! How long a connection waits for a client that does not read.

use actix_web::HttpRequest;
use actix_web::body::BodySize;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The time in which a client must take bytes of a streamed response, in seconds.
pub const STALL_SECONDS_MAX: u64 = 60;
/// The time in which a client must take bytes of a whole response, which is in memory until then.
const TAKEN_WINDOW_SECONDS: u64 = 15;

/// How long a connection waits for a client that does not read its response. The server puts one into the data of each
/// connection and asks it; each response sets it: a streamed one holds little and may be read more slowly.
#[derive(Clone, Debug)]
pub struct Patience(Rc<Cell<Duration>>);

impl Default for Patience {
    fn default() -> Self {
        Self(Rc::new(Cell::new(Duration::from_secs(TAKEN_WINDOW_SECONDS))))
    }
}

impl Patience {
    /// The time in which a client must take a minimum of bytes.
    #[must_use]
    pub fn get(&self) -> Duration {
        self.0.get()
    }

    /// Sets that of the request's connection for a response of this size.
    pub fn set(request: &HttpRequest, size: BodySize) {
        if let Some(Self(patience)) = request.conn_data() {
            patience.set(Duration::from_secs(match size {
                BodySize::Stream => STALL_SECONDS_MAX,
                BodySize::None | BodySize::Sized(_) => TAKEN_WINDOW_SECONDS,
            }));
        }
    }
}
