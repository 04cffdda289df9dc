//! The credential of a client. A workload's lasts as long as its process; that of a native client can end before, and is
//! then given anew by whoever launched it.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Gives another credential in place of one that was refused; `None` when there is none.
pub(crate) type Renewal = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync>;

/// After a renewal no other begins for this long: calls that are refused in spite of it would cause renewals without end.
const PAUSE: Duration = Duration::from_secs(30);

pub(crate) struct Credential {
    token: Mutex<String>,
    renewal: Option<Renewal>,
    /// Until when no other renewal begins; held while one is under way.
    pauses_until: tokio::sync::Mutex<Option<Instant>>,
}

impl Credential {
    pub(crate) fn new(token: String, renewal: Option<Renewal>) -> Self {
        Self {
            token: Mutex::new(token),
            renewal,
            pauses_until: tokio::sync::Mutex::new(None),
        }
    }

    pub(crate) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another credential than the refused one. Calls that are refused at the same time wait for one renewal.
    pub(crate) async fn renewed(&self, refused: &str) -> Option<String> {
        let renewal = self.renewal.as_ref()?;
        let mut pauses_until = self.pauses_until.lock().await;
        let present = self.token();
        if present != refused {
            return Some(present);
        }
        if pauses_until.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        let renewed = renewal().await;
        *pauses_until = Some(Instant::now() + PAUSE);
        let token = renewed?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        Some(token)
    }
}
