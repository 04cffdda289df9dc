//! Tools of the platform and of other apps: requests to the hub in the revision 2026-07-28 of the Model Context Protocol, each of which
//! stands by itself.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::{Access, Call};
use crate::error::{Error, Refusal, Result};
use crate::event_text::EventParser;
use crate::wire::{ErrorCode, routes};

const REVISION: &str = "2026-07-28";
/// The platform ends a call after ten minutes, and says so.
const CALL: Duration = Duration::from_secs(630);
/// The platform lists 200 tools in a page, and 500 of all apps.
const PAGES: usize = 20;

/// Tools of the account's other apps and of the platform. Grant `mcp.tools.call` or `mcp.tools.propose` on the tools.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    access: &'a Access,
    app: Option<&'a str>,
    chain: Option<&'a str>,
    timeout: Duration,
}

/// A tool that this app may use. Title, description, schemas and annotations are what the app that has it says.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// By which it is called, such as `notes.add`.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// JSON Schema 2020-12 of its arguments.
    pub input_schema: Value,
    /// Of its structured content.
    pub output_schema: Option<Value>,
    /// Such as `readOnlyHint`, which may be wrong.
    #[serde(default)]
    pub annotations: Map<String, Value>,
    #[serde(rename = "_meta", default)]
    meta: ToolMeta,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ToolMeta {
    #[serde(rename = "platform/app")]
    app: Option<ToolApp>,
    #[serde(rename = "platform/approval")]
    approval: Option<String>,
}

/// The app that has a tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ToolApp {
    /// Its app id.
    pub id: String,
    /// As the person knows it.
    pub name: String,
}

impl Tool {
    /// The app that has it; `None` for a tool of the platform.
    pub fn app(&self) -> Option<&ToolApp> {
        self.meta.app.as_ref()
    }

    /// Whether a call is a proposal, which does nothing until the person approves it.
    pub fn needs_approval(&self) -> bool {
        self.meta.approval.as_deref() == Some("required")
    }
}

/// What a tool answered: words of its app.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// Blocks of the protocol: `{ "type": "text", "text": … }`, images, links.
    #[serde(default)]
    pub content: Vec<Value>,
    /// For programs, as the tool's output schema describes it.
    pub structured_content: Option<Value>,
    /// The tool failed, and the content says how.
    #[serde(default)]
    pub is_error: bool,
    #[serde(rename = "_meta", default)]
    meta: ResultMeta,
}

