//! Lists come in pages.

use serde::Deserialize;

use crate::call::Call;

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Page<T> {
    /// In the order of the list.
    pub items: Vec<T>,
    /// Pass it as `cursor` for the next page; `None` on the last.
    pub next_cursor: Option<String>,
}

/// Which part of a list.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// 1 to 200; default 50.
    pub limit: Option<u32>,
    /// From [`Page::next_cursor`]; default: the beginning.
    pub cursor: Option<String>,
}

impl PageOptions {
    pub(crate) fn of(self, call: Call<'_>) -> Call<'_> {
        call.query("limit", self.limit).query("cursor", self.cursor)
    }
}
