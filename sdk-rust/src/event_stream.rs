//! A live stream of notifications (text/event-stream). It connects again with growing pauses and asks for the events that
//! it missed.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use reqwest::header::{ACCEPT, AUTHORIZATION};
use serde::Deserialize;
use serde_json::Value;

use crate::call::{Access, network};
use crate::error::{Error, Result};
use crate::event_text::{EventParser, TextEvent};
use crate::patience::{doubled, random};
use crate::wire::{Notification, routes};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// One event of a [`NotificationStream`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NotificationEvent {
    /// A later stream can go on after it.
    pub id: Option<String>,
    /// What happened.
    pub change: NotificationChange,
}

/// What happened to notifications.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotificationChange {
    /// A notification arrived.
    Published(Box<Notification>),
    /// These were read; `None`: all of them.
    Read(Option<Vec<String>>),
    /// An event of another name, with its data.
    Other(String, Value),
}

/// Live events. Dropping it closes the connection.
#[must_use = "it connects when it is read"]
pub struct NotificationStream {
    reader: Option<Reader>,
    next: Option<Pin<Box<dyn Future<Output = Read> + Send>>>,
}

impl NotificationStream {
    pub(crate) fn open(access: Access, last_event_id: Option<String>) -> Self {
        let reader = Reader {
            access,
            last_event_id,
            connection: None,
            ready: VecDeque::new(),
            wait: Duration::ZERO,
            failures: 0,
            ended: false,
        };
        Self {
            reader: Some(reader),
            next: None,
        }
    }

    /// The next event; `None` after an error.
    pub async fn next(&mut self) -> Option<Result<NotificationEvent>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for NotificationStream {
    type Item = Result<NotificationEvent>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(mut reader) = this.reader.take() {
            this.next = Some(Box::pin(async move { (reader.next().await, reader) }));
        }
        let Some(next) = this.next.as_mut() else {
            return Poll::Ready(None);
        };
        let (event, reader) = ready!(next.as_mut().poll(context));
        this.next = None;
        this.reader = Some(reader);
        Poll::Ready(event)
    }
}

impl fmt::Debug for NotificationStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NotificationStream").finish_non_exhaustive()
    }
}

/// An event, and who reads the next.
type Read = (Option<Result<NotificationEvent>>, Reader);

struct Connection {
    response: reqwest::Response,
    parser: EventParser,
}

struct Reader {
    access: Access,
    last_event_id: Option<String>,
    connection: Option<Connection>,
    ready: VecDeque<NotificationEvent>,
    /// Before the next connection.
    wait: Duration,
    failures: u32,
    ended: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<NotificationEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.ended {
                return None;
            }
            match self.advance().await {
                Ok(()) => {}
                Err(error) if is_final(&error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
                Err(error) => self.disconnected(error.retry_after()),
            }
        }
    }

    /// Connects, or reads the next piece.
    async fn advance(&mut self) -> Result<()> {
        let Some(connection) = &mut self.connection else {
            tokio::time::sleep(self.wait).await;
            let response = self.connect().await?;
            self.connection = Some(Connection {
                response,
                parser: EventParser::default(),
            });
            return Ok(());
        };
        let Some(piece) = connection.response.chunk().await.map_err(network)? else {
            self.disconnected(None);
            return Ok(());
        };
        for event in connection.parser.read(&piece) {
            self.last_event_id = event.id.clone().or(self.last_event_id.take());
            if let Some(event) = understood(event)? {
                self.failures = 0;
                self.ready.push_back(event);
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<reqwest::Response> {
        let route = &routes::NOTIFICATIONS_STREAM;
        let shared = &self.access.shared;
        let url = format!("{}{}", shared.api, route.path);
        let request = |authorization| {
            let request = shared
                .http
                .request(route.method.clone(), &url)
                .header(AUTHORIZATION, authorization);
            let request = request.header(ACCEPT, "text/event-stream");
            match &self.last_event_id {
                Some(id) => request.header("last-event-id", id),
                None => request,
            }
        };
        let limit = shared.timeout;
        tokio::time::timeout(limit, self.access.send(request))
            .await
            .unwrap_or(Err(Error::TimedOut(limit)))
    }

    fn disconnected(&mut self, retry_after: Option<Duration>) {
        self.connection = None;
        let pause = doubled(FIRST_PAUSE, self.failures, LONGEST_PAUSE);
        // Spread, so that many streams do not come back in the same moment after a restart.
        self.wait = retry_after.unwrap_or_else(|| pause.mul_f64(0.5 + random() / 2.0));
        self.failures = self.failures.saturating_add(1);
    }
}

/// A refusal would be repeated; only failures that pass are tried again.
fn is_final(error: &Error) -> bool {
    match error {
        Error::InvalidRequest(_) => true,
        error => error
            .status()
            .is_some_and(|status| (400..500).contains(&status) && status != 429),
    }
}

#[derive(Deserialize)]
struct Published {
    notification: Box<Notification>,
}

#[derive(Deserialize)]
struct MarkedRead {
    ids: Option<Vec<String>>,
}

/// `None` for an event without data, which only says where the stream is.
fn understood(TextEvent { event, data, id }: TextEvent) -> Result<Option<NotificationEvent>> {
    if data.is_empty() {
        return Ok(None);
    }
    let invalid = |error: serde_json::Error| Error::InvalidAnswer(format!("Event {event}: {error}."));
    let change = match event.as_str() {
        "notification" => {
            NotificationChange::Published(serde_json::from_str::<Published>(&data).map_err(invalid)?.notification)
        }
        "notifications-read" => {
            NotificationChange::Read(serde_json::from_str::<MarkedRead>(&data).map_err(invalid)?.ids)
        }
        _ => NotificationChange::Other(event.clone(), serde_json::from_str(&data).map_err(invalid)?),
    };
    Ok(Some(NotificationEvent { id, change }))
}
