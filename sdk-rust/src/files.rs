//! Files of the app, and those that others opened to it or its person handed to it. They need no grant.

use std::time::Duration;

use bytes::Bytes;

use crate::bytes_call::{Condition, StoredBytes};
use crate::call::{Access, Call};
use crate::error::Result;
use crate::page::{Page, PageOptions};
use crate::wire::{AppFile, AppFileAnswer, FileAccessEntry, FileEntries, SharedFile, UserFile, UserFileAnswer, routes};

/// Up to 100 MiB are on their way.
const LARGE: Duration = Duration::from_secs(600);

/// The files that this app may use.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    pub(crate) access: &'a Access,
}

impl Files<'_> {
    /// The files of this app by name; the first 50.
    ///
    /// # Errors
    ///
    /// What the platform refuses.
    pub async fn list(&self) -> Result<Page<AppFile>> {
        self.list_with(PageOptions::default()).await
    }

    /// The same, another part of the list.
    ///
    /// # Errors
    ///
    /// `invalid_cursor`.
    pub async fn list_with(&self, page: PageOptions) -> Result<Page<AppFile>> {
        self.access.json(page.of(Call::new(&routes::FILES_LIST))).await
    }

    /// The bytes of a file, and their version.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn get(&self, name: &str) -> Result<StoredBytes> {
        let call = Call::new(&routes::FILES_READ).parameter(name).timeout(LARGE);
        self.access.read_bytes(call).await
    }

    /// Writes a file, at most 100 MiB, of this media type.
    ///
    /// # Errors
    ///
    /// `precondition_failed`, `disk_quota`.
    pub async fn put(
        &self,
        name: &str,
        media_type: &str,
        bytes: impl Into<Bytes>,
        condition: Condition<'_>,
    ) -> Result<AppFile> {
        let call = Call::new(&routes::FILES_WRITE).parameter(name).timeout(LARGE);
        let body = (media_type, bytes.into());
        let answer: AppFileAnswer = self.access.write_bytes(call, condition, body).await?;
        Ok(answer.file)
    }

    /// Deletes a file.
    ///
    /// # Errors
    ///
    /// `not_found`, `precondition_failed`.
    pub async fn remove(&self, name: &str, condition: Condition<'_>) -> Result<()> {
        let call = Call::new(&routes::FILES_DELETE).parameter(name);
        self.access.delete_bytes(call, condition).await
    }

    /// To whom a file is open.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn access(&self, name: &str) -> Result<Vec<FileAccessEntry>> {
        let call = Call::new(&routes::FILES_ACCESS_READ).parameter(name);
        Ok(self.access.json::<FileEntries>(call).await?.entries)
    }

    /// Opens a file to these apps of the same account and to these accounts, and to nobody else.
    ///
    /// # Errors
    ///
    /// `not_found`, also for an account that does not exist.
    pub async fn open(&self, name: &str, entries: Vec<FileAccessEntry>) -> Result<Vec<FileAccessEntry>> {
        let call = Call::new(&routes::FILES_ACCESS_REPLACE)
            .parameter(name)
            .body(&FileEntries { entries })?
            .repeatable(true);
        Ok(self.access.json::<FileEntries>(call).await?.entries)
    }

    /// What other apps opened to this one, and what its person handed to it.
    ///
    /// # Errors
    ///
    /// `invalid_cursor`.
    pub async fn shared(&self, page: PageOptions) -> Result<Page<SharedFile>> {
        self.access.json(page.of(Call::new(&routes::FILES_SHARED))).await
    }

    /// The bytes of such a file.
    ///
    /// # Errors
    ///
    /// `not_found`, also once it was taken back.
    pub async fn get_shared(&self, id: &str) -> Result<StoredBytes> {
        let call = Call::new(&routes::FILES_SHARED_READ).parameter(id).timeout(LARGE);
        self.access.read_bytes(call).await
    }

    /// Writes such a file, of this media type.
    ///
    /// # Errors
    ///
    /// `not_authorized` for one that may only be read; otherwise as [`put`](Self::put) and [`get_shared`](Self::get_shared).
    pub async fn put_shared(
        &self,
        id: &str,
        media_type: &str,
        bytes: impl Into<Bytes>,
        condition: Condition<'_>,
    ) -> Result<UserFile> {
        let call = Call::new(&routes::FILES_SHARED_WRITE).parameter(id).timeout(LARGE);
        let body = (media_type, bytes.into());
        let answer: UserFileAnswer = self.access.write_bytes(call, condition, body).await?;
        Ok(answer.file)
    }
}
