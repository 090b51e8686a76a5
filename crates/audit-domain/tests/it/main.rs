//! Tests of the crate as its users see it.

mod canonical;
mod event_fields;
mod values;
mod vectors;
