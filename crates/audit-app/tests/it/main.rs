//! The use cases of the service, on embedded SQLite.

mod sequences;
mod signing;
mod tenant_maps;
