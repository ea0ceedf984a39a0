// The main loop of a child of `kith-bench forkjoin`, as bench/support/fork_serve.hpp.
use std::io::{BufRead, Write};
use std::time::Instant;

fn known_fib(n: u32) -> i64 {
    let (mut a, mut b) = (0i64, 1i64);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

extern "C" {
    fn sched_setscheduler(pid: i32, policy: i32, param: *const i32) -> i32;
}
const SCHED_RR: i32 = 2;

/// The number of workers, from the options that every child is started with.
pub fn workers() -> usize {
    let words: Vec<String> = std::env::args().collect();
    if words.iter().any(|w| w == "--realtime") {
        let priority = 50i32;
        // SAFETY: the parameter is one int, as sched_param has on Linux.
        if unsafe { sched_setscheduler(0, SCHED_RR, &priority) } != 0 {
            eprintln!("no real-time scheduling: not permitted; leave --realtime out, or run as root");
            std::process::exit(2);
        }
    }
    words
        .iter()
        .position(|w| w == "--workers")
        .and_then(|at| words.get(at + 1))
        .and_then(|n| n.parse().ok())
        .unwrap_or(1)
}

pub fn serve(version: &str, mut fib: impl FnMut(u32) -> i64) {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let reply = match words.as_slice() {
            ["quit"] => return, // the child ends
            ["hello"] => format!("ok 0 0 {version}"),
            ["dag", "fib", "0", n, "0", "0"] => {
                let n: u32 = n.parse().unwrap_or(0);
                let from = Instant::now();
                let got = fib(n);
                let took = from.elapsed().as_nanos();
                if got == known_fib(n) {
                    format!("ok {took} {}", known_fib(n + 1) - 1)
                } else {
                    format!("no fib({n}) is wrong")
                }
            }
            _ => "no not offered by this system".to_string(),
        };
        println!("{reply}");
        let _ = std::io::stdout().flush();
    }
}
