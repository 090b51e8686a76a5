//! Rebuilds the crate when a migration is added. Cargo does not track the files that `embed_migrations!` reads.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
