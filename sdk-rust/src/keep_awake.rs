//! Keeps the workload awake while it runs workflows, by one work lease for all of them. Without one they go on too, until
//! the platform puts the workload to sleep; then its next start resumes them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::select;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::call::{Access, Shared};
use crate::work_lease::{WorkLeaseHandle, WorkLeaseOptions};

/// Shorter ones keep it awake by their calls, and need no lease.
const SOON: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_secs(10);
/// The longest run.
const RENEW_FOR: Duration = Duration::from_secs(604_800);

#[derive(Clone, Copy, Default)]
struct State {
    runs: usize,
    /// Whether a task looks after the lease.
    kept: bool,
}

#[derive(Default)]
pub(crate) struct Awake {
    state: watch::Sender<State>,
}

impl Awake {
    /// From now on, until the hold is dropped.
    pub(crate) fn hold(access: &Access) -> Hold {
        let state = &access.shared.awake.state;
        let mut begins = false;
        state.send_modify(|state| {
            state.runs += 1;
            begins = !state.kept;
            state.kept = true;
        });
        if begins {
            tokio::spawn(keep(Arc::downgrade(&access.shared), state.subscribe()));
        }
        Hold { access: access.clone() }
    }

    /// Whether no run is left, so that nobody looks after the lease any more.
    fn ends(&self) -> bool {
        let mut ends = false;
        self.state.send_if_modified(|state| {
            ends = state.runs == 0;
            state.kept = !ends;
            false
        });
        ends
    }
}

pub(crate) struct Hold {
    access: Access,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.access.shared.awake.state.send_modify(|state| state.runs -= 1);
    }
}

/// Holds no client without a lease: once all are dropped, it ends.
async fn keep(shared: Weak<Shared>, mut state: watch::Receiver<State>) {
    let mut lease: Option<WorkLeaseHandle> = None;
    let mut due = Instant::now() + SOON;
    loop {
        let is_idle = state.borrow_and_update().runs == 0;
        let changed = state.changed();
        match &lease {
            held if is_idle => select! {
                changed = changed => {
                    if changed.is_err() {
                        return;
                    }
                    if held.is_none() {
                        due = Instant::now() + SOON;
                    }
                }
                () = sleep(SOON) => {
                    if shared.upgrade().is_none_or(|shared| shared.awake.ends()) {
                        // Dropping the lease releases it.
                        return;
                    }
                }
            },
            None => select! {
                _ = changed => {}
                () = sleep_until(due) => {
                    let Some(shared) = shared.upgrade() else { return };
                    lease = WorkLeaseHandle::acquire(&Access { shared }, options()).await.ok();
                    due = Instant::now() + AGAIN;
                }
            },
            Some(held) => select! {
                _ = changed => {}
                _ = held.lost() => {
                    lease = None;
                    due = Instant::now() + AGAIN;
                }
            },
        }
    }
}

fn options() -> WorkLeaseOptions {
    WorkLeaseOptions {
        reason: Some("Runs workflows".to_owned()),
        renew_for: RENEW_FOR,
        ..WorkLeaseOptions::default()
    }
}
