//! The use cases of the service, on embedded SQLite.

mod signing;
mod tenant_maps;
