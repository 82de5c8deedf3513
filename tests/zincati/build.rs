//! Takes Zincati's FleetLock module, as it is, from the crate's sources in $ZINCATI_SOURCE.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=ZINCATI_SOURCE");
    let source = env::var("ZINCATI_SOURCE").expect("ZINCATI_SOURCE: where the crate zincati is");
    let text = fs::read_to_string(Path::new(&source).join("src/fleet_lock/mod.rs")).expect("its module fleet_lock");
    // Comments about the file as a whole cannot stand where it is included.
    let body: Vec<&str> = text.lines().filter(|line| !line.starts_with("//!")).collect();
    let out = Path::new(&env::var("OUT_DIR").unwrap()).join("fleet_lock.rs");
    fs::write(out, body.join("\n")).unwrap();
}
