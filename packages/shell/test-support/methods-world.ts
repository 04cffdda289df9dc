// A shell for tests of the bridge's methods: its apps, records and grants are what a test says, and it writes down what
// it was made to do. Used by tests only.
import {
  fileId,
  type Grant,
  type InstalledApp,
  type Notification,
  type NotificationSettings,
  type PendingProposal,
  type PickedFile,
  type RouteAnswer,
  type SetupState,
  type ToolAnswer,
  type WalletProposal,
} from '@platform/contract';
import type { ShellRoute } from '../src/api/routes.ts';
import { callMethod } from '../src/apps/bridge/call-method.ts';
import { coveredBy } from '../src/apps/bridge/grants.ts';
import { isPlatformAddress } from '../src/apps/bridge/platform-address.ts';
import { BridgeRefusal } from '../src/apps/bridge/refusal.ts';
import type { BridgeCaller, ShellSide } from '../src/apps/bridge/shell-side.ts';
import { changedSettings } from '../src/desk/notifications/changed-settings.ts';

export const ID = 'ntf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203';
/** Of a platform on which nothing was set up yet. */
export const SETUP: SetupState = {
  providers: [],
  objectStore: false,
  address: { origin: 'http://shell.platform.localhost:8787', local: true },
  registration: { mode: 'open', accounts: 1, invitations: 0 },
  machines: { total: 1, ready: 1 },
};
export const OTHER_ID = 'ntf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910204';

export const PICKED_FILE: PickedFile = {
  id: fileId.parse('fil-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203'),
  name: 'tax.pdf',
  type: 'application/pdf',
  size: 7,
  etag: '"v1"',
};

function app(appId: string, more: Partial<InstalledApp> = {}): InstalledApp {
  return {
    appId,
    name: appId,
    summary: '',
    version: '1.0.0',
    upgrade: null,
    former: null,
    publisher: 'ada',
    icon: `/v1/catalog/${appId}/versions/1.0.0/icon`,
    chrome: 'auto',
    hasFrontend: true,
    hasWorkload: true,
    hasUnreviewedWorkload: false,
    requestsIntelligence: false,
    searchesWeb: false,
    home: false,
    comingSoon: false,
    system: false,
    builtIn: false,
    installedAt: '2026-11-21T10:00:00.000Z',
    ...more,
  };
}

function record(id: string, topic: string): Notification {
  return {
    id: id as Notification['id'],
    appId: 'news',
    topic,
    title: topic,
    body: '',
    priority: 'normal',
    presentation: null,
    delivery: 'inbox',
    dedupeKey: null,
    createdAt: '2026-11-21T10:00:00.000Z',
    expiresAt: null,
    readAt: null,
  };
}

const CONTACT = {
  id: 'ctc-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203',
  address: 'ben@platform.example',
  external: false,
  transport: null,
  label: 'Ben',
  note: '',
  createdAt: '2026-11-21T10:00:00.000Z',
};

const TOOL_RESULT = { content: [{ type: 'text', text: 'done' }], isError: false, refusal: null };
export const PROPOSAL: PendingProposal = {
  id: 'prop-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203',
  state: 'pending',
  tool: 'notes.add',
  expiresAt: '2026-11-21T10:15:00.000Z',
};
const PROPOSED: ToolAnswer = { kind: 'proposal', proposal: PROPOSAL };

const WALLET_PROPOSAL: WalletProposal = {
  id: 'wpr-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203' as WalletProposal['id'],
  kind: 'payment',
  state: 'pending',
  createdAt: '2026-11-21T10:00:00.000Z',
  expiresAt: '2026-11-22T10:00:00.000Z',
  receipt: null,
};

const LIMITS = { requestsPerMinute: 60, monthlyTokens: 1_000_000 };
const INTELLIGENCE = {
  limits: LIMITS,
  operatorLimits: LIMITS,
  currency: 'EUR',
  usage: { month: '2026-11', requests: 3, tokens: 1_200, reserved: 300, models: [] },
};

export interface World {
  grants: Grant[];
  /** By its manifest. */
  requested: Grant[];
  apps: InstalledApp[];
  records: Notification[];
  inFront: boolean;
  isHome: boolean;
  isSystem: boolean;
  appId: string;
  approves: boolean;
  /** Apps whose node does not answer. */
  readonly silent: readonly string[];
  /** Apps whose questions went through the one place that limits them, in order. */
  readonly asked: string[];
  settings: NotificationSettings;
  /** What core answers a method that calls it, by route. */
  readonly answers: Readonly<Partial<Record<ShellRoute, unknown>>>;
  /** What core answers a call of a tool. Default: what was asked for. */
  readonly toolAnswer?: ToolAnswer;
  /** JSON text by app. */
  readonly kept: Map<string, string>;
  /** What the shell was made to do, in order. */
  readonly done: string[];
}

