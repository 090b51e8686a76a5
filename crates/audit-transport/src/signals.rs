//! Signals that end a server.

use actix_web::rt::signal::unix::Signal;

/// Waits for one of the signals, and logs which.
pub async fn wait_for_signal(terminate: &mut Signal, interrupt: &mut Signal) {
    let name = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    };
    log::info!("{name}");
}
