//! Calls whose body or answer is bytes, with the entity tag that conditions go by.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, ETAG};
use serde::de::DeserializeOwned;

use crate::call::{Access, Call};
use crate::error::Result;

/// What is on the platform, and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredBytes {
    /// As they were written.
    pub bytes: Bytes,
    /// Of this version, for [`Condition::Match`].
    pub etag: String,
    /// The media type that its writer said.
    pub media_type: String,
}

/// On what is there; where it does not hold, the call is refused with `precondition_failed` and changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition<'a> {
    /// Whatever is there.
    #[default]
    None,
    /// Only over this version, which a former answer gave.
    Match(&'a str),
    /// Only over some version.
    Exists,
    /// Only where nothing is.
    Missing,
}

impl Condition<'_> {
    fn of(self, call: Call<'_>) -> Call<'_> {
        match self {
            Self::None => call,
            Self::Match(etag) => call.header("if-match", etag),
            Self::Exists => call.header("if-match", "*"),
            Self::Missing => call.header("if-none-match", "*"),
        }
    }
}

impl Access {
    pub(crate) async fn read_bytes(&self, call: Call<'_>) -> Result<StoredBytes> {
        let (fields, bytes) = self.whole(call).await?;
        let field = |name| {
            fields
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        Ok(StoredBytes {
            bytes,
            etag: field(ETAG),
            media_type: field(CONTENT_TYPE),
        })
    }

    /// The JSON of the answer. Sent once: a condition that an attempt without an answer fulfilled would not hold again.
    pub(crate) async fn write_bytes<'a, A: DeserializeOwned>(
        &self,
        call: Call<'a>,
        condition: Condition<'_>,
        (media_type, bytes): (&'a str, Bytes),
    ) -> Result<A> {
        self.json(condition.of(call.bytes(media_type, bytes))).await
    }

    pub(crate) async fn delete_bytes(&self, call: Call<'_>, condition: Condition<'_>) -> Result<()> {
        self.empty(condition.of(call)).await
    }
}
