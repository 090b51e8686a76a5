//! The delivery dispatcher: leases ready deliveries, attempts them and writes the results.
//!
//! A commit that raises many alerts does not write all of their deliveries. Each round first writes a bounded number of those
//! that are missing, and then leases those that are ready.
//!
//! One thread ([`thread`]) schedules and writes. Each attempt runs in a thread of its own, because it may block for its whole
//! timeout. [`Lanes`](audit_webhooks::Lanes) limit the concurrent attempts and order them, so that no webhook delays the deliveries
//! of another. The results of attempts are written in the transaction that leases the next deliveries, so a backlog needs few
//! transactions. All state is in the database: if a process dies during an attempt, its lease expires and the delivery is ready
//! again, on any node.

mod attempt;
mod message;
mod results;
pub(crate) mod thread;
mod transaction;
mod wake;

pub(crate) use results::DeliveryCounters;
pub use results::DeliveryStatistics;
pub(crate) use wake::Wake;
