//! Repeats calls that may be repeated, with growing pauses that do not all end at once.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};

/// How long, and how.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// No further attempt begins after this.
    pub(crate) total: Duration,
    pub(crate) attempts: u32,
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
}

/// A restart of the platform or its database takes seconds.
pub(crate) const WHILE_THE_PLATFORM_RESTARTS: Patience = Patience {
    total: Duration::from_secs(120),
    attempts: u32::MAX,
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(5),
};

/// Repeats the call while the platform may answer otherwise later. Returns the last error once its patience is over.
pub(crate) async fn patiently<T, F, Fut>(patience: Patience, mut call: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T>>,
{
    let end = Instant::now() + patience.total;
    let mut failures = 0;
    loop {
        let error = match call().await {
            Err(error) if error.is_passing() => error,
            outcome => return outcome,
        };
        failures += 1;
        let wait = pause(patience, failures - 1, &error);
        if failures >= patience.attempts || Instant::now() + wait > end {
            return Err(error);
        }
        sleep(wait).await;
    }
}

fn pause(patience: Patience, failures: u32, error: &Error) -> Duration {
    let growing = doubled(patience.first_pause, failures, patience.longest_pause);
    growing
        .mul_f64(0.5 + random())
        .max(error.retry_after().unwrap_or_default())
}

/// The first pause, doubled each time, up to the longest.
pub(crate) fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    let factor = 2_u32.saturating_pow(times);
    first.saturating_mul(factor).min(longest)
}

/// 0 to 1, to spread pauses; no secret is made of it.
pub(crate) fn random() -> f64 {
    // Each RandomState has keys of its own.
    let bits = RandomState::new().hash_one(0) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}
