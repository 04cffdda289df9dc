//! Work leases keep a workload awake while it works without receiving requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::select;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::call::{Access, Call};
use crate::error::{Error, Result};
use crate::signal::Signal;
use crate::wire::{CreateWorkLease, ErrorCode, RenewWorkLease, WorkLease, WorkLeaseAnswer, routes};

/// Two renewals may fail before the lease is lost.
const RENEWALS_IN_A_DURATION: u32 = 3;

/// What a work lease is for.
#[derive(Clone, Debug)]
pub struct WorkLeaseOptions {
    /// How long it lasts unless it is renewed: 15 to 300 s; default 60 s.
    pub duration: Duration,
    /// Why, for the owner to read: one line of at most 200 characters.
    pub reason: Option<String>,
    /// Renews the lease by itself until this much time has passed since it was made, at a third of its duration each;
    /// default 0, never. Afterwards it runs out.
    pub renew_for: Duration,
}

impl Default for WorkLeaseOptions {
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(60),
            reason: None,
            renew_for: Duration::ZERO,
        }
    }
}

/// A work lease. Dropping the handle releases it.
#[must_use = "dropping it releases the lease"]
pub struct WorkLeaseHandle {
    held: Arc<Held>,
    keeper: AbortHandle,
}

struct Held {
    access: Access,
    id: String,
    duration: Duration,
    renew_until: Instant,
    state: Mutex<State>,
    over: Signal,
}

struct State {
    expires_at: String,
    /// When it ends, by this process's own clock.
    end: Instant,
    released: bool,
}

impl WorkLeaseHandle {
    pub(crate) async fn acquire(access: &Access, options: WorkLeaseOptions) -> Result<Self> {
        let WorkLeaseOptions {
            duration,
            reason,
            renew_for,
        } = options;
        let body = CreateWorkLease {
            reason,
            ..CreateWorkLease::new(duration.as_secs())
        };
        // The platform counts from when it receives the request, so the lease never ends before this time.
        let begun = Instant::now();
        let call = Call::new(&routes::WORK_LEASES_CREATE).body(&body)?;
        let WorkLease { id, expires_at } = access.json::<WorkLeaseAnswer>(call).await?.lease;
        let state = Mutex::new(State {
            expires_at,
            end: begun + duration,
            released: false,
        });
        let renew_until = begun + renew_for;
        let held = Held {
            access: access.clone(),
            id,
            duration,
            renew_until,
            state,
            over: Signal::new(),
        };
        let held = Arc::new(held);
        let keeper = tokio::spawn(keep(Arc::clone(&held))).abort_handle();
        Ok(Self { held, keeper })
    }

    /// Names it.
    pub fn id(&self) -> &str {
        &self.held.id
    }

    /// When it ends (RFC 3339); each renewal changes it.
    pub fn expires_at(&self) -> String {
        self.held.state().expires_at.clone()
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.held.over.reason().is_some()
    }

    /// Waits until it is lost: it ran out, or the platform ended it.
    pub async fn lost(&self) -> Error {
        self.held.over.wait().await
    }

    /// Renews it for its duration, from now on.
    ///
    /// # Errors
    ///
    /// `not_found` when it is over.
    pub async fn renew(&self) -> Result<()> {
        self.held.renew().await
    }

    /// Ends it; harmless when it is over already.
    ///
    /// # Errors
    ///
    /// When the platform cannot be reached; it then runs out by itself.
    pub async fn release(self) -> Result<()> {
        self.held.state().released = true;
        if self.is_over() {
            return Ok(());
        }
        match release(&self.held.access, &self.held.id).await {
            Err(error) if !error.is_refusal(&ErrorCode::NotFound) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for WorkLeaseHandle {
    fn drop(&mut self) {
        self.keeper.abort();
        if self.is_over() || self.held.state().released {
            return;
        }
        let held = Arc::clone(&self.held);
        self.held
            .access
            .in_background(async move { release(&held.access, &held.id).await });
    }
}

impl std::fmt::Debug for WorkLeaseHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WorkLeaseHandle")
            .field("id", &self.held.id)
            .finish_non_exhaustive()
    }
}

impl Held {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn renew(&self) -> Result<()> {
        let begun = Instant::now();
        match renew(&self.access, &self.id, None).await {
            Ok(lease) => {
                let mut state = self.state();
                state.expires_at = lease.expires_at;
                state.end = begun + self.duration;
                Ok(())
            }
            Err(error) => {
                if error.is_refusal(&ErrorCode::NotFound) {
                    self.over.raise(lost("The platform ended it."));
                }
                Err(error)
            }
        }
    }
}

/// Renews it as long as it should, and says when it is over.
async fn keep(held: Arc<Held>) {
    while held.over.reason().is_none() {
        let end = held.state().end;
        let next = Instant::now() + held.duration / RENEWALS_IN_A_DURATION;
        if next >= end || next >= held.renew_until {
            sleep_until(end).await;
            // A renewal of the program's own may have moved the end.
            if Instant::now() >= held.state().end {
                held.over.raise(lost("It ran out."));
            }
            continue;
        }
        sleep_until(next).await;
        select! {
            // Tried again until the lease is over.
            _ = held.renew() => {}
            () = sleep_until(end) => {}
        }
    }
}

pub(crate) async fn renew(access: &Access, id: &str, duration: Option<Duration>) -> Result<WorkLease> {
    let body = RenewWorkLease {
        duration_seconds: duration.map(|duration| duration.as_secs()),
    };
    let call = Call::new(&routes::WORK_LEASES_RENEW)
        .parameter(id)
        .body(&body)?
        .repeatable(true);
    Ok(access.json::<WorkLeaseAnswer>(call).await?.lease)
}

pub(crate) async fn release(access: &Access, id: &str) -> Result<()> {
    access
        .empty(Call::new(&routes::WORK_LEASES_RELEASE).parameter(id))
        .await
}

fn lost(why: &str) -> Error {
    Error::LeaseLost(format!("The work lease is over. {why}"))
}
