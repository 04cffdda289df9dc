//! Content collections: items that apps and people share.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::bytes_call::{Condition, StoredBytes};
use crate::call::{Access, Call};
use crate::error::Result;
use crate::page::{Page, PageOptions};
use crate::wire::{
    Collection, CollectionAnswer, ContentChange, ContentInvitation, ContentInvitationAnswer, ContentItem,
    ContentItemAnswer, ContentMember, CreateCollection, InviteMember, routes,
};

/// The platform waits 25 s for changes.
const CHANGES: Duration = Duration::from_secs(45);

/// Collections that the app may use. Reading needs the grant `content.collections.read`, writing items `.write`, everything else
/// `.manage`, each on `<kind>:<id>`; a stronger one includes the weaker ones.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    pub(crate) access: &'a Access,
}

impl Content<'_> {
    /// Makes a collection, which is open to this app from then on.
    ///
    /// # Errors
    ///
    /// `not_found` for a collection to put it into that is none, `disk_quota`, `grant_missing`.
    pub async fn create(&self, collection: &CreateCollection) -> Result<Collection> {
        self.collection(Call::new(&routes::CONTENT_CREATE).body(collection)?)
            .await
    }

    /// Those that the app may read, oldest first; the first 50.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`.
    pub async fn list(&self) -> Result<Page<Collection>> {
        self.list_with(PageOptions::default()).await
    }

    /// The same, another part of the list.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list), and `invalid_cursor`.
    pub async fn list_with(&self, page: PageOptions) -> Result<Page<Collection>> {
        self.access.json(page.of(Call::new(&routes::CONTENT_LIST))).await
    }

    /// One collection.
    ///
    /// # Errors
    ///
    /// `not_found`, also for one that the app may not read.
    pub async fn read(&self, id: &str) -> Result<Collection> {
        self.collection(Call::new(&routes::CONTENT_READ).parameter(id)).await
    }

    /// Gives it another name.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_authorized`.
    pub async fn rename(&self, id: &str, name: impl Into<String>) -> Result<Collection> {
        self.change(id, json!({ "name": name.into() })).await
    }

    /// Moves it into another one, or out of the one that it is in.
    ///
    /// # Errors
    ///
    /// `content_conflict` for one that would lie within itself; otherwise as [`rename`](Self::rename).
    pub async fn move_to(&self, id: &str, parent_id: Option<&str>) -> Result<Collection> {
        self.change(id, json!({ "parentId": parent_id })).await
    }

    /// With all that is in it.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_authorized`.
    pub async fn delete(&self, id: &str) -> Result<()> {
        self.access
            .empty(Call::new(&routes::CONTENT_DELETE).parameter(id))
            .await
    }

    /// The items by key; the first 50.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub async fn items(&self, id: &str) -> Result<Page<ContentItem>> {
        self.items_with(id, PageOptions::default()).await
    }

    /// The same, another part of the list.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and `invalid_cursor`.
    pub async fn items_with(&self, id: &str, page: PageOptions) -> Result<Page<ContentItem>> {
        let call = Call::new(&routes::CONTENT_ITEMS).parameter(id);
        self.access.json(page.of(call)).await
    }

    /// The bytes of an item, and their version.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub async fn get(&self, id: &str, key: &str) -> Result<StoredBytes> {
        let call = Call::new(&routes::CONTENT_ITEMS_READ).parameter(id).parameter(key);
        self.access.read_bytes(call).await
    }

    /// Writes an item, at most 10 MiB.
    ///
    /// ```no_run
    /// # use platform_services::{Condition, PlatformServicesClient, Result};
    /// # async fn more_milk(platform: PlatformServicesClient, list: &str) -> Result<()> {
    /// let milk = platform.content().get(list, "milk").await?;
    /// let written = platform.content().put(list, "milk", "3 litres", Condition::Match(&milk.etag)).await;
    /// if written.is_err_and(|error| error.code() == "precondition_failed") {
    ///     // Somebody else was faster: read it again, and decide anew.
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `precondition_failed`, `disk_quota`, `not_authorized`; otherwise as [`read`](Self::read).
    pub async fn put(
        &self,
        id: &str,
        key: &str,
        bytes: impl Into<Bytes>,
        condition: Condition<'_>,
    ) -> Result<ContentItem> {
        let call = Call::new(&routes::CONTENT_ITEMS_WRITE).parameter(id).parameter(key);
        let body = ("application/octet-stream", bytes.into());
        let answer: ContentItemAnswer = self.access.write_bytes(call, condition, body).await?;
        Ok(answer.item)
    }

    /// Deletes an item.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub async fn remove(&self, id: &str, key: &str, condition: Condition<'_>) -> Result<()> {
        let call = Call::new(&routes::CONTENT_ITEMS_DELETE).parameter(id).parameter(key);
        self.access.delete_bytes(call, condition).await
    }

    /// What changed since a cursor, each item once; waits up to 25 s for it. Without a cursor all there is, at once. Ask again with
    /// `next_cursor`.
    ///
    /// # Errors
    ///
    /// `invalid_cursor` when so much was deleted since that not all is known: begin without one. `concurrency_limited` while 32 calls
    /// wait; otherwise as [`read`](Self::read).
    pub async fn changes(&self, id: &str, page: PageOptions) -> Result<Page<ContentChange>> {
        let call = Call::new(&routes::CONTENT_CHANGES).parameter(id).timeout(CHANGES);
        self.access.json(page.of(call)).await
    }

    /// Who has access, each with the strongest role.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub async fn members(&self, id: &str, page: PageOptions) -> Result<Page<ContentMember>> {
        let call = Call::new(&routes::CONTENT_MEMBERS).parameter(id);
        self.access.json(page.of(call)).await
    }

    /// Invites somebody, who accepts in the shell for this app.
    ///
    /// # Errors
    ///
    /// `not_found` for nobody, `content_conflict` for a member; otherwise as [`rename`](Self::rename).
    pub async fn invite(&self, id: &str, member: &InviteMember) -> Result<ContentInvitation> {
        let call = Call::new(&routes::CONTENT_MEMBERS_INVITE).parameter(id).body(member)?;
        Ok(self.access.json::<ContentInvitationAnswer>(call).await?.invitation)
    }

    /// Takes a role away; everybody can give up their own.
    ///
    /// # Errors
    ///
    /// `content_conflict` for the owner; otherwise as [`rename`](Self::rename).
    pub async fn remove_member(&self, id: &str, member_id: &str) -> Result<()> {
        let call = Call::new(&routes::CONTENT_MEMBERS_REMOVE)
            .parameter(id)
            .parameter(member_id);
        self.access.empty(call).await
    }

    async fn change(&self, id: &str, change: Value) -> Result<Collection> {
        // Once more it changes nothing.
        let call = Call::new(&routes::CONTENT_CHANGE).parameter(id).body(&change)?;
        self.collection(call.repeatable(true)).await
    }

    async fn collection(&self, call: Call<'_>) -> Result<Collection> {
        Ok(self.access.json::<CollectionAnswer>(call).await?.collection)
    }
}
