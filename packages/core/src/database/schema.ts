// The tables as TypeScript sees them; the truth is in migrations/.
import type { Grant, InstallationId, Manifest, NodeHeartbeat, Notification, NotificationId } from '@platform/contract';
import type { ColumnType, Generated, JSONColumnType, Kysely } from 'kysely';

type Bigint = ColumnType<string, number | string | bigint, number | string | bigint>;
type Json<T> = JSONColumnType<T & object, string, string>;
type NullableJson<T> = ColumnType<T | null, string | null, string | null>;

/** The database, or a transaction on it. */
export type Executor = Kysely<DatabaseSchema>;

export interface DatabaseSchema {
  periodic_tasks: { name: string; next_at: Date };
  accounts: { key: string; name: string; created_at: Date; suspended_at: Date | null; paused_at: Date | null };
  passkeys: {
    id: string;
    account_key: string;
    public_key: Buffer;
    counter: Bigint;
    transports: string[];
    backup_eligible: boolean;
    backed_up: boolean;
    label: string;
    created_at: Date;
    last_used_at: Date | null;
  };
  sessions: {
    id: string;
    token_hash: Buffer;
    account_key: string;
    /** The passkey that opened it; `null` for those from before this was kept. */
    passkey_id: string | null;
    user_agent: string | null;
    created_at: Date;
    last_used_at: Date;
    expires_at: Date;
  };
  enrolment_links: { token_hash: Buffer; account_key: string; expires_at: Date };
  challenges: {
    id: string;
    challenge: Buffer;
    operation: 'register' | 'login' | 'add-passkey' | 'enrol';
    account_key: string | null;
    account_name: string | null;
    session_id: string | null;
    enrolment_hash: Buffer | null;
    expires_at: Date;
  };
  package_blobs: { hash: string; size: Bigint; created_at: Date };
  apps: { app_id: string; owner_key: string | null; system: Generated<boolean>; created_at: Date };
  app_versions: {
    app_id: string;
    version: string;
    package_hash: string;
    manifest: Json<Manifest>;
    newest: boolean;
    published_at: Date;
  };
  nodes: {
    id: string;
    name: string;
    credential_hash: Buffer;
    control_url: string | null;
    control_credential: Buffer | null;
    inbound_origin: string | null;
    seen_at: Date | null;
    public_key: Buffer | null;
    credential_expires_at: Generated<Date>;
    labels: Generated<string[]>;
    local: Generated<boolean>;
    leased: Generated<boolean>;
    beat: ColumnType<string, never, never>;
    lost_at: Date | null;
    lost_after_milliseconds: Generated<string>;
    cordoned_at: Date | null;
    joined_at: Date | null;
    memory_mib: number | null;
    cpus: number | null;
    driver: string | null;
    mechanism: string | null;
    runtimes: Generated<string[]>;
    version: string | null;
    shared_store: string | null;
    load_cpus: number | null;
    load_memory_mib: number | null;
    traffic: NullableJson<NonNullable<NodeHeartbeat['traffic']>>;
  };
  traffic_hours: {
    hour: Date;
    outbound_requests: Bigint;
    outbound_sent: Bigint;
    outbound_received: Bigint;
    inbound_requests: Bigint;
    inbound_sent: Bigint;
    inbound_received: Bigint;
  };
  node_tokens: { token_hash: Buffer; labels: string[]; expires_at: Date; used_by: Buffer | null };
  node_challenges: { nonce_hash: Buffer; node_id: string; expires_at: Date };
  installations: {
    id: InstallationId;
    account_key: string;
    app_id: string;
    version: string;
    host_label: string;
    endpoint_id: string;
    generation: Generated<number>;
    grants: Json<Grant[]>;
    revision: Bigint;
    stopped: Generated<boolean>;
    node_id: string | null;
    epoch: Bigint;
    has_volume: Generated<boolean>;
    volume_store: string | null;
    waiting: Generated<boolean>;
    held_by: string | null;
    wanted_hosting: string | null;
    installed_at: Date;
    removed_at: Date | null;
  };
  revisions: { name: string; value: Bigint };
  core_credentials: {
    installation_id: InstallationId;
    token_hash: Buffer;
    node_id: string;
    epoch: Bigint;
    created_at: Date;
  };
  frontend_capabilities: {
    token_hash: Buffer;
    kind: 'launch' | 'frontend';
    installation_id: InstallationId;
    session_id: string;
    expires_at: Date;
  };
  installation_status: {
    installation_id: InstallationId;
    node_id: string;
    state: 'stopped' | 'starting' | 'running' | 'failed';
    since: Date;
    reason: string | null;
    restarts: number;
    last_exit: NullableJson<{ at: string; reason: string }>;
    unenforced: Generated<string[]>;
  };
  work_leases: {
    id: string;
    installation_id: InstallationId;
    duration_seconds: number;
    reason: string | null;
    expires_at: Date;
  };
  notifications: {
    id: NotificationId;
    sequence: Generated<string>;
    account_key: string;
    installation_id: InstallationId;
    app_id: string;
    topic: string;
    title: string;
    body: string;
    priority: Notification['priority'];
    presentation: NullableJson<NonNullable<Notification['presentation']>>;
    delivery: Notification['delivery'];
    dedupe_key: string | null;
    created_at: Date;
    expires_at: Date | null;
    read_at: Date | null;
  };
  notification_settings: { account_key: string; system: boolean; web_push: boolean; flashes: boolean };
  notification_mutes: { account_key: string; app_id: string; topic: string | null };
  push_keys: { name: 'vapid'; public_key: string; sealed_private_key: Buffer; created_at: Date };
  push_subscriptions: {
    id: string;
    account_key: string;
    session_id: string;
    expires_at: Date;
    endpoint_hash: Buffer;
    sealed: Buffer;
    created_at: Date;
    due_at: Date | null;
    lease: string | null;
    leased_until: Date | null;
  };
  push_messages: {
    sequence: Generated<string>;
    subscription_id: string;
    notification_id: NotificationId;
    topic: string | null;
    urgency: 'very-low' | 'low' | 'normal' | 'high';
    sealed: Buffer;
    expires_at: Date;
    attempts: Generated<number>;
    shortened: Generated<boolean>;
  };
  search_entries: {
    installation_id: InstallationId;
    id: string;
    account_key: string;
    app_id: string;
    title: string;
    kind: string;
    url: string;
    digest: Buffer;
    document: string;
  };
  search_feeds: {
    engine: 'opensearch';
    address: string;
    index_name: string;
    obsolete: Generated<string[]>;
    state: Generated<'filling' | 'draining' | 'ready'>;
    filled_to: Generated<string>;
  };
  search_outbox: {
    installation_id: InstallationId;
    entry_id: string;
    account_key: string;
    sequence: Generated<string>;
  };
  search_words: {
    installation_id: InstallationId;
    word: string;
    account_key: string;
    entries: number;
    grams: string;
    remains: string[];
  };
}
