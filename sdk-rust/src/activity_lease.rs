//! The lease of a step while its executor runs: renewed until it is settled, given back when nobody waits for it any more.

use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::activity::Execution;
use crate::call::{Access, Counted};
use crate::error::Error;
use crate::signal::Signal;
use crate::wire::{CompleteActivity, ErrorCode, WorkflowError};
use crate::workflows;

/// A third of the lease: two renewals may fail.
const RENEW: Duration = Duration::from_secs(20);
const LEASE: Duration = Duration::from_secs(60);
const RETRY_RENEWAL: Duration = Duration::from_secs(2);

pub(crate) struct HeldLease {
    /// Of the activity.
    pub(crate) id: String,
    pub(crate) token: String,
    /// Raised when another process may go on with the step.
    pub(crate) lost: Signal,
    access: Access,
    run_id: String,
    renewals: AbortHandle,
    is_settled: bool,
    _counted: Counted,
}

impl HeldLease {
    pub(crate) fn new(execution: &Execution, id: &str, token: String, begun: Instant) -> Self {
        let lost = Signal::new();
        let renewals = Renewals {
            access: execution.access.clone(),
            run_id: execution.run_id.clone(),
            id: id.to_owned(),
            token: token.clone(),
            stopped: execution.stopped.clone(),
            lost: lost.clone(),
            expires: begun + LEASE,
        };
        Self {
            id: id.to_owned(),
            token,
            lost,
            access: execution.access.clone(),
            run_id: execution.run_id.clone(),
            // On its own, so that an executor that keeps its thread busy does not hold it up.
            renewals: tokio::spawn(renewals.run()).abort_handle(),
            is_settled: false,
            _counted: execution.access.counted(),
        }
    }

    pub(crate) fn settled(&mut self) {
        self.is_settled = true;
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewals.abort();
        if self.is_settled {
            return;
        }
        let (access, run_id, id) = (self.access.clone(), self.run_id.clone(), self.id.clone());
        let message = "The execution of this step was dropped.".to_owned();
        let lease_token = self.token.clone();
        let body = CompleteActivity::Error {
            lease_token,
            error: WorkflowError { code: None, message },
        };
        // Others need not wait until it expires.
        self.access
            .in_background(async move { workflows::settle(&access, &run_id, &id, &body).await });
    }
}

struct Renewals {
    access: Access,
    run_id: String,
    id: String,
    token: String,
    stopped: Signal,
    lost: Signal,
    /// By this process's own clock; the platform counts from later.
    expires: Instant,
}

impl Renewals {
    async fn run(mut self) {
        let mut wait = RENEW;
        loop {
            sleep(wait).await;
            let begun = Instant::now();
            let Self {
                access,
                run_id,
                id,
                token,
                ..
            } = &self;
            match workflows::renew(access, run_id, id, token, RENEW).await {
                Ok(()) => {
                    self.expires = begun + LEASE;
                    wait = RENEW;
                }
                Err(error) if is_ended(&error) => return self.stopped.raise(error),
                Err(error) if error.is_refusal(&ErrorCode::LeaseLost) => {
                    return self.lost.raise(error);
                }
                Err(error) if Instant::now() >= self.expires => {
                    let detail = format!(
                        "The lease could not be renewed in time ({error}). Another process may have claimed this step."
                    );
                    return self.lost.raise(Error::LeaseLost(detail));
                }
                Err(_) => wait = RETRY_RENEWAL,
            }
        }
    }
}

fn is_ended(error: &Error) -> bool {
    error.is_refusal(&ErrorCode::WorkflowNotRunning) || error.is_refusal(&ErrorCode::NotFound)
}