export function world(change: Partial<World> = {}): World {
  return {
    grants: [],
    requested: [],
    apps: [app('notes'), app('store', { hasWorkload: false })],
    records: [record(ID, 'news'), record(OTHER_ID, 'private')],
    inFront: true,
    isHome: false,
    isSystem: false,
    appId: 'asker',
    approves: true,
    silent: [],
    asked: [],
    settings: { system: true, webPush: true, flashes: true, muted: [{ appId: 'notes', topic: 'old' }] },
    answers: {
      'auth.registration': { registration: 'invite' },
      'operator.guide.read': { standing: 'operator', dismissed: false, setup: SETUP },
      'operator.invitations.list': { items: [], nextCursor: null },
      'account.contacts.list': { items: [], nextCursor: null },
      'account.contacts.add': { contact: CONTACT },
      'account.contacts.change': { contact: CONTACT },
      'account.contacts.remove': undefined,
      'apps.wallet.payments': { proposal: WALLET_PROPOSAL },
      'apps.wallet.policies': { proposal: WALLET_PROPOSAL },
      'wallet.read': { address: 'ada@platform.example', balances: [] },
      'wallet.entries': { items: [], nextCursor: null },
      'wallet.proposals.list': { items: [], nextCursor: null },
      'wallet.policies.list': { items: [], nextCursor: null },
      'wallet.policies.remove': undefined,
      'wallet.receipt': { receipt: {} },
      'operator.settings.read': { providers: [] },
      'apps.intelligence.read': INTELLIGENCE,
      'account.proposals.read': { proposal: { caller: 'asker', state: 'executed' } },
      'search.query': { query: 'notes', apps: [], items: [] },
    },
    kept: new Map(),
    done: [],
    ...change,
  };
}

export const status = { state: 'running', since: '2026-11-21T10:00:00.000Z', restarts: 0 } as const;

/** What core answers the shell; an app receives less. */
const asOwnerSees = { ...status, lastExit: null, usage: { logLinesDropped: 41 } };

function answerOfCore<Id extends ShellRoute>(state: World, id: Id, options: object = {}): RouteAnswer<Id> {
  state.done.push(`call ${id} ${JSON.stringify(options)}`);
  if (!(id in state.answers)) throw new Error(`This world does not say what core answers to ${id}.`);
  // What a test says that core answers has the shape of the route.
  return state.answers[id] as RouteAnswer<Id>;
}

