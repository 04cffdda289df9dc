//! Says once, to everybody who asks or waits, that something has ended and why.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::Error;

#[derive(Clone)]
pub(crate) struct Signal {
    raised: Arc<watch::Sender<Option<Error>>>,
}

impl Signal {
    pub(crate) fn new() -> Self {
        Self {
            raised: Arc::new(watch::Sender::new(None)),
        }
    }

    /// The first reason counts.
    pub(crate) fn raise(&self, reason: Error) {
        self.raised.send_if_modified(|present| {
            let first = present.is_none();
            if first {
                *present = Some(reason);
            }
            first
        });
    }

    pub(crate) fn reason(&self) -> Option<Error> {
        self.raised.borrow().clone()
    }

    pub(crate) async fn wait(&self) -> Error {
        let mut receiver = self.raised.subscribe();
        loop {
            if let Some(reason) = receiver.borrow_and_update().clone() {
                return reason;
            }
            if receiver.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
