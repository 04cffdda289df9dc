//! One call of a service route: JSON in and out, a time limit, repeated only where that changes nothing more.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::credential::Credential;
use crate::error::{Error, FieldError, Refusal, Result};
use crate::keep_awake::Awake;
use crate::patience::{BRIEFLY, ONCE, patiently};
use crate::wire::ErrorCode;

/// A route of the platform; its path has parameters such as `{id}`.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
}

/// Address and credential of the services, and the connections to them.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    /// Without a trailing slash.
    pub(crate) api: String,
    pub(crate) credential: Credential,
    pub(crate) http: reqwest::Client,
    pub(crate) timeout: Duration,
    pub(crate) awake: Awake,
    /// How many steps are being executed, and how much of what dropped futures and handles left is under way.
    pub(crate) background: watch::Sender<usize>,
}

/// What is sent. Of a route that only reads, the call is repeated when the platform does not answer; of others only after
/// [`Call::repeatable`].
pub(crate) struct Call<'a> {
    route: &'a Route,
    parameters: Vec<&'a str>,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    /// With its media type.
    body: Option<(&'a str, Bytes)>,
    repeatable: bool,
    timeout: Option<Duration>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(route: &'a Route) -> Self {
        let repeatable = route.method == Method::GET;
        Self {
            route,
            parameters: Vec::new(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            repeatable,
            timeout: None,
        }
    }

    /// In the order in which they stand in the path.
    pub(crate) fn parameter(mut self, parameter: &'a str) -> Self {
        self.parameters.push(parameter);
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(self, body: &impl Serialize) -> Result<Self> {
        let json = serde_json::to_vec(body).map_err(|error| Error::InvalidRequest(error.to_string()))?;
        Ok(self.bytes("application/json", json.into()))
    }

    pub(crate) fn bytes(self, media_type: &'a str, bytes: Bytes) -> Self {
        Self {
            body: Some((media_type, bytes)),
            ..self
        }
    }

    /// It changes nothing more when it is repeated.
    pub(crate) fn repeatable(self, repeatable: bool) -> Self {
        Self { repeatable, ..self }
    }

    /// A time limit of its own, for every attempt together.
    pub(crate) fn timeout(self, timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..self
        }
    }

    fn url(&self, api: &str) -> Result<Url> {
        let mut url = Url::parse(api).map_err(|error| Error::InvalidRequest(format!("{api}: {error}")))?;
        let mut parameters = self.parameters.iter();
        {
            let no_path = |()| Error::InvalidRequest(format!("{api} cannot have a path."));
            let mut segments = url.path_segments_mut().map_err(no_path)?;
            segments.pop_if_empty();
            for part in self.route.path.split('/').skip(1) {
                if part.starts_with('{') {
                    segments.push(segment(parameters.next().copied().unwrap_or_default())?);
                } else {
                    segments.push(part);
                }
            }
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Ok(url)
    }
}

/// A dot segment vanishes when a URL is parsed: `remove("..")` would clear the whole index. The others the platform takes in
/// no path.
fn segment(parameter: &str) -> Result<&str> {
    let is_refused = |character: char| matches!(character, '/' | '\\') || character.is_ascii_control();
    if matches!(parameter, "" | "." | "..") || parameter.contains(is_refused) {
        return Err(Error::InvalidRequest(format!(
            "\"{parameter}\" cannot be the id of a record."
        )));
    }
    Ok(parameter)
}

impl Access {
    pub(crate) fn counted(&self) -> Counted {
        self.shared.background.send_modify(|count| *count += 1);
        Counted(Arc::clone(&self.shared))
    }

    /// Does this although nobody waits for it; without a runtime it is left undone.
    pub(crate) fn in_background(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else { return };
        let counted = self.counted();
        runtime.spawn(async move {
            // What it leaves undone ends by itself, a little later.
            let _ = work.await;
            drop(counted);
        });
    }

    /// The JSON of a successful answer.
    pub(crate) async fn json<A: DeserializeOwned>(&self, call: Call<'_>) -> Result<A> {
        let text = self.text(call).await?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::InvalidAnswer(format!("The answer of the platform is not as expected: {error}.")))
    }

    /// A successful answer without a body.
    pub(crate) async fn empty(&self, call: Call<'_>) -> Result<()> {
        self.text(call).await.map(|_| ())
    }

    /// The body of a successful answer.
    pub(crate) async fn text(&self, call: Call<'_>) -> Result<Bytes> {
        self.whole(call).await.map(|(_, body)| body)
    }

    /// Fields and body of a successful answer.
    pub(crate) async fn whole(&self, call: Call<'_>) -> Result<(HeaderMap, Bytes)> {
        let url = call.url(&self.shared.api)?;
        let limit = call.timeout.unwrap_or(self.shared.timeout);
        let patience = if call.repeatable { BRIEFLY } else { ONCE };
        let answered = patiently(patience, || async {
            let mut response = self
                .send(|authorization| self.request(&call, &url, authorization))
                .await?;
            let fields = std::mem::take(response.headers_mut());
            Ok((fields, response.bytes().await.map_err(network)?))
        });
        tokio::time::timeout(limit, answered)
            .await
            .unwrap_or(Err(Error::TimedOut(limit)))
    }

    fn request(&self, call: &Call<'_>, url: &Url, authorization: HeaderValue) -> reqwest::RequestBuilder {
        let request = self.shared.http.request(call.route.method.clone(), url.clone());
        let request = request.header(AUTHORIZATION, authorization);
        let request = call
            .headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, value));
        match &call.body {
            Some((media_type, body)) => request.header(CONTENT_TYPE, *media_type).body(body.clone()),
            None => request,
        }
    }

    /// Sends with the present credential, and once more if that is refused and another one takes its place: a credential
    /// that is refused has changed nothing.
    pub(crate) async fn send(&self, request: impl Fn(HeaderValue) -> reqwest::RequestBuilder) -> Result<Response> {
        let credential = &self.shared.credential;
        let token = credential.token();
        let refused = match accepted(request(bearer(&token)?).send().await.map_err(network)?).await {
            Err(error) if error.status() == Some(401) => error,
            outcome => return outcome,
        };
        match credential.renewed(&token).await {
            Some(token) => accepted(request(bearer(&token)?).send().await.map_err(network)?).await,
            None => Err(refused),
        }
    }
}

