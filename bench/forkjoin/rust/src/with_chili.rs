mod serve;

use chili::Scope;

fn fib(scope: &mut Scope<'_>, n: u32) -> i64 {
    if n < 2 {
        return i64::from(n);
    }
    let (a, b) = scope.join(|s| fib(s, n - 2), |s| fib(s, n - 1));
    a + b
}

fn main() {
    let config = chili::Config { thread_count: std::num::NonZero::new(serve::workers()), ..Default::default() };
    let pool = chili::ThreadPool::with_config(config);
    serve::serve(concat!("chili ", env!("KITH_BENCH_CHILI_VERSION")), |n| fib(&mut pool.scope(), n));
}
