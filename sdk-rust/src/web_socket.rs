//! WebSockets to a backend, over the connections and the TLS of its requests.

use std::fmt;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    AUTHORIZATION, CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use reqwest::{StatusCode, Upgraded};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error as SocketError;
/// A message of a WebSocket.
pub use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::backend::Backend;
use crate::call::{bearer, network, refusal};
use crate::error::{Error, Result};
use crate::service_request::{below_endpoint, is_ended};

/// An open WebSocket. The platform closes it when its capability ends.
pub struct WebSocket {
    stream: WebSocketStream<Upgraded>,
    protocol: Option<String>,
}

impl Backend {
    /// Opens a WebSocket on a path of the backend.
    ///
    /// # Errors
    ///
    /// `unauthenticated` for a capability that has ended, [`Error::InvalidAnswer`] when the backend declines, and
    /// [`Error::Network`].
    pub async fn web_socket(&self, path: &str) -> Result<WebSocket> {
        self.web_socket_with(path, &[]).await
    }

    /// The same with subprotocols, of which the backend may accept one.
    ///
    /// # Errors
    ///
    /// As [`web_socket`](Self::web_socket).
    pub async fn web_socket_with(&self, path: &str, protocols: &[&str]) -> Result<WebSocket> {
        let shared = &self.access.shared;
        let key = generate_key();
        let mut request = shared
            .http
            .get(below_endpoint(&shared.api, path)?)
            .header(AUTHORIZATION, bearer(&shared.credential.token())?)
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        if !protocols.is_empty() {
            request = request.header(SEC_WEBSOCKET_PROTOCOL, protocols.join(", "));
        }
        let response = request.send().await.map_err(network)?;
        if is_ended(&response) {
            return Err(refusal(response).await);
        }
        let field = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let accepted = field(SEC_WEBSOCKET_ACCEPT);
        if response.status() != StatusCode::SWITCHING_PROTOCOLS || accepted != Some(derive_accept_key(key.as_bytes())) {
            let status = response.status().as_u16();
            return Err(Error::InvalidAnswer(format!("The WebSocket was answered {status}.")));
        }
        let protocol = field(SEC_WEBSOCKET_PROTOCOL);
        let upgraded = response.upgrade().await.map_err(network)?;
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
        Ok(WebSocket { stream, protocol })
    }
}

impl WebSocket {
    /// The subprotocol that the backend accepted.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// # Errors
    ///
    /// [`Error::Network`] when the connection has ended.
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<()> {
        self.stream.send(message.into()).await.map_err(broken)
    }

    /// The next message; `None` once the WebSocket is closed.
    ///
    /// # Errors
    ///
    /// [`Error::Network`] when the connection broke off, as when the capability has ended.
    pub async fn receive(&mut self) -> Result<Option<Message>> {
        match self.stream.next().await {
            None | Some(Ok(Message::Close(_)) | Err(SocketError::ConnectionClosed)) => Ok(None),
            Some(message) => message.map(Some).map_err(broken),
        }
    }

    /// Closes it, after what was sent before.
    ///
    /// # Errors
    ///
    /// [`Error::Network`] when the connection has ended.
    pub async fn close(&mut self) -> Result<()> {
        self.stream.close(None).await.map_err(broken)
    }
}

fn broken(error: SocketError) -> Error {
    Error::Network(Arc::new(error))
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebSocket")
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}
