//! Notifications: publishing, reading, and a live stream.

use crate::call::{Access, Call};
use crate::error::Result;
use crate::event_stream::NotificationStream;
use crate::page::{Page, PageOptions};
use crate::wire::{Notification, NotificationAnswer, PublishNotification, ReadAllAnswer, routes};

/// Notifications of this app and of those whose topics it may read.
#[derive(Clone, Copy, Debug)]
pub struct Notifications<'a> {
    pub(crate) access: &'a Access,
}

/// Which notifications.
#[derive(Clone, Debug, Default)]
pub struct NotificationFilter {
    /// Of this topic only.
    pub topic: Option<String>,
    /// Those that nobody has read yet.
    pub unread_only: bool,
    /// Which part of the list.
    pub page: PageOptions,
}

impl Notifications<'_> {
    /// Grant `notifications.publish` on the topic. With a `dedupe_key` that is known it returns the stored record, so the
    /// call is repeated when the platform does not answer; without one it is not.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`, `invalid_request` and `rate_limited`.
    pub async fn publish(&self, notification: &PublishNotification) -> Result<Notification> {
        let repeatable = notification.dedupe_key.is_some();
        let call = Call::new(&routes::NOTIFICATIONS_PUBLISH)
            .body(notification)?
            .repeatable(repeatable);
        Ok(self.access.json::<NotificationAnswer>(call).await?.notification)
    }

    /// Grant `notifications.read`: records whose topic its resources match, newest first; the first 50.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`.
    pub async fn list(&self) -> Result<Page<Notification>> {
        self.list_with(NotificationFilter::default()).await
    }

    /// The same, only some of them or another part of the list.
    ///
    /// # Errors
    ///
    /// As [`Notifications::list`], and `invalid_cursor`.
    pub async fn list_with(&self, filter: NotificationFilter) -> Result<Page<Notification>> {
        let NotificationFilter {
            topic,
            unread_only,
            page,
        } = filter;
        let call = page.of(Call::new(&routes::NOTIFICATIONS_LIST));
        self.access
            .json(
                call.query("topic", topic)
                    .query("unread", unread_only.then_some("true")),
            )
            .await
    }

    /// Marks one record read.
    ///
    /// # Errors
    ///
    /// `not_found` for one that this app cannot see.
    pub async fn read(&self, id: &str) -> Result<Notification> {
        let call = Call::new(&routes::NOTIFICATIONS_READ).parameter(id).repeatable(true);
        Ok(self.access.json::<NotificationAnswer>(call).await?.notification)
    }

    /// Marks all visible records read. Returns how many changed.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`.
    pub async fn read_all(&self) -> Result<i64> {
        Ok(self
            .access
            .json::<ReadAllAnswer>(Call::new(&routes::NOTIFICATIONS_READ_ALL))
            .await?
            .updated)
    }

    /// Live events, from now on or after the event with this id. It connects again by itself and continues where it was;
    /// an error that the platform would repeat, such as `grant_missing`, is its last item.
    pub fn stream(&self, last_event_id: Option<String>) -> NotificationStream {
        NotificationStream::open(self.access.clone(), last_event_id)
    }
}