impl ToolResult {
    /// Its blocks of text, a line for each.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// Its structured content as a type of this program.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAnswer`] for one that is not of this type, and without any.
    pub fn structured<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        let value = self.structured_content.clone().unwrap_or(Value::Null);
        serde_json::from_value(value).map_err(|error| Error::InvalidAnswer(format!("The result of the tool: {error}.")))
    }

    /// The proposal that a call of a tool became which [needs approval](Tool::needs_approval). Of other tools, this is what they say.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAnswer`] for a result that is none.
    pub fn proposal(&self) -> Result<Proposal> {
        Ok(self.structured::<Proposed>()?.proposal)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ResultMeta {
    #[serde(rename = "platform/refusal")]
    refusal: Option<RefusedCall>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RefusedCall {
    code: String,
    retry_after: Option<f64>,
}

/// A call that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Proposal {
    /// For `platform-proposals.get` and `platform-proposals.cancel`.
    pub id: String,
    /// `pending`.
    pub state: String,
    /// By its full name, such as `notes.add`.
    pub tool: String,
    /// RFC 3339.
    pub expires_at: String,
}

#[derive(Deserialize)]
struct Proposed {
    proposal: Proposal,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    tools: Vec<Tool>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    result: Option<Value>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
}

impl<'a> Tools<'a> {
    pub(crate) fn of_all(access: &'a Access) -> Self {
        Self {
            access,
            app: None,
            chain: None,
            timeout: CALL,
        }
    }

    /// Only the tools of one app, under their own names.
    #[must_use]
    pub fn of_app(self, app_id: &'a str) -> Self {
        Self {
            app: Some(app_id),
            ..self
        }
    }

    /// For calls in the middle of a tool call that this workload serves: the value of its header field `Platform-Tool-Chain`.
    #[must_use]
    pub fn in_chain(self, chain: &'a str) -> Self {
        Self {
            chain: Some(chain),
            ..self
        }
    }

    /// Time limit of a call. Default: that of the platform, ten minutes.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The tools that this app may use, by name.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`, and `not_found` for an app that serves no tools.
    pub async fn list(&self) -> Result<Vec<Tool>> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let call = self.request("tools/list", None, params)?.repeatable(true);
            let page: Listed = self.ask(call).await?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool with an object of arguments. A tool that fails gives a result that says so ([`ToolResult::is_error`]); the call of
    /// one that [needs approval](Tool::needs_approval) gives a [proposal](ToolResult::proposal), and has done nothing yet.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] for a tool that is not there and for arguments that it does not take; [`Error::Refused`] for what the platform
    /// refuses, such as `grant_missing`, `rate_limited`, `upstream_failed` and `upstream_timeout`.
    pub async fn call(&self, name: &str, arguments: &impl Serialize) -> Result<ToolResult> {
        self.send(name, arguments, false).await
    }

    /// Has the person decide about a call, also of a tool that this app may call outright.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn propose(&self, name: &str, arguments: &impl Serialize) -> Result<Proposal> {
        self.send(name, arguments, true).await?.proposal()
    }

    async fn send(&self, name: &str, arguments: &impl Serialize, propose: bool) -> Result<ToolResult> {
        let is_name = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(Error::InvalidRequest(format!(
                "\"{name}\" cannot be the name of a tool."
            )));
        }
        let arguments = serde_json::to_value(arguments).map_err(|error| Error::InvalidRequest(error.to_string()))?;
        let mut params = json!({ "name": name, "arguments": arguments });
        if propose {
            params["_meta"] = json!({ "platform/propose": true });
        }
        let call = self.request("tools/call", Some(name), params)?.timeout(self.timeout);
        refused(self.ask(call).await?)
    }

    fn request(&self, method: &str, name: Option<&str>, mut params: Value) -> Result<Call<'a>> {
        let client = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(REVISION);
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let call = match self.app {
            Some(app) => Call::new(&routes::MCP_APP).parameter(app),
            None => Call::new(&routes::MCP),
        };
        let mut call = call
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
            .body(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        if let Some(name) = name {
            call = call.header("mcp-name", name);
        }
        if let Some(chain) = self.chain {
            call = call.header("platform-tool-chain", chain);
        }
        Ok(call)
    }

    async fn ask<A: serde::de::DeserializeOwned>(&self, call: Call<'_>) -> Result<A> {
        let answer = read(&self.access.text(call).await?)?;
        if let Some(RpcError { code, message }) = answer.error {
            return Err(Error::Protocol { code, message });
        }
        serde_json::from_value(answer.result.unwrap_or(Value::Null)).map_err(unexpected)
    }
}

/// One message, or a stream of events with news of progress before it.
fn read(text: &[u8]) -> Result<Answer> {
    if text.first() == Some(&b'{') {
        return serde_json::from_slice(text).map_err(unexpected);
    }
    let events = EventParser::default().read(text);
    events
        .iter()
        .rev()
        .filter_map(|event| serde_json::from_str::<Answer>(&event.data).ok())
        .find(|answer| answer.result.is_some() || answer.error.is_some())
        .ok_or_else(|| Error::InvalidAnswer("The stream of the platform ended without an answer.".to_owned()))
}

/// What the platform refuses within a call comes as a result, for models to read.
fn refused(result: ToolResult) -> Result<ToolResult> {
    let Some(RefusedCall { code, retry_after }) = &result.meta.refusal else {
        return Ok(result);
    };
    let text = result.text();
    let detail = text.strip_prefix(&format!("{code}: ")).unwrap_or(&text);
    Err(Error::Refused(Arc::new(Refusal {
        code: ErrorCode::from(code.as_str()),
        status: 200,
        detail: detail.to_owned(),
        request_id: None,
        errors: Vec::new(),
        retry_after: retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    })))
}

fn unexpected(error: serde_json::Error) -> Error {
    Error::InvalidAnswer(format!("The answer of the platform is not as expected: {error}."))
}
