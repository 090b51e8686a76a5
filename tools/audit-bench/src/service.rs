//! The server under test, its database and the processes of both.

pub(crate) mod database;
mod postgres;
pub(crate) mod process;
mod server;

pub(crate) use database::Database;
pub(crate) use postgres::Cluster;
pub(crate) use server::{Organization, Server, server_binary};
