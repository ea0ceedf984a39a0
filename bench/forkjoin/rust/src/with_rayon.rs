mod serve;

fn fib(n: u32) -> i64 {
    if n < 2 {
        return i64::from(n);
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(serve::workers()).build().expect("threads");
    serve::serve(concat!("rayon ", env!("KITH_BENCH_RAYON_VERSION")), |n| pool.install(|| fib(n)));
}
