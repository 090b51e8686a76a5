//! Signals that end a server.

use actix_web::rt::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, from their installation on. A signal that arrives while nothing waits for it ends the next wait.
pub struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl EndSignals {
    /// Installs the handlers. Call it within the runtime.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn install() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one of the signals, and logs which.
    pub async fn wait(&mut self) {
        let name = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        };
        log::info!("{name}");
    }

    /// The output of `work`; `None` if a signal arrives first.
    pub async fn unless_received<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            () = self.wait() => None,
            output = work => Some(output),
        }
    }
}
