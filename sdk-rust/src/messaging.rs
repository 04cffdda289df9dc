//! Messages of the account to other people: here, and anywhere on Matrix where the operator runs a bridge.

use std::time::Duration;

use crate::call::{Access, Call, Route};
use crate::error::Result;
use crate::page::{Page, PageOptions};
use crate::wire::{
    Conversation, ConversationAnswer, ConversationMessage, MessageAnswer, MessageText, MessagingContact,
    MessagingContactAnswer, MessagingIdentity, MessagingIdentityAnswer, MessagingNews, MessagingSync, OpenDirect,
    ReadConversation, SendMessage, routes,
};

/// What the platform takes to answer, beside the wait that was asked for.
const ANSWER: Duration = Duration::from_secs(30);

/// Messages of the account. Reading needs the grant `messaging.read`, acting `messaging.send`.
#[derive(Clone, Copy, Debug)]
pub struct Messaging<'a> {
    pub(crate) access: &'a Access,
}

impl Messaging<'_> {
    /// Who the account is to others.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing` and `transport_unavailable`.
    pub async fn identity(&self) -> Result<MessagingIdentity> {
        let call = Call::new(&routes::MESSAGING_IDENTITY);
        Ok(self.access.json::<MessagingIdentityAnswer>(call).await?.identity)
    }

    /// Whom an address names: `<name>`, `<name>@<server name>` or `@<name>:<server name>`. Grant `messaging.resolve`.
    ///
    /// # Errors
    ///
    /// `not_found` for nobody; otherwise as [`identity`](Self::identity).
    pub async fn resolve(&self, address: &str) -> Result<MessagingContact> {
        let call = Call::new(&routes::MESSAGING_RESOLVE).parameter(address);
        Ok(self.access.json::<MessagingContactAnswer>(call).await?.contact)
    }

    /// The latest first; the first 50.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity).
    pub async fn conversations(&self) -> Result<Page<Conversation>> {
        self.conversations_with(PageOptions::default()).await
    }

    /// The same, another part of the list.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity), and `invalid_cursor`.
    pub async fn conversations_with(&self, page: PageOptions) -> Result<Page<Conversation>> {
        self.access
            .json(page.of(Call::new(&routes::MESSAGING_CONVERSATIONS)))
            .await
    }

    /// Opens the conversation with somebody, or returns the one there is. Until they accept it is a request, with at most 3
    /// messages.
    ///
    /// # Errors
    ///
    /// `not_found` for nobody, `rate_limited` beyond 20 new people a day; otherwise as [`identity`](Self::identity).
    pub async fn direct(&self, to: impl Into<String>) -> Result<Conversation> {
        let call = Call::new(&routes::MESSAGING_DIRECT).body(&OpenDirect { to: to.into() })?;
        self.conversation(call.repeatable(true)).await
    }

    /// Accepts a request of somebody else.
    ///
    /// # Errors
    ///
    /// `conversation_conflict` for what is none; otherwise as [`identity`](Self::identity).
    pub async fn accept(&self, conversation_id: &str) -> Result<Conversation> {
        self.act(&routes::MESSAGING_ACCEPT, conversation_id).await
    }

    /// Declines a request. The other side does not learn of it.
    ///
    /// # Errors
    ///
    /// As [`accept`](Self::accept).
    pub async fn decline(&self, conversation_id: &str) -> Result<Conversation> {
        self.act(&routes::MESSAGING_DECLINE, conversation_id).await
    }

    /// What is written later does not arrive, until the conversation is opened again with [`direct`](Self::direct).
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity).
    pub async fn leave(&self, conversation_id: &str) -> Result<Conversation> {
        self.act(&routes::MESSAGING_LEAVE, conversation_id).await
    }

    /// Likewise, and requests do not arrive either. The other side does not learn of it.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity).
    pub async fn block(&self, conversation_id: &str) -> Result<Conversation> {
        self.act(&routes::MESSAGING_BLOCK, conversation_id).await
    }

    /// Marks messages as read, up to this one, for all apps of the account.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity).
    pub async fn read(&self, conversation_id: &str, message_id: impl Into<String>) -> Result<Conversation> {
        let body = ReadConversation {
            message_id: message_id.into(),
        };
        let call = Call::new(&routes::MESSAGING_READ)
            .parameter(conversation_id)
            .body(&body)?;
        self.conversation(call.repeatable(true)).await
    }

    /// The newest first.
    ///
    /// # Errors
    ///
    /// As [`identity`](Self::identity), and `invalid_cursor`.
    pub async fn messages(&self, conversation_id: &str, page: PageOptions) -> Result<Page<ConversationMessage>> {
        let call = Call::new(&routes::MESSAGING_MESSAGES).parameter(conversation_id);
        self.access.json(page.of(call)).await
    }

    /// Sends a text of 1 to 16,384 characters. The same `transaction_id` again sends nothing more and returns what was sent, so
    /// keep it with a draft that may be sent again.
    ///
    /// # Errors
    ///
    /// `conversation_conflict` with the reason: not accepted yet, left, or another text under this `transaction_id`; otherwise as
    /// [`identity`](Self::identity).
    pub async fn send(
        &self,
        conversation_id: &str,
        transaction_id: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<ConversationMessage> {
        let body = SendMessage {
            transaction_id: transaction_id.into(),
            message: MessageText { body: body.into() },
        };
        let call = Call::new(&routes::MESSAGING_SEND)
            .parameter(conversation_id)
            .body(&body)?
            .repeatable(true);
        Ok(self.access.json::<MessageAnswer>(call).await?.message)
    }

    /// What changed since a cursor, which a former answer gave, in order and each at least once; without one the newest
    /// conversations, and a cursor of now. The platform waits for news as long as `timeout_ms` says.
    ///
    /// # Errors
    ///
    /// `invalid_cursor` for one that is older than 30 days: begin without one. Otherwise as [`identity`](Self::identity).
    pub async fn sync(&self, sync: &MessagingSync) -> Result<MessagingNews> {
        let limit = ANSWER + Duration::from_millis(sync.timeout_ms.unwrap_or_default());
        let call = Call::new(&routes::MESSAGING_SYNC)
            .body(sync)?
            .repeatable(true)
            .timeout(limit);
        self.access.json(call).await
    }

    async fn act(&self, route: &Route, conversation_id: &str) -> Result<Conversation> {
        // Once more it changes nothing.
        self.conversation(Call::new(route).parameter(conversation_id).repeatable(true))
            .await
    }

    async fn conversation(&self, call: Call<'_>) -> Result<Conversation> {
        Ok(self.access.json::<ConversationAnswer>(call).await?.conversation)
    }
}
