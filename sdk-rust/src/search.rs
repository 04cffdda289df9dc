//! Search entries of this installation.

use crate::call::{Access, Call};
use crate::error::Result;
use crate::wire::{IndexedAnswer, SearchEntries, SearchEntry, routes};

/// The index of this installation. Grant `search.index` on `self`.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub(crate) access: &'a Access,
}

impl Search<'_> {
    /// Replaces the whole index at once, with at most 10,000 entries. Returns how many it has.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing` and `invalid_request`.
    pub async fn replace(&self, entries: impl IntoIterator<Item = SearchEntry>) -> Result<i64> {
        self.send(Call::new(&routes::SEARCH_REPLACE), entries).await
    }

    /// Adds or changes up to 1,000 entries. Returns how many.
    ///
    /// # Errors
    ///
    /// As [`replace`](Self::replace).
    pub async fn upsert(&self, entries: impl IntoIterator<Item = SearchEntry>) -> Result<i64> {
        self.send(Call::new(&routes::SEARCH_UPSERT), entries).await
    }

    /// Removes one entry, if it is there.
    ///
    /// # Errors
    ///
    /// As [`replace`](Self::replace).
    pub async fn remove(&self, id: &str) -> Result<()> {
        let call = Call::new(&routes::SEARCH_REMOVE).parameter(id).repeatable(true);
        self.access.empty(call).await
    }

    /// Removes every entry.
    ///
    /// # Errors
    ///
    /// As [`replace`](Self::replace).
    pub async fn clear(&self) -> Result<()> {
        self.access
            .empty(Call::new(&routes::SEARCH_CLEAR).repeatable(true))
            .await
    }

    async fn send(&self, call: Call<'_>, entries: impl IntoIterator<Item = SearchEntry>) -> Result<i64> {
        let body = SearchEntries {
            entries: entries.into_iter().collect(),
        };
        let answer: IndexedAnswer = self.access.json(call.body(&body)?.repeatable(true)).await?;
        Ok(answer.indexed)
    }
}
