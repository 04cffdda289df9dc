//! One activity of a run: claimed, executed while its lease is renewed, completed; or its result, if it was completed
//! before, by whichever process.

use std::time::Duration;

use serde_json::Value;
use tokio::select;
use tokio::time::{Instant, sleep};

use crate::activity_lease::HeldLease;
use crate::call::Access;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::patience::{WHILE_THE_PLATFORM_RESTARTS, doubled, patiently, random};
use crate::signal::Signal;
use crate::wire::{ClaimAnswer, ClaimedActivity, CompleteActivity, ErrorCode};
use crate::workflows;

const GRACE: Duration = Duration::from_secs(5);
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LAST_LOOK: Duration = Duration::from_secs(5);

/// What an executor gets besides its input.
#[derive(Clone)]
pub struct ActivityContext {
    /// The same for every attempt: hand it on to what has the effect, so that this happens once. An executor can be run
    /// again after its effect, when the process dies before the result is kept.
    pub idempotency_key: String,
    /// From 1.
    pub attempt: u64,
    stopped: Signal,
    lost: Signal,
}

impl ActivityContext {
    /// Whether another process may go on with this step, or the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lost.reason().is_some() || self.stopped.reason().is_some()
    }

    /// Waits until another process may go on with this step, or the run was cancelled; returns why.
    pub async fn cancelled(&self) -> Error {
        select! {
            reason = self.lost.wait() => reason,
            reason = self.stopped.wait() => reason,
        }
    }
}

impl std::fmt::Debug for ActivityContext {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("ActivityContext");
        shown
            .field("idempotency_key", &self.idempotency_key)
            .field("attempt", &self.attempt);
        shown
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// When an executor that failed is tried again in this process.
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// Executions, the first one included; default 1.
    pub attempts: u32,
    /// Before the second; default 1 s. Doubles each time.
    pub backoff: Duration,
    /// Default 60 s.
    pub maximum_backoff: Duration,
    /// Codes of failures after which it is not tried again.
    pub non_retryable: Vec<String>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 1,
            backoff: Duration::from_secs(1),
            maximum_backoff: Duration::from_secs(60),
            non_retryable: Vec::new(),
        }
    }
}

/// A run that is being executed in this process.
pub(crate) struct Execution {
    pub(crate) access: Access,
    pub(crate) run_id: String,
    /// Ends the execution, for example because the run was cancelled.
    pub(crate) stopped: Signal,
}

impl Execution {
    /// Patient with the platform until the execution ends.
    pub(crate) async fn patiently<T, F, Fut>(&self, call: F) -> Result<T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        select! {
            biased;
            reason = self.stopped.wait() => Err(reason),
            outcome = patiently(WHILE_THE_PLATFORM_RESTARTS, call) => outcome,
        }
    }

    async fn pause(&self, duration: Duration) -> Result<()> {
        select! {
            biased;
            reason = self.stopped.wait() => Err(reason),
            () = sleep(duration) => Ok(()),
        }
    }
}

pub(crate) struct Step<'a> {
    pub(crate) step: &'a str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
}

enum Attempt {
    Completed(Value),
    Failed(Failure),
    /// Another process has the step now; its result is ours.
    Lost,
}

/// # Errors
///
/// [`Error::Failed`] with what the executor failed with; everything else is what the platform refuses.
pub(crate) async fn run_activity<F, Fut>(
    execution: &Execution,
    step: Step<'_>,
    retry: &RetryPolicy,
    executor: F,
) -> Result<Value>
where
    F: Fn(ActivityContext) -> Fut,
    Fut: Future<Output = std::result::Result<Value, Failure>>,
{
    let mut failures = 0;
    loop {
        let failure = match attempt_once(execution, &step, &executor).await? {
            Attempt::Completed(result) => return Ok(result),
            Attempt::Lost => continue,
            Attempt::Failed(failure) => failure,
        };
        failures += 1;
        let is_final = failure
            .code()
            .is_some_and(|code| retry.non_retryable.iter().any(|known| known == code));
        if failures >= retry.attempts || is_final {
            return Err(Error::Failed(failure));
        }
        let backoff = doubled(retry.backoff, failures - 1, retry.maximum_backoff);
        execution.pause(backoff.mul_f64(0.75 + random() / 2.0)).await?;
    }
}

