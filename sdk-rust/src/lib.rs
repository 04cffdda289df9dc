//! Client for the services of the application hosting platform: what a workload calls through the Gateway beside it.
//!
//! ```no_run
//! use platform_services::{PlatformServicesClient, PublishNotification};
//!
//! # async fn example() -> platform_services::Result<()> {
//! let platform = PlatformServicesClient::from_env()?;
//! let notification = PublishNotification { body: Some("It is done.".into()), ..PublishNotification::new("jobs", "Export") };
//! platform.notifications().publish(&notification).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Calls have a time limit (30 s unless [`ClientBuilder::timeout`] says otherwise) and end when their future is dropped.
//! Those that change nothing more when they are repeated are repeated twice while the platform restarts; others are sent
//! once. Everything that can go wrong is one [`Error`] with a stable [`code`](Error::code).
//!
//! # Workflows
//!
//! A workflow is an async function whose steps are kept by the platform. Whatever dies, running it again finishes it, and
//! completed steps give their results without being executed again.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use platform_services::{Error, Flow, PlatformServicesClient, WorkflowDefinition, WorkflowOptions};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Order {
//!     number: String,
//!     cents: u64,
//! }
//!
//! async fn order(flow: Flow, order: Order) -> Result<String, Error> {
//!     let receipt: String = flow
//!         .activity("pay", "charge the card", order.clone(), async |order, context| {
//!             // Hand the key on to what has the effect: a step can be executed again after its effect.
//!             charge(&context.idempotency_key, order.cents).await
//!         })
//!         .await?;
//!     flow.activity("mail", "send the receipt", receipt.clone(), async |receipt, context| {
//!         mail(&context.idempotency_key, &receipt).await
//!     })
//!     .await?;
//!     Ok(receipt)
//! }
//! # async fn charge(key: &str, cents: u64) -> Result<String, std::io::Error> { Ok(format!("{key} {cents}")) }
//! # async fn mail(key: &str, receipt: &str) -> Result<(), std::io::Error> { let _ = (key, receipt); Ok(()) }
//!
//! # async fn example() -> Result<(), Error> {
//! let platform = PlatformServicesClient::from_env()?;
//! // What was still running when this app ended goes on beside what comes now.
//! let starting = platform.clone();
//! tokio::spawn(async move { starting.resume_workflows(&[WorkflowDefinition::new("order", 1, order)]).await });
//! let options = WorkflowOptions {
//!     definition: "order".into(),
//!     version: 1,
//!     input: Order { number: "2026-17".into(), cents: 1_990 },
//!     idempotency_key: "2026-17".into(),
//!     duration: Duration::from_secs(3_600),
//! };
//! let receipt = platform.run_workflow(options, order).await?;
//! # let _ = receipt;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `rustls` (default): a platform that is reached by https. The Gateway beside a workload speaks plain HTTP, so a
//!   workload can leave it out.
//! - `websocket` (default): WebSockets to a backend, for native clients ([`Backend::web_socket`]).

mod activity;
mod activity_lease;
mod backend;
mod bytes_call;
mod call;
mod client;
mod content;
mod credential;
mod error;
mod event_stream;
mod event_text;
mod failure;
mod files;
mod keep_awake;
mod messaging;
mod notifications;
mod object_storage;
mod page;
mod patience;
mod resume;
mod run_workflow;
mod search;
mod service_request;
mod signal;
mod string_enum;
mod tools;
mod transport;
mod wallet;
#[cfg(feature = "websocket")]
mod web_socket;
#[rustfmt::skip]
#[allow(missing_docs)]
mod wire;
mod work_lease;
mod workflows;

pub use activity::{ActivityContext, RetryPolicy};
pub use backend::Backend;
pub use bytes_call::{Condition, StoredBytes};
pub use client::{ClientBuilder, PlatformServicesClient};
pub use content::Content;
pub use error::{Error, FieldError, Interruption, Refusal, Result};
pub use event_stream::{NotificationChange, NotificationEvent, NotificationStream};
pub use failure::Failure;
pub use files::Files;
pub use messaging::Messaging;
pub use notifications::{NotificationFilter, Notifications};
pub use object_storage::ObjectStorage;
pub use page::{Page, PageOptions};
/// The HTTP client, whose methods, headers and answers the requests to AI providers and outside services use.
pub use reqwest;
pub use resume::{ResumedRun, WorkflowDefinition};
pub use run_workflow::{Flow, WorkflowOptions};
pub use search::Search;
pub use service_request::ServiceRequest;
pub use tools::{Proposal, Tool, ToolApp, ToolResult, Tools};
pub use wallet::Wallet;
#[cfg(feature = "websocket")]
pub use web_socket::{Message, WebSocket};
pub use wire::{
    AppCapability, AppFile, Collection, ContentChange, ContentInvitation, ContentItem, ContentMember, ContentRole,
    Conversation, ConversationKind, ConversationMessage, ConversationParticipant, ConversationState, CreateCollection,
    ErrorCode, FileAccess, FileAccessEntry, FileOwner, FilePrincipal, GivenRole, InviteMember, InvitedCollection,
    MessageKind, MessageSender, MessagingContact, MessagingIdentity, MessagingNews, MessagingSync, MessagingTransport,
    Money, Notification, NotificationAction, NotificationActionStyle, NotificationActionType, NotificationDelivery,
    NotificationPriority, Presentation, PresentationLayout, PresentationMode, PresentationTone, ProposePayment,
    ProposePolicy, PublishAction, PublishNotification, PublishPresentation, SearchEntry, ServicesApp, SharedFile,
    SystemAccounts, SystemApp, SystemCapacity, SystemEndpoint, SystemInstallationStates, SystemInstallations,
    SystemInventory, SystemLabel, SystemNode, SystemNodeLoad, SystemNodeState, SystemNodes, SystemPackages,
    SystemTopology, SystemTraffic, SystemTrafficFigures, SystemTrafficHour, SystemUsage, UserFile, WalletProposal,
    WalletProposalKind, WalletProposalReceipt, WalletProposalState, WorkflowError, WorkflowEvent, WorkflowEventKind,
    WorkflowRun, WorkflowStatus,
};
pub use work_lease::{WorkLeaseHandle, WorkLeaseOptions};
pub use workflows::{WorkflowFilter, Workflows};
