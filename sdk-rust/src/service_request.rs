//! Requests to AI providers and outside services, which go through the Gateway, and to backends: the platform's refusals are
//! errors, the answers of the other side are answers.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Body, Method, Request, RequestBuilder, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};

use crate::call::{Access, bearer, network, refusal};
use crate::error::{Error, Result};

const PROBLEM: &str = "application/problem+json";
/// The type of the platform's own problems; a service may answer with problems of its own.
const OWN_ERRORS: &str = "urn:platform:error:";

/// A request to an AI provider, to an outside service or to a backend. It is sent once, and has no time limit unless it is given one.
#[must_use = "it does nothing until it is sent"]
pub struct ServiceRequest {
    access: Access,
    request: Result<RequestBuilder>,
    kind: Kind,
    timeout: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Intelligence,
    Outbound,
    Backend,
}

impl ServiceRequest {
    pub(crate) fn intelligence(access: &Access, method: Method, provider: &str, path: &str) -> Self {
        Self::new(access, Kind::Intelligence, method, &["intelligence", provider], path)
    }

    pub(crate) fn outbound(access: &Access, method: Method, slot: &str, path: &str) -> Self {
        Self::new(access, Kind::Outbound, method, &["outbound", slot], path)
    }

    pub(crate) fn backend(access: &Access, method: Method, path: &str) -> Self {
        Self::to(access, Kind::Backend, method, below_endpoint(&access.shared.api, path))
    }

    fn new(access: &Access, kind: Kind, method: Method, base: &[&str; 2], path: &str) -> Self {
        Self::to(access, kind, method, below(&access.shared.api, base, path))
    }

    fn to(access: &Access, kind: Kind, method: Method, url: Result<Url>) -> Self {
        let request = url.map(|url| access.shared.http.request(method, url));
        Self {
            access: access.clone(),
            request,
            kind,
            timeout: None,
        }
    }

    fn map(self, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        Self {
            request: self.request.map(change),
            ..self
        }
    }

    /// Adds a header field. The platform adds `Authorization`.
    pub fn header<N, V>(self, name: N, value: V) -> Self
    where
        HeaderName: TryFrom<N>,
        <HeaderName as TryFrom<N>>::Error: Into<http::Error>,
        HeaderValue: TryFrom<V>,
        <HeaderValue as TryFrom<V>>::Error: Into<http::Error>,
    {
        self.map(|request| request.header(name, value))
    }

    /// Adds members to the query.
    pub fn query(self, query: &impl Serialize) -> Self {
        self.map(|request| request.query(query))
    }

    /// Sends this as JSON.
    pub fn json(self, body: &impl Serialize) -> Self {
        self.map(|request| request.json(body))
    }

    /// Sends these bytes or this text.
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.map(|request| request.body(body))
    }

    /// Time limit for the beginning of the answer. Default: none but the platform's own.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..self
        }
    }

    /// Sends it. The answer of the provider, service or backend is returned as it begins, whatever its status.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`, `budget_exhausted` and `upstream_failed`;
    /// [`Error::InvalidRequest`] for a path that leads out of the provider or the slot; [`Error::Network`] and
    /// [`Error::TimedOut`].
    pub async fn send(self) -> Result<Response> {
        let unbuilt = |error: reqwest::Error| Error::InvalidRequest(error.without_url().to_string());
        let mut request = self.request?.build().map_err(unbuilt)?;
        authorize(&self.access, &mut request)?;
        let sent = self.access.shared.http.execute(request);
        let response = match self.timeout {
            Some(limit) => tokio::time::timeout(limit, sent)
                .await
                .map_err(|_| Error::TimedOut(limit))?,
            None => sent.await,
        };
        let response = response.map_err(network)?;
        match self.kind {
            _ if response.status().is_success() || !is_problem(&response) => Ok(response),
            // Providers write no problem documents; their errors are for the caller to read.
            Kind::Intelligence => Err(refusal(response).await),
            Kind::Outbound => unless_refused(response).await,
            Kind::Backend if is_ended(&response) => Err(refusal(response).await),
            Kind::Backend => Ok(response),
        }
    }
}

fn authorize(access: &Access, request: &mut Request) -> Result<()> {
    let authorization = bearer(&access.shared.credential.token())?;
    if request.headers_mut().insert(AUTHORIZATION, authorization).is_some() {
        let detail = "Send no Authorization: it carries the credential for the platform.";
        return Err(Error::InvalidRequest(detail.to_owned()));
    }
    Ok(())
}