export function call(state: World, method: string, params?: unknown): Promise<unknown> {
  const did = (what: string) => {
    state.done.push(what);
  };
  const caller: BridgeCaller = {
    appId: state.appId,
    isSystemApp: () => state.isSystem,
    isHome: () => state.isHome,
    isInFront: () => state.inFront,
  };
  const shell: ShellSide = {
    call: async (id, options) => answerOfCore(state, id, options),
    currentGrants: async () => state.grants,
    requestedGrants: async () => state.requested,
    contextOf: (appId, capabilities) => ({ appId, theme: 'light', displayMode: 'window', capabilities }),
    stateOf: (appId) => state.kept.get(appId) ?? null,
    keepState: (appId, json) => {
      did(`keep ${appId} ${json}`);
      if (json === null) state.kept.delete(appId);
      else state.kept.set(appId, json);
    },
    keepPlace: (appId, place) => did(`place ${appId} ${place}`),
    installedApps: async () => state.apps,
    catalog: async () =>
      state.apps.map(({ appId, name, summary, version, publisher, icon, hasFrontend, hasWorkload }) => ({
        appId,
        name,
        summary,
        version,
        publisher,
        icon,
        hasFrontend,
        hasWorkload,
        categories: [],
        resources: null,
        connects: [],
        rating: 5,
        visibility: 'public',
        own: false,
        publishedAt: '2026-11-21T10:00:00.000Z',
      })),
    details: async (appId, version) => {
      const { name, summary, publisher } = app(appId);
      return {
        ...{
          appId,
          name,
          summary,
          publisher,
          version: version ?? '1.0.0',
          icon: null,
          visibility: 'public',
          own: false,
        },
        ...{
          hasFrontend: true,
          hasWorkload: false,
          categories: [],
          resources: null,
          connects: [],
          rating: 5,
          changes: null,
          size: 1,
        },
        ...{ permissions: [], backend: null, screenshots: [], secretSlots: [], publicRoutes: [], versions: [] },
        installed: { version: '0.9.0', name, icon: '/icon', sameIcon: true },
        publishedAt: '2026-11-21T10:00:00.000Z',
      };
    },
    storeLink: (appId) => `https://platform.example/#/store/${appId}`,
    screenshotOf: async () => 'data:image/png;base64,AA==',
    iconPath: ({ appId, version }) => `/v1/catalog/${appId}/versions/${version}/icon`,
    iconOf: async (path) => (path === null ? null : 'data:image/png;base64,AA=='),
    statusOf: async (appId) => {
      did(`ask for the state of ${appId}`);
      if (state.silent.includes(appId)) throw new BridgeRefusal('workload_unavailable', 'Its node does not answer.');
      await new Promise((resolve) => setImmediate(resolve));
      did(`hear the state of ${appId}`);
      return asOwnerSees;
    },
    startBackend: async (appId) => {
      did(`start ${appId}`);
      return asOwnerSees;
    },
    stopBackend: async (asker, appId) => {
      did(`stop ${appId} for ${asker}`);
      return { ...asOwnerSees, state: 'stopped' };
    },
    listTools: async (appId, cursor) => {
      did(`tools ${appId} ${cursor ?? ''}`);
      return { items: [], nextCursor: null };
    },
    callTool: async (appId, { name, arguments: given = {}, propose }) => {
      did(`${propose ? 'propose' : 'tool'} ${appId} ${name} ${JSON.stringify(given)}`);
      return state.toolAnswer ?? (propose ? PROPOSED : { kind: 'result', ...TOOL_RESULT });
    },
    homeTiles: async () => ({ pinned: ['notes'], order: ['store'], begun: true }),
    arrangeHome: async (tiles) => {
      did(`arrange ${JSON.stringify(tiles)}`);
      return tiles;
    },
    notifications: async ({ topic, cursor }) => {
      const records = state.records.filter((each) => topic === undefined || each.topic === topic);
      // One record a page, so that every walk has to follow cursors.
      const at = Number(cursor ?? 0);
      return { items: records.slice(at, at + 1), nextCursor: at + 1 < records.length ? String(at + 1) : null };
    },
    markRead: async (id) => {
      did(`read ${id}`);
      return record(id, 'news');
    },
    markAllRead: async (topics) => {
      const { length } = state.records.filter(({ topic }) => coveredBy(topics, topic));
      if (length > 0) did(`read all ${topics.join(' ')}`);
      return length;
    },
    notificationSettings: async () => state.settings,
    changeNotificationSettings: async (change) => {
      did(`settings ${JSON.stringify(change)}`);
      state.settings = changedSettings(state.settings, change);
      return state.settings;
    },
    recipient: async () => ({
      status: async () => ({ state: 'ready' }),
      seal: async (appId, plaintext) => {
        did(`seal ${appId} ${plaintext}`);
        return { sealed: 'AQAA' };
      },
      open: async (appId, sealed) => {
        did(`unseal ${appId} ${sealed}`);
        return { plaintext: 'aGVsbG8' };
      },
    }),
    open: (appId, target) => did(`open ${appId} ${target}`),
    goHome: () => did('home'),
    becomeHome: async (appId) => did(`become home ${appId}`),
    restoreHome: async () => did('restore home'),
    indexForSearch: async (appId, entries) => {
      did(`index ${appId} ${entries.map(({ id }) => id)}`);
      return { indexed: entries.length };
    },
    openSearch: async (asker) => did(`search ${asker}`),
    setTitle: (appId, title) => did(`title ${appId} ${title}`),
    showSurface: (surface, appId) => did(`surface ${surface} ${appId}`),
    ask: (asker, question) => {
      state.asked.push(asker);
      return question();
    },
    reviewWithdraw: async (asker, appId, version) => {
      did(`withdraw ${asker} ${appId} ${version}`);
      return state.approves;
    },
    reviewInstall: async (asker, appId, version) => {
      did(`review ${asker} ${appId} ${version}`);
      return state.approves;
    },
    reviewDraft: async (asker, draftId) => {
      did(`draft? ${asker} ${draftId}`);
      return state.approves;
    },
    reviewWalletProposal: async (asker, id) => {
      did(`wallet? ${asker} ${id}`);
      return { declined: !state.approves, proposal: WALLET_PROPOSAL };
    },
    saveStatement: async (asker, format) => {
      did(`statement ${asker} ${format}`);
      return state.approves;
    },
    reviewProposal: async (id) => did(`proposal? ${id}`),
    reviewUninstall: async (asker, appId) => {
      did(`remove? ${asker} ${appId}`);
      return state.approves;
    },
    isPlatformAddress: (_, url) => isPlatformAddress(url, 'https://shell.example', 'https://asker--x.apps.example'),
    reviewLink: async (asker, url) => {
      did(`link? ${asker} ${url}`);
      return state.approves;
    },
    saveFile: async (asker, { file, name }) => {
      did(`save? ${asker} ${name} ${file.size}`);
      return state.approves;
    },
    pickContact: async (asker) => {
      did(`pick? ${asker}`);
      return state.approves ? { address: 'ben@platform.example', label: 'Ben' } : null;
    },
    pickFile: async (asker, access) => {
      did(`pick file? ${asker} ${access}`);
      return state.approves ? PICKED_FILE : null;
    },
    keepFile: async (asker, name) => {
      did(`keep? ${asker} ${name}`);
      return state.approves ? name : null;
    },
    reviewInvite: async (asker, name) => {
      did(`invite? ${asker} ${name}`);
      return state.approves;
    },
    reviewUninvite: async (asker, id) => {
      did(`uninvite? ${asker} ${id}`);
      return state.approves;
    },
    reviewAccountChange: async (asker, { name, change }) => {
      did(`${change}? ${asker} ${name}`);
      return state.approves;
    },
    reviewPause: async (asker) => {
      did(`pause? ${asker}`);
      return state.approves;
    },
  };
  return callMethod(shell, caller, method, params);
}