async fn attempt_once<F, Fut>(execution: &Execution, step: &Step<'_>, executor: &F) -> Result<Attempt>
where
    F: Fn(ActivityContext) -> Fut,
    Fut: Future<Output = std::result::Result<Value, Failure>>,
{
    let (claim, begun) = claim_or_wait(execution, step).await?;
    let activity = match claim {
        ClaimAnswer::Completed { activity } => return Ok(Attempt::Completed(activity.result)),
        ClaimAnswer::Claimed { activity } => activity,
    };
    let ClaimedActivity {
        id,
        attempt,
        lease_token,
        ..
    } = activity;
    let mut lease = HeldLease::new(execution, &id, lease_token, begun);
    let (lost, stopped) = (lease.lost.clone(), execution.stopped.clone());
    let executed = executor(ActivityContext {
        idempotency_key: id,
        attempt,
        stopped,
        lost,
    })
    .await;
    let settled = settle(execution, &lease, executed).await;
    lease.settled();
    settled
}

/// Claims the step; while another process has it, looks again and again. Returns the claim, and when it was sent.
async fn claim_or_wait(execution: &Execution, step: &Step<'_>) -> Result<(ClaimAnswer, Instant)> {
    let mut looks = 0;
    loop {
        let begun = Instant::now();
        let Execution { access, run_id, .. } = execution;
        let claim = execution
            .patiently(|| workflows::claim(access, run_id, step.step, step.name, step.input))
            .await;
        let refused = match claim {
            Err(error) if error.is_refusal(&ErrorCode::ActivityLeased) => error,
            outcome => return Ok((outcome?, begun)),
        };
        let growing = doubled(FIRST_LOOK, looks, LAST_LOOK).min(refused.retry_after().unwrap_or(LAST_LOOK));
        execution.pause(growing.mul_f64(0.5 + random())).await?;
        looks += 1;
    }
}

async fn settle(
    execution: &Execution,
    lease: &HeldLease,
    executed: std::result::Result<Value, Failure>,
) -> Result<Attempt> {
    let failure = match executed {
        Err(failure) => failure,
        Ok(result) => {
            let body = CompleteActivity::Result {
                lease_token: lease.token.clone(),
                result: result.clone(),
            };
            match send(execution, lease, &body).await {
                Ok(()) => return Ok(Attempt::Completed(result)),
                // What cannot be kept is the executor's to mend, for example a result that is too large.
                Err(error) if matches!(error.status(), Some(400 | 413)) => error.into(),
                Err(error) => return lost_or(error),
            }
        }
    };
    let body = CompleteActivity::Error {
        lease_token: lease.token.clone(),
        error: failure.described(),
    };
    match send(execution, lease, &body).await {
        Ok(()) => Ok(Attempt::Failed(failure)),
        Err(error) => lost_or(error),
    }
}

fn lost_or(error: Error) -> Result<Attempt> {
    if error.is_refusal(&ErrorCode::LeaseLost) {
        Ok(Attempt::Lost)
    } else {
        Err(error)
    }
}

/// Goes on a little longer than the execution: what was done is still kept, what was not is given back.
async fn send(execution: &Execution, lease: &HeldLease, body: &CompleteActivity) -> Result<()> {
    let Execution {
        access,
        run_id,
        stopped,
    } = execution;
    let later = async {
        let reason = stopped.wait().await;
        sleep(GRACE).await;
        reason
    };
    select! {
        reason = later => Err(reason),
        outcome = patiently(WHILE_THE_PLATFORM_RESTARTS, || workflows::settle(access, run_id, &lease.id, body)) => outcome,
    }
}
