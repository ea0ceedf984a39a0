// Tells the programs the versions of the peers, from Cargo.lock.
use std::fs;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    for name in ["rayon", "chili"] {
        let version = lock
            .split("[[package]]")
            .find(|p| p.contains(&format!("name = \"{name}\"\n")))
            .and_then(|p| p.split("version = \"").nth(1))
            .and_then(|p| p.split('"').next())
            .unwrap_or("?");
        println!("cargo:rustc-env=KITH_BENCH_{}_VERSION={version}", name.to_uppercase());
    }
}
