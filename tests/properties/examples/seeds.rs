//! Writes the seeds of all properties as a corpus: `cargo run -p audit-properties --example seeds -- fuzz/corpus`.

use audit_properties::PROPERTIES;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let directory = env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or_else(|| io::Error::other("usage: seeds DIRECTORY"))?;
    for property in PROPERTIES {
        let corpus = directory.join(property.name);
        fs::create_dir_all(&corpus)?;
        for (number, seed) in (property.seeds)().iter().enumerate() {
            fs::write(corpus.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