/// Work that the end of the process should wait for.
pub(crate) struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.background.send_modify(|count| *count -= 1);
    }
}

pub(crate) fn bearer(token: &str) -> Result<HeaderValue> {
    let invalid = |_| Error::InvalidRequest("The credential holds characters that no header can.".to_owned());
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}

pub(crate) fn network(error: reqwest::Error) -> Error {
    Error::Network(Arc::new(error.without_url()))
}

async fn accepted(response: Response) -> Result<Response> {
    if response.status().is_success() {
        return Ok(response);
    }
    Err(refusal(response).await)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    code: String,
    #[serde(default)]
    detail: String,
    request_id: Option<String>,
    #[serde(default)]
    errors: Vec<FieldError>,
}

/// Reads the problem document of a refused answer (RFC 9457).
pub(crate) async fn refusal(response: Response) -> Error {
    let status = response.status().as_u16();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let from_head = header("x-request-id");
    let retry_after = header("retry-after")
        .and_then(|seconds| seconds.parse().ok())
        .map(Duration::from_secs);
    let problem = match response.bytes().await {
        Ok(body) => serde_json::from_slice::<Problem>(&body).ok(),
        Err(error) => return network(error),
    };
    let Some(Problem {
        code,
        detail,
        request_id,
        errors,
    }) = problem
    else {
        return Error::InvalidAnswer(format!("The platform answered {status} without a problem document."));
    };
    let code = ErrorCode::from(code.as_str());
    let request_id = request_id.or(from_head);
    Error::Refused(Arc::new(Refusal {
        code,
        status,
        detail,
        request_id,
        errors,
        retry_after,
    }))
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The credential stays out of logs.
        formatter
            .debug_struct("Access")
            .field("api", &self.shared.api)
            .finish_non_exhaustive()
    }
}