impl fmt::Debug for ServiceRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServiceRequest")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// URLs resolve dot segments, also encoded ones, which could lead to another provider or slot.
fn below(api: &str, base: &[&str; 2], path: &str) -> Result<Url> {
    let invalid = |detail: String| Error::InvalidRequest(detail);
    let mut url = Url::parse(api).map_err(|error| invalid(format!("{api}: {error}")))?;
    if matches!(base[1], "" | "." | "..") {
        return Err(invalid(format!("\"{}\" names nothing.", base[1])));
    }
    let segments = url
        .path_segments_mut()
        .map_err(|()| invalid(format!("{api} cannot have a path.")));
    segments?.pop_if_empty().extend(["v1", "services"]).extend(base);
    let rest = path.trim_start_matches('/');
    let separator = if rest.is_empty() || rest.starts_with('?') {
        ""
    } else {
        "/"
    };
    let base = format!("{url}{separator}");
    let found = Url::parse(&format!("{base}{rest}")).map_err(|error| invalid(format!("{path}: {error}")))?;
    if !found.as_str().starts_with(&base) || found.fragment().is_some() {
        return Err(invalid(format!(
            "The path {path} leads out of the provider or slot, or holds a #."
        )));
    }
    Ok(found)
}

/// The same below the endpoint of a backend.
pub(crate) fn below_endpoint(endpoint: &str, path: &str) -> Result<Url> {
    let invalid = |detail: String| Error::InvalidRequest(detail);
    if !path.starts_with('/') {
        return Err(invalid(format!("The path must start with \"/\": {path}")));
    }
    let base = Url::parse(&format!("{endpoint}/")).map_err(|error| invalid(format!("{endpoint}: {error}")))?;
    let found = Url::parse(&format!("{endpoint}{path}")).map_err(|error| invalid(format!("{path}: {error}")))?;
    if !found.as_str().starts_with(base.as_str()) || found.fragment().is_some() {
        return Err(invalid(format!(
            "The path {path} leads out of the backend, or holds a #."
        )));
    }
    Ok(found)
}

/// The node refuses the capability. A backend cannot send this field.
pub(crate) fn is_ended(response: &Response) -> bool {
    response.status() == StatusCode::UNAUTHORIZED
        && response
            .headers()
            .get(WWW_AUTHENTICATE)
            .is_some_and(|value| value == "Bearer")
}

fn is_problem(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value == PROBLEM)
}

#[derive(Deserialize)]
struct ProblemType {
    r#type: String,
}

async fn unless_refused(response: Response) -> Result<Response> {
    let mut head = http::Response::builder()
        .status(response.status())
        .version(response.version());
    if let Some(headers) = head.headers_mut() {
        headers.clone_from(response.headers());
    }
    let body = response.bytes().await.map_err(network)?;
    let own = serde_json::from_slice::<ProblemType>(&body).is_ok_and(|problem| problem.r#type.starts_with(OWN_ERRORS));
    let again = head
        .body(body)
        .map_err(|error| Error::InvalidAnswer(error.to_string()))?;
    if own {
        Err(refusal(again.into()).await)
    } else {
        Ok(again.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const API: &str = "http://127.0.0.1:1";

    #[test]
    fn a_path_stays_below_its_slot() {
        let at = |path: &str| below(API, &["outbound", "crm"], path).map(String::from).ok();
        let base = format!("{API}/v1/services/outbound/crm");
        assert_eq!(at(""), Some(base.clone()));
        assert_eq!(at("?q=1"), Some(format!("{base}?q=1")));
        assert_eq!(at("/v2/a b"), Some(format!("{base}/v2/a%20b")));
        for path in [
            "..",
            "../other/x",
            "a/../../other",
            "%2e%2e/other",
            "a#b",
            "a/%2e%2E/%2e./x",
        ] {
            assert_eq!(at(path), None, "{path}");
        }
    }

    #[test]
    fn a_path_stays_below_its_endpoint() {
        let at = |path: &str| below_endpoint("http://node/e/x", path).map(String::from).ok();
        assert_eq!(at("/notes?q=1"), Some("http://node/e/x/notes?q=1".to_owned()));
        for path in ["", "notes", "/..", "/../y/notes", "/%2e%2e/y", "/a#b"] {
            assert_eq!(at(path), None, "{path}");
        }
    }

    #[test]
    fn a_name_is_one_segment() {
        assert!(below(API, &["outbound", ".."], "x").is_err());
        let url = below(API, &["outbound", "a/b"], "x").map(String::from).ok();
        assert_eq!(url, Some(format!("{API}/v1/services/outbound/a%2Fb/x")));
    }
}
