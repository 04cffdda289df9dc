//! The one error of this crate.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::failure::Failure;
use crate::wire::{ErrorCode, WorkflowError};

/// What `Result` is in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call had no answer, or not the one it was for. Programs decide by [`Error::code`] or by the variant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The platform refused the call, or failed.
    Refused(Arc<Refusal>),
    /// The platform could not be reached, or the connection ended before the answer did.
    Network(Arc<dyn std::error::Error + Send + Sync>),
    /// No complete answer within this time.
    TimedOut(Duration),
    /// The answer does not follow the platform's protocol, or is not of the type that the program expects.
    InvalidAnswer(String),
    /// Not sent, because the platform would refuse it.
    InvalidRequest(String),
    /// The server of tools refused the request in the terms of its protocol (JSON-RPC): `-32602` for a tool that is not there
    /// and for arguments that it does not take.
    Protocol {
        /// As JSON-RPC numbers it, or the app that has the tool.
        code: i64,
        /// Words of the platform, or of the app that has the tool.
        message: String,
    },
    /// The platform did not start this process, or gave it no complete environment.
    NotLaunched(String),
    /// A work lease or the lease of a step is over.
    LeaseLost(String),
    /// What an executor or a workflow function failed with in this process.
    Failed(Failure),
    /// The workflow run failed in a former execution.
    WorkflowFailed(WorkflowError),
    /// The workflow run was cancelled or has expired.
    WorkflowNotRunning(String),
    /// A step ended this execution of a workflow, not the run: running it again goes on. Says which step, and why.
    Interrupted(Arc<Interruption>),
}

/// A refusal of the platform: its problem document (RFC 9457).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// For programs to decide by.
    pub code: ErrorCode,
    /// HTTP status of the answer.
    pub status: u16,
    /// What happened and what to do about it, for a person.
    pub detail: String,
    /// Names the request in the operator's log.
    pub request_id: Option<String>,
    /// For `invalid_request`: each wrong member with its path.
    pub errors: Vec<FieldError>,
    /// How long to wait before trying again, where the platform says so.
    pub retry_after: Option<Duration>,
}

/// A wrong member of a request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct FieldError {
    /// Such as `presentation.actions.0.label`.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// Where and why an execution of a workflow ended although its run goes on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Interruption {
    /// The step.
    pub step: String,
    /// What the platform refused, or why it could not be reached.
    pub error: Error,
}

/// Of what a program does with an answer by itself, such as reading its body as JSON.
impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        // What stands in an address is nobody else's to read.
        let error = error.without_url();
        if error.is_decode() {
            Self::InvalidAnswer(error.to_string())
        } else {
            Self::Network(Arc::new(error))
        }
    }
}

impl Error {
    /// A stable name: the platform's for its refusals, the executor's own for what it failed with, and otherwise
    /// `network_failed`, `timed_out`, `invalid_answer`, `invalid_request`, `not_launched`, `lease_lost`, `failed`,
    /// `workflow_failed` or `workflow_not_running`.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => refusal.code.as_str(),
            Self::Network(_) => "network_failed",
            Self::TimedOut(_) => "timed_out",
            Self::InvalidAnswer(_) => "invalid_answer",
            Self::InvalidRequest(_) => "invalid_request",
            Self::Protocol { code: -32_602, .. } => "invalid_request",
            Self::Protocol { .. } => "upstream_failed",
            Self::NotLaunched(_) => "not_launched",
            Self::LeaseLost(_) => "lease_lost",
            Self::Failed(failure) => failure.code().unwrap_or("failed"),
            Self::WorkflowFailed(_) => "workflow_failed",
            Self::WorkflowNotRunning(_) => "workflow_not_running",
            Self::Interrupted(interruption) => interruption.error.code(),
        }
    }

    /// The platform's refusal, where there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Interrupted(interruption) => interruption.error.refusal(),
            _ => None,
        }
    }

    /// HTTP status of the refusal.
    pub fn status(&self) -> Option<u16> {
        self.refusal().map(|refusal| refusal.status)
    }

    pub(crate) fn is_refusal(&self, code: &ErrorCode) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == *code)
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.refusal().and_then(|refusal| refusal.retry_after)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(formatter, "{} ({})", refusal.detail, refusal.code),
            Self::Network(error) => write!(formatter, "The platform could not be reached: {error}"),
            Self::TimedOut(limit) => {
                write!(formatter, "No answer within {} ms.", limit.as_millis())
            }
            Self::Protocol { message, .. } => formatter.write_str(message),
            Self::Failed(failure) => failure.fmt(formatter),
            Self::WorkflowFailed(error) => formatter.write_str(&error.message),
            Self::Interrupted(interruption) => {
                write!(formatter, "Step \"{}\": {}", interruption.step, interruption.error)
            }
            Self::InvalidAnswer(detail)
            | Self::InvalidRequest(detail)
            | Self::NotLaunched(detail)
            | Self::LeaseLost(detail)
            | Self::WorkflowNotRunning(detail) => formatter.write_str(detail),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Network(error) => Some(&**error),
            Self::Failed(failure) => failure.source(),
            Self::Interrupted(interruption) => Some(&interruption.error),
            _ => None,
        }
    }
}
