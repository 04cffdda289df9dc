//! The way of a native client to the backend of one installation: HTTP and WebSockets with an endpoint ticket and a
//! data-plane capability, which a person's launch of the app gives.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde::Deserialize;
use tokio::sync::watch;

use crate::call::{Access, Shared};
use crate::client::TIMEOUT;
use crate::credential::Credential;
use crate::error::{Error, Result};
use crate::keep_awake::Awake;
use crate::service_request::ServiceRequest;

/// The kind of ticket that names a URL.
const KIND: &str = "pet1.";

/// The backend of one installation, for a native client. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Backend {
    pub(crate) access: Access,
}

#[derive(Deserialize)]
struct Ticket {
    url: String,
}

impl Backend {
    /// Connects to the backend that a line names, as the app's page in Settings shows it: `<ticket>#<capability>`. Sends
    /// nothing yet.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for what is no such line.
    pub fn connect(line: &str) -> Result<Self> {
        match line.trim().split_once('#') {
            Some((ticket, capability)) => Self::with(ticket, capability),
            None => Err(Error::InvalidRequest(
                "This is not a connection to a backend. Copy it again from the app's page in Settings: \
                 <ticket>#<capability>."
                    .to_owned(),
            )),
        }
    }

    /// The same with the members of a launch descriptor's `backend`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for a ticket of a kind that this client does not know, and for a damaged one.
    pub fn with(endpoint_ticket: &str, capability: &str) -> Result<Self> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if capability.is_empty() || !capability.bytes().all(known) {
            return Err(Error::InvalidRequest("This is not a data-plane capability.".to_owned()));
        }
        let endpoint = endpoint(endpoint_ticket)?;
        let shared = Shared {
            http: crate::transport::open(&endpoint)?,
            api: endpoint,
            credential: Credential::new(capability.to_owned(), None),
            timeout: TIMEOUT,
            awake: Awake::default(),
            background: watch::Sender::default(),
        };
        Ok(Self {
            access: Access {
                shared: Arc::new(shared),
            },
        })
    }

    /// A request on a path of the backend, such as `/notes?limit=10`. The first one starts the backend. Its answers are
    /// returned whatever their status; only a capability that has ended is an error, `unauthenticated`: ask the person for
    /// another launch.
    pub fn request(&self, method: Method, path: &str) -> ServiceRequest {
        ServiceRequest::backend(&self.access, method, path)
    }
}

fn endpoint(ticket: &str) -> Result<String> {
    let Some(content) = ticket.strip_prefix(KIND) else {
        let detail = "This client does not support this kind of endpoint ticket. Update platform-services.";
        return Err(Error::InvalidRequest(detail.to_owned()));
    };
    let damaged = |_| Error::InvalidRequest("The endpoint ticket is damaged.".to_owned());
    let json = URL_SAFE_NO_PAD.decode(content).map_err(|_| ()).map_err(damaged)?;
    let Ticket { url } = serde_json::from_slice(&json).map_err(|_| ()).map_err(damaged)?;
    Ok(url.trim_end_matches('/').to_owned())
}

impl fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Backend").field(&self.access).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPABILITY: &str = "pdc_0000000000000000000000000000000000000000000";

    fn ticket(json: &str) -> String {
        format!("{KIND}{}", URL_SAFE_NO_PAD.encode(json))
    }

    #[test]
    fn a_line_names_a_backend_and_its_capability_stays_out_of_logs() {
        let line = format!(" {}#{CAPABILITY}\n", ticket(r#"{"url":"http://127.0.0.1:1/e/x/"}"#));
        let shown = format!("{:?}", Backend::connect(&line));
        assert!(
            shown.contains("http://127.0.0.1:1/e/x") && !shown.contains("x/\""),
            "{shown}"
        );
        assert!(!shown.contains(CAPABILITY), "{shown}");
    }

    #[test]
    fn what_is_no_connection_is_refused() {
        let good = ticket(r#"{"url":"http://127.0.0.1:1/e/x"}"#);
        for line in [
            String::new(),
            good.clone(),
            format!("{good}#"),
            format!("{good}#a b"),
            format!("pet2.x#{CAPABILITY}"),
            format!("pet1.%#{CAPABILITY}"),
            format!("{}#{CAPABILITY}", ticket("{}")),
        ] {
            assert!(
                matches!(Backend::connect(&line), Err(Error::InvalidRequest(_))),
                "{line}"
            );
        }
    }
}
