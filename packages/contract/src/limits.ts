// Every numeric limit that crosses a border, once. docs/limits.md is proven equal to this table by a test.

interface LimitEntry {
  readonly value: number;
  readonly unit: 'bytes' | 'days' | 'seconds' | 'milliseconds' | 'characters' | 'items' | 'per minute';
  readonly meaning: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  bodyDefault: { value: 256 * KiB, unit: 'bytes', meaning: 'request body, where the route sets no other limit' },
  jsonDepth: { value: 32, unit: 'items', meaning: 'nesting of a JSON body' },
  pageDefault: { value: 50, unit: 'items', meaning: 'list page when `limit` is absent' },
  pageMaximum: { value: 200, unit: 'items', meaning: 'list page at most' },
  appName: { value: 60, unit: 'characters', meaning: 'name of an app' },
  eventStreams: { value: 16, unit: 'items', meaning: 'live event streams of one account or installation' },
  eventStreamSeconds: { value: 3_600, unit: 'seconds', meaning: 'life of one live event stream; clients resume it' },
  authenticationRate: { value: 300, unit: 'per minute', meaning: 'authentication requests from one client address' },
  sessionRate: { value: 6_000, unit: 'per minute', meaning: 'requests of one session' },
  serviceRate: { value: 1_200, unit: 'per minute', meaning: 'other service requests of one installation' },
  challengeSeconds: {
    value: 300,
    unit: 'seconds',
    meaning: 'life of a passkey challenge (default of PLATFORM_CHALLENGE_TTL_MS)',
  },
  sessionSeconds: {
    value: 2_592_000,
    unit: 'seconds',
    meaning: 'life of a session (default of PLATFORM_SESSION_TTL_MS)',
  },
  enrolmentLinkSeconds: { value: 900, unit: 'seconds', meaning: 'life of an operator enrolment link' },
  passkeysPerAccount: { value: 20, unit: 'items', meaning: 'passkeys of one account' },
  sessionsPerAccount: {
    value: 100,
    unit: 'items',
    meaning: 'sessions of one account; one more ends the one that was used longest ago',
  },
  passkeyLabel: { value: 60, unit: 'characters', meaning: 'label of a passkey' },
  grantsPerInstallation: { value: 64, unit: 'items', meaning: 'distinct permission ids of an installation' },
  grantResources: { value: 256, unit: 'items', meaning: 'resources of one grant' },
  grantResourceLength: { value: 256, unit: 'characters', meaning: 'one resource of a grant' },
  packagePacked: { value: 512 * MiB, unit: 'bytes', meaning: 'package as uploaded' },
  packageUnpacked: { value: 2048 * MiB, unit: 'bytes', meaning: 'package unpacked, all files together' },
  packageEntries: { value: 20_000, unit: 'items', meaning: 'files and folders in a package' },
  packagePathLength: { value: 512, unit: 'bytes', meaning: 'path of a file in a package' },
  packageRatio: { value: 200, unit: 'items', meaning: 'unpacked bytes for each packed byte, beyond the first 64 MiB' },
  manifestSize: { value: 256 * KiB, unit: 'bytes', meaning: '`manifest.json`' },
  workloadIdleSeconds: { value: 300, unit: 'seconds', meaning: 'default idle delay of an automatic workload' },
  publishesPerAccount: { value: 2, unit: 'items', meaning: 'packages one account publishes at the same time' },
  publishes: { value: 8, unit: 'items', meaning: 'packages published at the same time, all accounts together' },
  frontendCapabilitySeconds: { value: 43_200, unit: 'seconds', meaning: 'life of a frontend capability at most' },
  launchCapabilitySeconds: { value: 60, unit: 'seconds', meaning: 'life of the single-use capability in a launch URL' },
  workloadLogLines: { value: 1_000, unit: 'items', meaning: 'log lines kept for an installation' },
  workloadLogLine: { value: 4 * KiB, unit: 'bytes', meaning: 'one log line; the rest is cut' },
  workloadStartSeconds: { value: 15, unit: 'seconds', meaning: 'wait for a workload to start before 503' },
  notificationTopic: { value: 64, unit: 'characters', meaning: 'notification topic' },
  notificationTitle: { value: 120, unit: 'characters', meaning: 'notification title' },
  notificationBody: { value: 2_000, unit: 'characters', meaning: 'notification body' },
  notificationActions: { value: 3, unit: 'items', meaning: 'actions of a notification' },
  notificationActionLabel: { value: 40, unit: 'characters', meaning: 'label of a notification action' },
  notificationTarget: { value: 512, unit: 'characters', meaning: 'target of a notification action' },
  notificationExpirySeconds: {
    value: 604_800,
    unit: 'seconds',
    meaning: '`expiresInSeconds` of a presentation at most',
  },
  notificationDedupeKey: { value: 128, unit: 'characters', meaning: 'dedupe key' },
  notificationsKept: {
    value: 10_000,
    unit: 'items',
    meaning: 'notifications kept for an account; the oldest go first (default of PLATFORM_NOTIFICATIONS_KEPT)',
  },
  notificationDays: {
    value: 90,
    unit: 'days',
    meaning: 'life of a notification (default of PLATFORM_NOTIFICATION_DAYS)',
  },
  notificationMutes: { value: 256, unit: 'items', meaning: 'muted apps and topics of an account' },
  notificationRate: { value: 60, unit: 'per minute', meaning: 'notifications of one installation' },
  notificationBurst: { value: 120, unit: 'items', meaning: 'notifications of one installation in a burst' },
  pushSubscriptions: {
    value: 20,
    unit: 'items',
    meaning: 'browsers of one account that get web push; one more ends the one that subscribed longest ago',
  },
  pushEndpoint: { value: 2_048, unit: 'characters', meaning: 'endpoint of a push subscription' },
  pushPayload: { value: 3_000, unit: 'bytes', meaning: 'web push message before encryption; its body is shortened' },
  pushWaiting: {
    value: 1_000,
    unit: 'items',
    meaning: 'web push messages that wait for one browser; the oldest go first',
  },
  pushLifeSeconds: {
    value: 604_800,
    unit: 'seconds',
    meaning: 'time in which a web push message is delivered or given up, unless its notification expires sooner',
  },
  searchEntries: { value: 10_000, unit: 'items', meaning: 'search entries of an installation' },
  searchUpsert: { value: 1_000, unit: 'items', meaning: 'search entries in one POST' },
  searchBody: { value: 32 * MiB, unit: 'bytes', meaning: 'body of a search index request' },
  searchId: { value: 128, unit: 'characters', meaning: 'id of a search entry' },
  searchTitle: { value: 256, unit: 'characters', meaning: 'title of a search entry' },
  searchKind: { value: 64, unit: 'characters', meaning: 'kind of a search entry' },
  searchUrl: { value: 1_024, unit: 'characters', meaning: 'url of a search entry' },
  searchText: { value: 16 * KiB, unit: 'bytes', meaning: 'search-only text of an entry' },
  searchQuery: { value: 200, unit: 'characters', meaning: 'search query' },
  searchWriteRate: { value: 600, unit: 'per minute', meaning: 'search index writes of one installation' },
  workLeaseShortestSeconds: { value: 15, unit: 'seconds', meaning: 'duration of a work lease at least' },
  workLeaseLongestSeconds: {
    value: 300,
    unit: 'seconds',
    meaning: 'duration of a work lease at most; it can be renewed',
  },
  workLeaseReason: { value: 200, unit: 'characters', meaning: 'reason of a work lease' },
  workLeases: { value: 64, unit: 'items', meaning: 'work leases of one installation at the same time' },
  nodeTokenSeconds: { value: 3_600, unit: 'seconds', meaning: 'life of an enrolment token of a node' },
  nodeCredentialSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'life of a node credential; nodes renew it at half',
  },
  nodeChallengeSeconds: { value: 60, unit: 'seconds', meaning: 'life of the nonce a node signs for a credential' },
  inventoryNodes: { value: 200, unit: 'items', meaning: 'nodes in the system inventory; the rest is only counted' },
  inventoryLabels: { value: 200, unit: 'items', meaning: 'labels of nodes in the system inventory' },
  inventoryApps: {
    value: 50,
    unit: 'items',
    meaning: 'apps in the system inventory, those with the most installations',
  },
} as const satisfies Record<string, LimitEntry>;

export type LimitName = keyof typeof limits;
