//! A fake platform for tests: answers as it is told, and remembers what was asked. The real one is asked in
//! `tests/interop/` of the repository.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use platform_services::PlatformServicesClient;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "pgw_test";

/// What was asked.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `GET /v1/…?…`
    pub line: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl Seen {
    pub fn is(&self, line: &str) -> bool {
        self.line == line
    }
}

pub enum Reply {
    Json(u16, Value),
    Problem(u16, &'static str),
    /// With `Retry-After`.
    Later(u16, &'static str, u32),
    /// Content type and body.
    Text(u16, &'static str, String),
    /// With this `ETag`, content type and body.
    Tagged(&'static str, &'static str, String),
    /// With `Location`.
    Redirect(String),
    /// The connection ends.
    Close,
    /// Nothing ever comes.
    Silence,
}

pub struct Platform {
    pub url: String,
    seen: Arc<watch::Sender<Vec<Seen>>>,
}

impl Platform {
    pub async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(watch::Sender::new(Vec::new()));
        let answer = Arc::new(answer);
        let kept = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                let service = service_fn(move |request| handle(Arc::clone(&seen), Arc::clone(&answer), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, seen }
    }

    pub fn client(&self) -> PlatformServicesClient {
        PlatformServicesClient::builder(&self.url, TOKEN).build().unwrap()
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    pub fn count(&self, line: &str) -> usize {
        self.seen.borrow().iter().filter(|seen| seen.is(line)).count()
    }

    /// Waits until this was asked so often.
    pub async fn until(&self, line: &str, times: usize) {
        let asked = |all: &Vec<Seen>| all.iter().filter(|seen| seen.is(line)).count() >= times;
        self.seen.subscribe().wait_for(asked).await.unwrap();
    }
}

async fn handle<A: Fn(&Seen) -> Reply>(
    all: Arc<watch::Sender<Vec<Seen>>>,
    answer: Arc<A>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    let line = format!("{} {}", request.method(), request.uri());
    let field = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap_or_default().to_owned())
    };
    let headers = request.headers().iter().map(field).collect();
    let body = request
        .into_body()
        .collect()
        .await
        .map_err(std::io::Error::other)?
        .to_bytes();
    let seen = Seen {
        line,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let reply = answer(&seen);
    all.send_modify(|all| all.push(seen));
    let response = |status: u16, kind: &str, body: String| {
        Response::builder()
            .status(status)
            .header("content-type", kind)
            .body(Full::from(body))
            .unwrap()
    };
    let problem = |status: u16, code: &str| {
        let document = json!({ "type": format!("urn:platform:error:{code}"), "title": code, "status": status,
            "detail": format!("Refused with {code}."), "code": code, "requestId": "req-1" });
        response(status, "application/problem+json", document.to_string())
    };
    Ok(match reply {
        Reply::Json(204, _) => Response::builder().status(204).body(Full::default()).unwrap(),
        Reply::Json(status, body) => response(status, "application/json", body.to_string()),
        Reply::Problem(status, code) => problem(status, code),
        Reply::Later(status, code, seconds) => {
            let mut response = problem(status, code);
            response.headers_mut().insert("retry-after", seconds.into());
            response
        }
        Reply::Text(status, kind, body) => response(status, kind, body),
        Reply::Tagged(etag, kind, body) => {
            let mut response = response(200, kind, body);
            response.headers_mut().insert("etag", etag.parse().unwrap());
            response
        }
        Reply::Redirect(to) => Response::builder()
            .status(307)
            .header("location", to)
            .body(Full::default())
            .unwrap(),
        Reply::Close => return Err(std::io::Error::other("closed by the test")),
        Reply::Silence => pending().await,
    })
}

/// Time of the runtime stands still except for `tokio::time::advance`. Without this, tokio moves a paused clock forward
/// whenever all tasks wait, also for a socket.
pub struct HeldClock {
    _release: std::sync::mpsc::Sender<Infallible>,
}

impl HeldClock {
    /// In a test with `start_paused = true`.
    pub fn hold() -> Self {
        let (release, held) = std::sync::mpsc::channel::<Infallible>();
        tokio::task::spawn_blocking(move || held.recv());
        Self { _release: release }
    }
}

/// Lets every task go on, and sockets be read, several times: what follows from what happened so far has then happened.
pub async fn settled() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
        // The sockets are polled when the runtime has nothing else to do.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }
}

pub fn notification(title: &str) -> Value {
    json!({ "id": "ntf-1", "appId": "notes", "topic": "t", "title": title, "body": "", "priority": "normal",
        "presentation": null, "delivery": "inbox", "dedupeKey": null, "createdAt": "2026-11-23T10:00:00.000Z",
        "expiresAt": null, "readAt": null })
}

pub fn run(status: &str, result: Value) -> Value {
    json!({ "run": { "id": "wf-1", "definition": "d", "version": 1, "idempotencyKey": "k", "status": status,
        "input": 7, "result": result, "error": null, "createdAt": "2026-11-23T10:00:00.000Z",
        "updatedAt": "2026-11-23T10:00:00.000Z", "expiresAt": "2026-11-23T11:00:00.000Z", "completedAt": null,
        "cleanupAt": null } })
}

pub fn claimed(attempt: u64) -> Value {
    json!({ "outcome": "claimed", "activity": { "id": "act-1", "step": "s", "name": "n", "attempt": attempt,
        "leaseToken": format!("token-{attempt}"), "leaseExpiresAt": "2026-11-23T10:01:00.000Z" } })
}

pub fn completed(result: Value) -> Value {
    json!({ "outcome": "completed", "activity": { "id": "act-1", "step": "s", "name": "n", "attempt": 1,
        "result": result } })
}

pub fn activity() -> Value {
    json!({ "activity": { "id": "act-1", "step": "s", "name": "n", "attempt": 1, "leaseExpiresAt": null } })
}

pub fn lease() -> Value {
    json!({ "lease": { "id": "lease-1", "expiresAt": "2026-11-23T10:01:00.000Z" } })
}
