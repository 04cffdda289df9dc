//! Repeats calls that may be repeated, with growing pauses that do not all end at once.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};
use crate::wire::ErrorCode;

/// How long, and how.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// No further attempt begins after this.
    pub(crate) total: Duration,
    pub(crate) attempts: u32,
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    /// Whether the same call may succeed later.
    pub(crate) passes: fn(&Error) -> bool,
}

/// A restart of the platform or its database takes seconds.
pub(crate) const WHILE_THE_PLATFORM_RESTARTS: Patience = Patience {
    total: Duration::from_secs(120),
    attempts: u32::MAX,
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(5),
    passes: passes_with_time,
};

/// For calls that a program waits for: as long as the platform cannot be reached for a moment.
pub(crate) const BRIEFLY: Patience = Patience {
    total: Duration::from_secs(7),
    attempts: 3,
    first_pause: Duration::from_millis(300),
    longest_pause: Duration::from_secs(1),
    passes: passes_at_once,
};

pub(crate) const ONCE: Patience = Patience { attempts: 1, ..BRIEFLY };

fn passes_with_time(error: &Error) -> bool {
    match error {
        Error::Network(_) | Error::TimedOut(_) => true,
        Error::Refused(refusal) => {
            refusal.status >= 500 || matches!(refusal.code, ErrorCode::RateLimited | ErrorCode::ConcurrencyLimited)
        }
        _ => false,
    }
}

/// Nobody there, or somebody on the way who could not hand it on; not what was decided, such as a pause of the account.
fn passes_at_once(error: &Error) -> bool {
    match error {
        Error::Network(_) => true,
        Error::Refused(refusal) => {
            matches!(refusal.status, 502..=504)
                && !matches!(refusal.code, ErrorCode::RuntimePaused | ErrorCode::TransportUnavailable)
        }
        _ => false,
    }
}

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
            Err(error) if (patience.passes)(&error) => error,
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
