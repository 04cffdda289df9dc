//! What an executor or a workflow function failed with.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::wire::WorkflowError;

const MESSAGE_LENGTH: usize = 2_000;
const CODE_LENGTH: usize = 64;

/// What an executor or a workflow function failed with. Every error becomes one by `?`; [`Failure::new`] and
/// [`Failure::coded`] make one from words.
#[derive(Clone)]
pub struct Failure {
    code: Option<String>,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Failure {
    /// With a message for people.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            code: None,
            message: message.into(),
            source: None,
        }
    }

    /// With a code that programs and retry policies decide by besides, such as `card_declined`.
    pub fn coded(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: Some(code.into()),
            message: message.into(),
            source: None,
        }
    }

    /// For errors without a type of their own, such as `Box<dyn Error + Send + Sync>`.
    pub fn from_boxed(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match error.downcast::<Error>() {
            Ok(error) => Self::of_this_crate(*error),
            Err(error) => Self {
                code: None,
                message: error.to_string(),
                source: Some(error.into()),
            },
        }
    }

    /// The same with another code.
    pub fn with_code(self, code: impl Into<String>) -> Self {
        Self {
            code: Some(code.into()),
            ..self
        }
    }

    /// What programs decide by; for errors of this crate [`Error::code`].
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// For people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error it was made of, if it was made of one of this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.source()?.downcast_ref()
    }

    /// The error it was made of.
    pub fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_deref()
            .map(|error| error as &(dyn std::error::Error + 'static))
    }

    /// Whether a step that was interrupted is what it comes from.
    pub(crate) fn interruption(&self) -> Option<Error> {
        let mut source = self.source();
        while let Some(error) = source {
            match error.downcast_ref::<Error>() {
                Some(found @ Error::Interrupted(_)) => return Some(found.clone()),
                _ => source = error.source(),
            }
        }
        None
    }

    /// In the shape the platform keeps: no control characters, bounded.
    pub(crate) fn described(&self) -> WorkflowError {
        let mut message = String::new();
        let mut length = 0;
        for letter in self
            .message
            .replace("\r\n", "\n")
            .chars()
            .filter(|letter| is_readable(*letter))
        {
            // The platform counts UTF-16 code units.
            length += letter.len_utf16();
            if length > MESSAGE_LENGTH {
                break;
            }
            message.push(letter);
        }
        let code = self.code.clone().filter(|code| is_code(code));
        WorkflowError { code, message }
    }

    fn of_this_crate(error: Error) -> Self {
        match error {
            Error::Failed(failure) => failure,
            error => {
                let code = Some(error.code().to_owned());
                Self {
                    code,
                    message: error.to_string(),
                    source: Some(Arc::new(error)),
                }
            }
        }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::from_boxed(Box::new(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Failure");
        shown.field("code", &self.code).field("message", &self.message);
        shown.field("source", &self.source).finish()
    }
}

fn is_readable(letter: char) -> bool {
    match letter {
        '\n' | '\t' => true,
        // What breaks lines or turns the direction of the text around.
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => !letter.is_control(),
    }
}

fn is_code(code: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !code.is_empty() && code.len() <= CODE_LENGTH && code.bytes().all(allowed)
}
