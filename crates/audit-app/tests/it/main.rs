//! The use cases of the service, on embedded SQLite.

mod signing;
