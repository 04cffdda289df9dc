// Made from openapi.json by `npm run openapi`; do not edit.
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::string_enum::string_enum;

string_enum! {
    pub enum ErrorCode {
        AccountClosing = "account_closing",
        AccountNameTaken = "account_name_taken",
        AccountShare = "account_share",
        ActivityConflict = "activity_conflict",
        ActivityLeased = "activity_leased",
        ActivityLimit = "activity_limit",
        AgentBusy = "agent_busy",
        AgentGone = "agent_gone",
        AgentSessionFull = "agent_session_full",
        AgentStorageFull = "agent_storage_full",
        AlreadyInstalled = "already_installed",
        AuthorRequestDenied = "author_request_denied",
        AuthorRequestEnded = "author_request_ended",
        BindingStale = "binding_stale",
        BudgetExhausted = "budget_exhausted",
        ConcurrencyLimited = "concurrency_limited",
        ConsentDenied = "consent_denied",
        ContactExists = "contact_exists",
        ContentConflict = "content_conflict",
        ConversationConflict = "conversation_conflict",
        DiskQuota = "disk_quota",
        ForbiddenMaterial = "forbidden_material",
        GrantMissing = "grant_missing",
        GrantsExceedRequest = "grants_exceed_request",
        HeadTooLarge = "head_too_large",
        InsufficientFunds = "insufficient_funds",
        InternalError = "internal_error",
        InvalidCursor = "invalid_cursor",
        InvalidPath = "invalid_path",
        InvalidRequest = "invalid_request",
        LeaseLost = "lease_lost",
        MasterAccountOnly = "master_account_only",
        MethodNotAllowed = "method_not_allowed",
        NotAuthorized = "not_authorized",
        NotFound = "not_found",
        OriginNotAllowed = "origin_not_allowed",
        PayloadTooLarge = "payload_too_large",
        PlacementNotAllowed = "placement_not_allowed",
        PlanRequired = "plan_required",
        PolicyRefused = "policy_refused",
        PreconditionFailed = "precondition_failed",
        ProposalConflict = "proposal_conflict",
        RateLimited = "rate_limited",
        RecipientConflict = "recipient_conflict",
        RuntimePaused = "runtime_paused",
        ScheduleLimit = "schedule_limit",
        SessionExpired = "session_expired",
        SessionReplaced = "session_replaced",
        TransportUnavailable = "transport_unavailable",
        Unauthenticated = "unauthenticated",
        Unavailable = "unavailable",
        UnknownHost = "unknown_host",
        UnsupportedMediaType = "unsupported_media_type",
        UpstreamFailed = "upstream_failed",
        UpstreamRedirectRefused = "upstream_redirect_refused",
        UpstreamTimeout = "upstream_timeout",
        VerificationFailed = "verification_failed",
        VersionExists = "version_exists",
        VersionInUse = "version_in_use",
        VolumeInUse = "volume_in_use",
        WorkflowConflict = "workflow_conflict",
        WorkflowInputTooLarge = "workflow_input_too_large",
        WorkflowNotRunning = "workflow_not_running",
        WorkflowResultTooLarge = "workflow_result_too_large",
        WorkflowRunLimit = "workflow_run_limit",
        WorkloadUnavailable = "workload_unavailable",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServicesApp {
    /// 3 to 40 characters.
    pub app_id: String,
    pub name: String,
    pub summary: String,
    /// 0 to 64 characters.
    pub version: String,
    pub icon: Option<String>,
    pub installed: bool,
    pub running: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemAccounts {
    pub total: u64,
    pub paused: u64,
    pub suspended: u64,
    pub active: u64,
    pub sessions: u64,
    pub registered: Vec<u64>,
}

string_enum! {
    pub enum SystemNodeState {
        Ready = "ready",
        Cordoned = "cordoned",
        Lost = "lost",
        Joining = "joining",
    }
}

string_enum! {
    pub enum SystemNodeCarrier {
        Tls = "tls",
        Iroh = "iroh",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemNodeLoad {
    pub cpus: f64,
    /// 0 to 2147483647.
    #[serde(rename = "memoryUsedMiB")]
    pub memory_used_mib: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemNode {
    pub name: String,
    pub state: SystemNodeState,
    pub local: bool,
    pub labels: Vec<String>,
    pub version: Option<String>,
    pub driver: Option<String>,
    pub mechanism: Option<String>,
    pub carrier: Option<SystemNodeCarrier>,
    /// RFC 3339.
    pub seen_at: Option<String>,
    pub cpus: Option<f64>,
    #[serde(rename = "memoryMiB")]
    pub memory_mib: Option<u64>,
    #[serde(rename = "reservedMiB")]
    pub reserved_mib: u64,
    #[serde(rename = "placedMiB")]
    pub placed_mib: u64,
    #[serde(rename = "diskMiB")]
    pub disk_mib: Option<u64>,
    #[serde(rename = "diskPromisedMiB")]
    pub disk_promised_mib: u64,
    pub disk_full: bool,
    pub installations: u64,
    pub running: u64,
    pub load: Option<SystemNodeLoad>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemNodes {
    pub total: u64,
    pub items: Vec<SystemNode>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemCapacity {
    pub cpus: f64,
    #[serde(rename = "memoryMiB")]
    pub memory_mib: u64,
    #[serde(rename = "reservedMiB")]
    pub reserved_mib: u64,
    #[serde(rename = "placedMiB")]
    pub placed_mib: u64,
    #[serde(rename = "diskMiB")]
    pub disk_mib: u64,
    #[serde(rename = "diskPromisedMiB")]
    pub disk_promised_mib: u64,
    pub waiting: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemInstallationStates {
    pub running: u64,
    pub starting: u64,
    pub stopped: u64,
    pub failed: u64,
    pub unknown: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemApp {
    pub app_id: String,
    pub name: String,
    pub installations: u64,
    pub running: u64,
    pub failed: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemInstallations {
    pub total: u64,
    pub states: SystemInstallationStates,
    pub apps: u64,
    pub largest: Vec<SystemApp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemTrafficFigures {
    pub requests: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemTrafficHour {
    pub outbound: SystemTrafficFigures,
    pub inbound: SystemTrafficFigures,
    /// RFC 3339.
    pub at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemTraffic {
    pub hours: Vec<SystemTrafficHour>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemEndpoint {
    pub node: String,
    pub origin: Option<String>,
    pub shares_volumes: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemLabel {
    pub label: String,
    pub nodes: u64,
    pub reserved: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemTopology {
    pub origin: String,
    pub apps_domain: String,
    pub version: String,
    pub clock: Option<String>,
    pub endpoints: Vec<SystemEndpoint>,
    pub labels: Vec<SystemLabel>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemPackages {
    pub versions: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemUsage {
    pub database_bytes: u64,
    pub packages: SystemPackages,
    pub volumes: u64,
    pub notifications: u64,
    pub search_entries: u64,
    pub work_leases: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemInventory {
    pub accounts: SystemAccounts,
    pub nodes: SystemNodes,
    pub capacity: SystemCapacity,
    pub installations: SystemInstallations,
    pub traffic: SystemTraffic,
    pub topology: SystemTopology,
    pub usage: SystemUsage,
}

string_enum! {
    pub enum NotificationPriority {
        Low = "low",
        Normal = "normal",
        High = "high",
        Critical = "critical",
    }
}

string_enum! {
    pub enum PresentationMode {
        Card = "card",
        Banner = "banner",
        Flash = "flash",
    }
}

string_enum! {
    pub enum PresentationTone {
        Neutral = "neutral",
        Accent = "accent",
        Success = "success",
        Warning = "warning",
        Danger = "danger",
    }
}

string_enum! {
    pub enum PresentationLayout {
        Compact = "compact",
        Standard = "standard",
        Hero = "hero",
    }
}

string_enum! {
    pub enum NotificationActionType {
        OpenApp = "open-app",
    }
}

string_enum! {
    pub enum NotificationActionStyle {
        Primary = "primary",
        Secondary = "secondary",
        Danger = "danger",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationAction {
    pub id: String,
    /// 1 to 40 characters.
    pub label: String,
    pub r#type: NotificationActionType,
    /// Default `"secondary"`.
    pub style: NotificationActionStyle,
    /// 0 to 512 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presentation {
    /// Default `"card"`.
    pub mode: PresentationMode,
    /// Default `"neutral"`.
    pub tone: PresentationTone,
    /// Default `"standard"`.
    pub layout: PresentationLayout,
    /// 1 to 604800.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_seconds: Option<u64>,
    /// Default `[]`.
    pub actions: Vec<NotificationAction>,
}

string_enum! {
    pub enum NotificationDelivery {
        Inbox = "inbox",
        InboxAndSystem = "inbox-and-system",
        InboxAndWebPush = "inbox-and-web-push",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    pub id: String,
    /// 3 to 40 characters.
    pub app_id: String,
    pub topic: String,
    pub title: String,
    pub body: String,
    pub priority: NotificationPriority,
    pub presentation: Option<Presentation>,
    pub delivery: NotificationDelivery,
    pub dedupe_key: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub expires_at: Option<String>,
    /// RFC 3339.
    pub read_at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationAnswer {
    pub notification: Notification,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishAction {
    pub id: String,
    /// 1 to 40 characters.
    pub label: String,
    pub r#type: NotificationActionType,
    /// Default `"secondary"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<NotificationActionStyle>,
    /// 0 to 512 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl PublishAction {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(id: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            r#type: NotificationActionType::OpenApp,
            style: None,
            target: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishPresentation {
    /// Default `"card"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PresentationMode>,
    /// Default `"neutral"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tone: Option<PresentationTone>,
    /// Default `"standard"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<PresentationLayout>,
    /// 1 to 604800.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_seconds: Option<u64>,
    /// Default `[]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<PublishAction>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishNotification {
    /// 1 to 64 characters.
    pub topic: String,
    /// 1 to 120 characters.
    pub title: String,
    /// 0 to 2000 characters, default `""`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Default `"normal"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<NotificationPriority>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presentation: Option<PublishPresentation>,
    /// Default `"inbox-and-system"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<NotificationDelivery>,
    /// 1 to 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
}

impl PublishNotification {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(topic: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            title: title.into(),
            body: None,
            priority: None,
            presentation: None,
            delivery: None,
            dedupe_key: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadAllAnswer {
    pub updated: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexedAnswer {
    pub indexed: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchEntry {
    /// 1 to 128 characters.
    pub id: String,
    /// 1 to 256 characters.
    pub title: String,
    /// 1 to 64 characters, default `"item"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// 1 to 1024 characters.
    pub url: String,
    /// Default `""`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl SearchEntry {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(id: impl Into<String>, title: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            kind: None,
            url: url.into(),
            text: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchEntries {
    pub entries: Vec<SearchEntry>,
}

string_enum! {
    pub enum MessagingTransport {
        Bundled = "bundled",
        Bridge = "bridge",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingIdentity {
    pub address: String,
    pub transport_user_id: String,
    pub transport: MessagingTransport,
    pub provisioned: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingIdentityAnswer {
    pub identity: MessagingIdentity,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingContact {
    pub address: String,
    pub transport_user_id: String,
    pub external: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingContactAnswer {
    pub contact: MessagingContact,
}

string_enum! {
    pub enum ConversationKind {
        Direct = "direct",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationParticipant {
    pub address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport_user_id: Option<String>,
}

string_enum! {
    pub enum ConversationState {
        Open = "open",
        Requested = "requested",
        Request = "request",
        Left = "left",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// 0 to 512 characters.
    pub id: String,
    pub kind: ConversationKind,
    pub transport: MessagingTransport,
    pub participants: Vec<ConversationParticipant>,
    pub state: ConversationState,
    pub unread: i64,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub last_message_at: Option<String>,
    pub encrypted: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationAnswer {
    pub conversation: Conversation,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenDirect {
    /// 1 to 255 characters.
    pub to: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadConversation {
    /// 0 to 512 characters.
    pub message_id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSender {
    pub address: String,
}

string_enum! {
    pub enum MessageKind {
        Text = "text",
        Unsupported = "unsupported",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// 0 to 512 characters.
    pub id: String,
    /// 0 to 512 characters.
    pub conversation_id: String,
    pub sender: MessageSender,
    pub body: String,
    pub kind: MessageKind,
    /// RFC 3339.
    pub sent_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageAnswer {
    pub message: ConversationMessage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageText {
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// 1 to 128 characters.
    pub transaction_id: String,
    pub message: MessageText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingNews {
    pub cursor: String,
    pub conversations: Vec<Conversation>,
    pub messages: Vec<ConversationMessage>,
    pub has_more: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagingSync {
    /// 1 to 2048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// 0 to 30000, default `0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// 1 to 100, default `50`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkLease {
    pub id: String,
    /// RFC 3339.
    pub expires_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkLeaseAnswer {
    pub lease: WorkLease,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateWorkLease {
    /// 15 to 300.
    pub duration_seconds: u64,
    /// 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CreateWorkLease {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(duration_seconds: u64) -> Self {
        Self {
            duration_seconds,
            reason: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenewWorkLease {
    /// 15 to 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<u64>,
}

string_enum! {
    pub enum WorkflowStatus {
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
        Expired = "expired",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowError {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// 0 to 2000 characters.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRun {
    pub id: String,
    pub definition: String,
    pub version: i64,
    pub idempotency_key: String,
    pub status: WorkflowStatus,
    pub input: Value,
    pub result: Value,
    pub error: Option<WorkflowError>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// RFC 3339.
    pub expires_at: String,
    /// RFC 3339.
    pub completed_at: Option<String>,
    /// RFC 3339.
    pub cleanup_at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppCapability {
    pub capability: String,
    /// RFC 3339.
    pub expires_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCapability {
    pub valid: bool,
    /// RFC 3339.
    pub expires_at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyCapability {
    /// 1 to 200 characters.
    pub capability: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowAnswer {
    pub run: WorkflowRun,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateWorkflow {
    /// 1 to 128 characters.
    pub definition: String,
    /// 0 to 2147483647.
    pub version: u64,
    /// 1 to 200 characters.
    pub idempotency_key: String,
    /// Default `null`.
    #[serde(default)]
    pub input: Value,
    /// 1 to 604800.
    pub duration_seconds: u64,
}

impl CreateWorkflow {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(definition: impl Into<String>, version: u64, idempotency_key: impl Into<String>, duration_seconds: u64) -> Self {
        Self {
            definition: definition.into(),
            version,
            idempotency_key: idempotency_key.into(),
            input: Value::Null,
            duration_seconds,
        }
    }
}

string_enum! {
    pub enum WorkflowEventKind {
        Created = "created",
        ActivityClaimed = "activity-claimed",
        ActivityLeaseExpired = "activity-lease-expired",
        ActivityCompleted = "activity-completed",
        ActivityFailed = "activity-failed",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
        Expired = "expired",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowEvent {
    pub sequence: u64,
    /// RFC 3339.
    pub at: String,
    pub event: WorkflowEventKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedActivity {
    pub id: String,
    pub step: String,
    pub name: String,
    pub attempt: u64,
    pub lease_token: String,
    /// RFC 3339.
    pub lease_expires_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletedActivity {
    pub id: String,
    pub step: String,
    pub name: String,
    pub attempt: u64,
    pub result: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum ClaimAnswer {
    #[serde(rename_all = "camelCase")]
    Claimed {
        activity: ClaimedActivity,
    },
    #[serde(rename_all = "camelCase")]
    Completed {
        activity: CompletedActivity,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimActivity {
    /// 1 to 128 characters.
    pub activity: String,
    /// Default `null`.
    #[serde(default)]
    pub input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_token: Option<String>,
}

impl ClaimActivity {
    /// With what is required, and the defaults of the platform for the rest.
    pub fn new(activity: impl Into<String>) -> Self {
        Self {
            activity: activity.into(),
            input: Value::Null,
            lease_token: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowActivity {
    pub id: String,
    pub step: String,
    pub name: String,
    pub attempt: u64,
    /// RFC 3339.
    pub lease_expires_at: Option<String>,
    #[serde(default)]
    pub result: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityAnswer {
    pub activity: WorkflowActivity,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenewActivity {
    pub lease_token: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CompleteActivity {
    #[serde(rename_all = "camelCase")]
    Result {
        lease_token: String,
        result: Value,
    },
    #[serde(rename_all = "camelCase")]
    Error {
        lease_token: String,
        error: WorkflowError,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum CompleteWorkflow {
    #[serde(rename_all = "camelCase")]
    Completed {
        /// Default `null`.
        #[serde(default)]
        result: Value,
    },
    #[serde(rename_all = "camelCase")]
    Failed {
        error: WorkflowError,
    },
}

pub(crate) mod routes {
    use reqwest::Method;

    use crate::call::Route;

    /// Apps that the account installed or published.
    pub(crate) const APPS_LIST: Route = Route { method: Method::GET, path: "/v1/services/apps" };
    /// Inventory of the whole platform, for an app of the master account.
    pub(crate) const SYSTEM_READ: Route = Route { method: Method::GET, path: "/v1/services/system" };
    /// Notifications on the granted topics.
    pub(crate) const NOTIFICATIONS_LIST: Route = Route { method: Method::GET, path: "/v1/services/notifications" };
    /// Publish a notification.
    pub(crate) const NOTIFICATIONS_PUBLISH: Route = Route { method: Method::POST, path: "/v1/services/notifications" };
    /// Mark one visible record read.
    pub(crate) const NOTIFICATIONS_READ: Route = Route { method: Method::POST, path: "/v1/services/notifications/{id}/read" };
    /// Mark all visible records read.
    pub(crate) const NOTIFICATIONS_READ_ALL: Route = Route { method: Method::POST, path: "/v1/services/notifications/read-all" };
    /// Live notifications on the granted topics (SSE, resumable).
    pub(crate) const NOTIFICATIONS_STREAM: Route = Route { method: Method::GET, path: "/v1/services/notifications/stream" };
    /// Replace the installation's whole index.
    pub(crate) const SEARCH_REPLACE: Route = Route { method: Method::PUT, path: "/v1/services/search/index" };
    /// Add or change entries.
    pub(crate) const SEARCH_UPSERT: Route = Route { method: Method::POST, path: "/v1/services/search/index" };
    /// Remove one entry.
    pub(crate) const SEARCH_REMOVE: Route = Route { method: Method::DELETE, path: "/v1/services/search/index/{entryId}" };
    /// Clear the index.
    pub(crate) const SEARCH_CLEAR: Route = Route { method: Method::DELETE, path: "/v1/services/search/index" };
    /// Who the account is to others; made at the first call.
    pub(crate) const MESSAGING_IDENTITY: Route = Route { method: Method::GET, path: "/v1/services/messaging/identity" };
    /// Look up whom an address names.
    pub(crate) const MESSAGING_RESOLVE: Route = Route { method: Method::GET, path: "/v1/services/messaging/contacts/{address}" };
    /// Conversations of the account, the latest first.
    pub(crate) const MESSAGING_CONVERSATIONS: Route = Route { method: Method::GET, path: "/v1/services/messaging/conversations" };
    /// Open the conversation with somebody: a request until they accept it.
    pub(crate) const MESSAGING_DIRECT: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/direct" };
    /// Accept a request.
    pub(crate) const MESSAGING_ACCEPT: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/accept" };
    /// Decline a request; the other side does not learn of it.
    pub(crate) const MESSAGING_DECLINE: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/decline" };
    /// Leave a conversation; what is written to it later does not arrive.
    pub(crate) const MESSAGING_LEAVE: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/leave" };
    /// Block the other side, which does not learn of it.
    pub(crate) const MESSAGING_BLOCK: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/block" };
    /// Mark messages as read, up to one.
    pub(crate) const MESSAGING_READ: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/read" };
    /// Messages of a conversation, the newest first.
    pub(crate) const MESSAGING_MESSAGES: Route = Route { method: Method::GET, path: "/v1/services/messaging/conversations/{conversationId}/messages" };
    /// Send a text message; repeated with its transactionId, it is sent once.
    pub(crate) const MESSAGING_SEND: Route = Route { method: Method::POST, path: "/v1/services/messaging/conversations/{conversationId}/messages" };
    /// What changed since a cursor; waits for it.
    pub(crate) const MESSAGING_SYNC: Route = Route { method: Method::POST, path: "/v1/services/messaging/sync" };
    /// The tools that the caller may call or propose, those of the platform and of other apps (MCP, Streamable HTTP).
    pub(crate) const MCP: Route = Route { method: Method::POST, path: "/v1/services/mcp" };
    /// The tools, resources and prompts of one app under their own names (MCP, Streamable HTTP).
    pub(crate) const MCP_APP: Route = Route { method: Method::POST, path: "/v1/services/mcp/{appId}" };
    /// Keep the workload awake for a while.
    pub(crate) const WORK_LEASES_CREATE: Route = Route { method: Method::POST, path: "/v1/services/runtime/work-leases" };
    /// Renew a work lease for its duration, from now.
    pub(crate) const WORK_LEASES_RENEW: Route = Route { method: Method::POST, path: "/v1/services/runtime/work-leases/{id}/renew" };
    /// End a work lease.
    pub(crate) const WORK_LEASES_RELEASE: Route = Route { method: Method::DELETE, path: "/v1/services/runtime/work-leases/{id}" };
    /// Runs of the installation, newest first.
    pub(crate) const WORKFLOWS_LIST: Route = Route { method: Method::GET, path: "/v1/services/workflows" };
    /// A new data-plane capability for clients that the backend lets in.
    pub(crate) const APP_CAPABILITY_RENEW: Route = Route { method: Method::POST, path: "/v1/services/runtime/capability" };
    /// Whether a data-plane capability is valid for this installation.
    pub(crate) const APP_CAPABILITY_VERIFY: Route = Route { method: Method::POST, path: "/v1/services/runtime/capability/verify" };
    /// Create a workflow run, or recover the one of this identity.
    pub(crate) const WORKFLOWS_CREATE: Route = Route { method: Method::POST, path: "/v1/services/workflows" };
    /// One workflow run.
    pub(crate) const WORKFLOWS_READ: Route = Route { method: Method::GET, path: "/v1/services/workflows/{workflowId}" };
    /// Cancel a running workflow run, or remove one that ended.
    pub(crate) const WORKFLOWS_DELETE: Route = Route { method: Method::DELETE, path: "/v1/services/workflows/{workflowId}" };
    /// What happened in a workflow run, oldest first.
    pub(crate) const WORKFLOWS_HISTORY: Route = Route { method: Method::GET, path: "/v1/services/workflows/{workflowId}/history" };
    /// Claim a step, or get the result it was completed with.
    pub(crate) const WORKFLOWS_CLAIM: Route = Route { method: Method::POST, path: "/v1/services/workflows/{workflowId}/activities/{step}/claim" };
    /// Renew the lease of an activity.
    pub(crate) const WORKFLOWS_RENEW: Route = Route { method: Method::POST, path: "/v1/services/workflows/{workflowId}/activities/{activityId}/renew" };
    /// Complete an activity with its result, or give it back with an error.
    pub(crate) const WORKFLOWS_COMPLETE_ACTIVITY: Route = Route { method: Method::POST, path: "/v1/services/workflows/{workflowId}/activities/{activityId}/complete" };
    /// End a workflow run with its result or error.
    pub(crate) const WORKFLOWS_COMPLETE: Route = Route { method: Method::POST, path: "/v1/services/workflows/{workflowId}/complete" };
}
