//! The migrations are compiled in; without this, cargo does not notice when one is added.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
