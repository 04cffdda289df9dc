// @platform/sdk/browser: what a frontend needs of the platform. One file without dependencies, under 12 kB gzip.
import type {
  BridgeContext,
  BridgeEvents,
  CatalogEntry,
  InstalledApp,
  ListedAccount,
  MadeDraft,
  PickedContact,
  PickedFile,
  ProposePayment,
  ProposePolicy,
  SearchEntry,
  SearchResult,
  ServicesApp,
  SystemInventory,
  WalletProposal,
  WorkloadStatus,
} from '@platform/contract';
import { type Backend, backendOf } from './backend.ts';
import { type Bridge, type BridgeCallOptions, connectBridge } from './bridge.ts';
import type { CallOptions } from './call-options.ts';
import { type ContentService, contentService } from './content.ts';
import { sendDownloadsToShell } from './downloads.ts';
import { type FilesService, filesService, type UserFilesService } from './files.ts';
import { type Launch, LaunchAccess, launchAgain, readLaunch } from './launch.ts';
import { sendLinksToShell } from './links.ts';
import { connectMcp, type McpClientPackage, type McpOptions } from './mcp-client.ts';
import { type MessagingService, messagingService } from './messaging.ts';
import { reportPlace } from './place.ts';
import { PlatformError } from './platform-error.ts';
import { type Recipient, recipientOver } from './recipient.ts';
import { type SchedulesService, schedulesService } from './schedules.ts';
import { sendSearchKeyToShell } from './search-key.ts';
import {
  type AccountListOptions,
  type AppToMake,
  listAccounts,
  listApps,
  makeApp,
  type NotificationsService,
  notificationsService,
  type Page,
  type PageOptions,
  readSystem,
} from './services.ts';
import { type AppState, stateOver } from './state.ts';
import { userFilesService } from './user-files.ts';
import { type WalletService, walletService } from './wallet.ts';

export type {
  AgentAnswer,
  AgentEvent,
  AgentProblem,
  AgentProfile,
  AgentProfileBody,
  AgentSession,
  AgentSessionsFound,
  AppDetails,
  AppFile,
  BridgeContext,
  CatalogEntry,
  ChangeSchedule,
  Collection,
  Contact,
  ContentChange,
  ContentChanges,
  ContentInvitation,
  ContentItem,
  ContentMember,
  Conversation,
  CreateSchedule,
  FileAccessEntry,
  FileTransfer,
  InstalledApp,
  ListedAccount,
  MadeDraft,
  Message,
  MessagingContact,
  MessagingIdentity,
  MessagingNews,
  Notification,
  PendingProposal,
  PickedContact,
  PickedFile,
  Policy,
  ProposePayment,
  ProposePolicy,
  PublishNotification,
  Receipt,
  RecipientState,
  Schedule,
  ScheduleTargetApp,
  SearchEntry,
  SearchResult,
  ServicesApp,
  SetupState,
  SharedFile,
  ShellEvent,
  ShownWalletProposal,
  SystemInventory,
  ToolAnswer,
  UsableTool,
  UserFile,
  WalletBalances,
  WalletEntry,
  WalletProposal,
  WalletProposalState,
  WorkloadStatus,
} from '@platform/contract';
export { type Backend, type BackendConnection, connectBackend, type WebSocketOptions } from './backend.ts';
export type { Bridge, BridgeCallOptions, BridgeParams } from './bridge.ts';
export type { Bytes, BytesToWrite, WriteConditions, WriteOptions } from './bytes-call.ts';
export type { CallOptions } from './call-options.ts';
export type { ContentService } from './content.ts';
export type { FilesService, UserFilesService } from './files.ts';
export type { McpClientLike, McpClientPackage, McpOptions } from './mcp-client.ts';
export type { MessagingService, SyncOptions } from './messaging.ts';
export { PlatformError, type SdkErrorCode } from './platform-error.ts';
export type { Recipient } from './recipient.ts';
export type { SchedulesService } from './schedules.ts';
export type {
  AccountListOptions,
  AppToMake,
  NotificationListOptions,
  NotificationsService,
  Page,
  PageOptions,
  StreamOptions,
} from './services.ts';
export type { AppState } from './state.ts';
export type { WalletService } from './wallet.ts';

/** How many results of a search. */
export interface SearchOptions extends BridgeCallOptions {
  /** 1 to 200; default 20. */
  readonly limit?: number;
}

/** The bridge methods about apps as functions; each needs its grant. */
export interface Apps {
  /** Installed apps. */
  list(options?: BridgeCallOptions): Promise<readonly InstalledApp[]>;
  /** Published apps. */
  catalog(options?: BridgeCallOptions): Promise<readonly CatalogEntry[]>;
  /** Opens an app beside this one; `target` is a query string that starts with `?`. */
  open(appId: string, target?: string, options?: BridgeCallOptions): Promise<void>;
  /** Has the shell ask the person; false when they declined. */
  requestInstall(appId: string, version?: string, options?: BridgeCallOptions): Promise<boolean>;
  /**
   * Has the shell show the person an app that this one made (`makeApp`), with its source; false when they declined. Grant `apps.create`.
   */
  create(draftId: string, options?: BridgeCallOptions): Promise<boolean>;
  /** Likewise. */
  uninstall(appId: string, options?: BridgeCallOptions): Promise<boolean>;
  /** Back to the home screen. */
  return(options?: BridgeCallOptions): Promise<void>;
  /** Starts the backend of an app. Grant `apps.lifecycle`. */
  start(appId: string, options?: BridgeCallOptions): Promise<WorkloadStatus>;
  /** Stops it; it stays stopped until it is started. Grant `apps.lifecycle`. */
  stop(appId: string, options?: BridgeCallOptions): Promise<WorkloadStatus>;
}

let connection: Promise<App> | undefined;

/**
 * The page of an app, connected to the platform.
 *
 * @example
 * ```ts
 * import { App } from '@platform/sdk/browser';
 *
 * const app = await App.connect();
 * document.title = `${app.appId}, ${app.context.theme}`;
 * const answer = await app.backend.json<{ count: number }>('/api/count');
 * await app.notifications().publish({ topic: 'counts', title: `Counted ${answer.count}` });
 * ```
 */
export class App {
  /** Of this app, as its manifest says. */
  readonly appId: string;
  /** The backend of this installation. */
  readonly backend: Backend;
  /** Installed and published apps, as far as the grants go. */
  readonly apps: Apps;
  /** Any bridge method by name: `app.bridge.call('search.query', { q })`. */
  readonly bridge: Bridge;
  /** What the shell keeps for this app while it is not loaded, also where the browser blocks its storage. */
  readonly state: AppState;
  /** Encrypts what nobody but the person reads. Needs no grant. */
  readonly recipient: Recipient;
  readonly #access: LaunchAccess;
  readonly #notifications: NotificationsService;

  private constructor(launch: Launch, bridge: Bridge) {
    this.appId = launch.appId;
    this.bridge = bridge;
    this.apps = appsOver(bridge);
    this.state = stateOver(bridge);
    this.recipient = recipientOver(bridge);
    this.#access = new LaunchAccess(launch, () => launchAgain(window));
    this.backend = backendOf(this.#access);
    this.#notifications = notificationsService(this.#access);
  }

  /**
   * Connects this page to the platform: takes the launch capability out of the address or asks the shell for one,
   * exchanges it, shakes hands with the shell, and from then on reports the page's address to it, so that the person comes
   * back to the same place, and passes Ctrl-K (⌘K), which opens the search, on to it unless the page prevented its default. Calling it again gives the same connection; after a failure it tries anew.
   *
   * @throws {PlatformError} `not_launched` outside the platform, `bridge_closed` when the shell does not answer
   */
  static connect(options: CallOptions = {}): Promise<App> {
    connection ??= open(options).catch((error) => {
      connection = undefined;
      console.error('This app is not connected to the platform:', error);
      throw error;
    });
    return connection;

    async function open(call: CallOptions): Promise<App> {
      // First of all: outside a frame, a page must not accept launch data from the author of the address.
      if (window.parent === window) {
        throw new PlatformError({ code: 'not_launched', detail: 'Open this app inside the platform.' });
      }
      sayWhatIsBlocked(window);
      const launch = await readLaunch(window, call);
      const bridge = await connectBridge(window, launch.shell, call);
      const app = new App(launch, bridge);
      sendLinksToShell(window, (url) => app.openLink(url));
      sendDownloadsToShell(window, (file, name) => app.saveFile(file, name));
      sendSearchKeyToShell(window, () => bridge.call('search.open'));
      reportPlace(window, bridge);
      return app;
    }
  }

  /** App id, theme, display mode, grants; the account's name with `account.profile.read`; the target that opened it. */
  get context(): BridgeContext {
    return this.bridge.context;
  }

  /** Notifications of the account. Grants `notifications.publish` and `notifications.read`. */
  notifications(): NotificationsService {
    return this.#notifications;
  }

  /** Messages of the account to other people. Grants `messaging.read`, `messaging.send`, `messaging.resolve`. */
  messaging(): MessagingService {
    return messagingService(this.#access);
  }

  /** Items that apps and people share. Grants `content.collections.read`, `.write`, `.manage`. */
  content(): ContentService {
    return contentService(this.#access);
  }

  /** Files of this app, and those that others opened to it or its person handed to it. */
  files(): FilesService {
    return filesService(this.#access);
  }

  /** Files of the person, for the platform's own Files. Grant `files.user.manage`. */
  userFiles(): UserFilesService {
    return userFilesService(this.#access);
  }

  /** Proposals to the wallet, which wait there for the person. Grants `wallet.payment.propose` and `wallet.policy.propose`. */
  wallet(): WalletService {
    return walletService(this.#access);
  }

  /** Schedules of the account, for the platform's own app that manages them. Grant `schedules.manage`. */
  schedules(): SchedulesService {
    return schedulesService(this.#access);
  }

  /**
   * The official client of the Model Context Protocol, connected to the tools of the platform and of other apps. Grant `mcp.tools.call`
   * or `mcp.tools.propose` on the tools. A page without the package calls tools over the bridge: `app.bridge.call('mcp.callTool', …)`.
   *
   * @param official the package `@modelcontextprotocol/client`, or its import
   * @throws {PlatformError} `grant_missing`, `not_found` for an app that serves no tools, and `invalid_request` without the package
   *
   * @example
   * ```ts
   * const tools = await app.mcp(import('@modelcontextprotocol/client'));
   * await tools.callTool({ name: 'notes.add', arguments: { text: 'Milk' } });
   * ```
   */
  mcp<Official extends McpClientPackage>(
    official: Official | Promise<Official>,
    options?: McpOptions<Official>,
  ): Promise<InstanceType<Official['Client']>> {
    return connectMcp(this.#access, official, options);
  }

  /** Apps that the account installed or published, those covered by the grant `apps.catalog.read`. */
  listApps(options?: PageOptions): Promise<Page<ServicesApp>> {
    return listApps(this.#access, options);
  }

  /**
   * Hands in an app for the person of the account, who accepts it in the shell or not (`apps.create` shows it to them). Grant `apps.create`.
   *
   * @throws {PlatformError} `invalid_request` with what is wrong in `errors`, `version_exists` for a version that is not the highest,
   *   `not_authorized` for the id of an app that this one did not make, `concurrency_limited` while too many wait for the person
   */
  makeApp(app: AppToMake, options?: CallOptions): Promise<MadeDraft> {
    return makeApp(this.#access, app, options);
  }

  /**
   * Searches what all apps of the account indexed. Only for the home screen, with `apps.launcher.register`.
   *
   * @param q what the person typed, at most 256 characters; the last word may be a beginning
   * @throws {PlatformError} `grant_missing`
   */
  search(q: string, searchOptions: SearchOptions = {}): Promise<SearchResult> {
    const { limit, ...options } = searchOptions;
    return this.bridge.call('search.query', limit === undefined ? { q } : { q, limit }, options);
  }

  /**
   * Makes `entries` all that the person's search finds of this app, for a page without a backend; a backend has
   * `search.replace`, and either replaces what the other wrote. Grant `search.index` on `self`.
   *
   * @param entries at most 1,000, with 500,000 characters in all; `url` is a place in this app, such as `?note=1`
   * @returns how many there are now
   * @throws {PlatformError} `grant_missing`, `invalid_request` naming the entry, `rate_limited` beyond ten in ten seconds
   */
  async indexForSearch(entries: readonly SearchEntry[], options?: BridgeCallOptions): Promise<number> {
    return (await this.bridge.call('search.index', { entries }, options)).indexed;
  }

  /** Inventory of the whole platform, for an app of the master account. Grant `system.inventory.read`. */
  system(options?: CallOptions): Promise<SystemInventory> {
    return readSystem(this.#access, options);
  }

  /** Accounts of the platform by name, for an app of the master account. Grant `system.inventory.read`. */
  systemAccounts(options?: AccountListOptions): Promise<Page<ListedAccount>> {
    return listAccounts(this.#access, options);
  }

  /**
   * Has the shell ask the person and open the address in a new tab. Clicks on links to other sites do this automatically.
   *
   * @param url `https` only, at most 2,048 characters
   * @returns false if the person declined
   * @throws {PlatformError} `invalid_request` for any other address, `not_authorized` for an address of the platform or
   *   while the app is not in front, `rate_limited` after three refusals within a minute
   */
  async openLink(url: string, options?: BridgeCallOptions): Promise<boolean> {
    return (await this.bridge.call('links.open', { url }, options)).opened;
  }

  /**
   * Proposes a payment and has the shell show its review at once. Call it while the app is in front. `client.wallet()` proposes without
   * the review, and the person finds it in Wallet. Grant `wallet.payment.propose`.
   *
   * @returns the proposal as it is when the review is closed: `executed` once the person paid, `declined`, or still `pending`
   * @throws {PlatformError} as `wallet().proposePayment`; `not_authorized` while the app is not in front
   */
  async proposePayment(payment: ProposePayment, options?: BridgeCallOptions): Promise<WalletProposal> {
    return (await this.bridge.call('wallet.proposePayment', payment, options)).proposal;
  }

  /** The same for a limit on what apps may propose to pay. Grant `wallet.policy.propose`. */
  async proposePolicy(policy: ProposePolicy, options?: BridgeCallOptions): Promise<WalletProposal> {
    return (await this.bridge.call('wallet.proposePolicy', policy, options)).proposal;
  }

  /**
   * Has the shell show the person their contacts, so that they pick one for this app, which learns nothing of the others. Call it
   * while the app is in front.
   *
   * @returns address and label of the one they picked; `null` if they picked nobody
   * @throws {PlatformError} `not_authorized` while the app is not in front, `rate_limited` after three refusals within a minute
   */
  async pickContact(options?: BridgeCallOptions): Promise<PickedContact | null> {
    return (await this.bridge.call('contacts.pick', undefined, options)).contact;
  }

  /**
   * Has the shell show the person their files, so that they hand one to this app, which reads it with `files().getShared(id)` until they
   * take it back. Call it while the app is in front.
   *
   * @returns `null` if they picked none
   * @throws {PlatformError} `not_authorized` while the app is not in front, `rate_limited` after three refusals within a minute
   */
  async pickFile(access: 'read' | 'write' = 'read', options?: BridgeCallOptions): Promise<PickedFile | null> {
    return (await this.bridge.call('files.pick', { access }, options)).file;
  }

  /**
   * Has the shell ask the person whether a file of this app, written with `files().put`, is to become one of theirs.
   *
   * @returns the name that it got; `null` if they declined
   * @throws {PlatformError} as `pickFile`
   */
  async offerFile(name: string, options?: BridgeCallOptions): Promise<string | null> {
    return (await this.bridge.call('files.save', { name }, options)).saved;
  }

  /**
   * Saves a file on the person's device: at once if they have just pressed something in this app, otherwise the shell asks them.
   * Presses on links with `download` to files of this app do this automatically; addresses that the page made (`blob:`, `data:`)
   * save nothing, so hand over the `Blob` here.
   *
   * @param name 1 to 200 characters in one line, without slashes
   * @returns false if the person declined
   * @throws {PlatformError} `invalid_request` for another name, `not_authorized` while the app is not in front, `rate_limited` after
   *   three refusals within a minute
   */
  async saveFile(file: Blob, name: string, options?: BridgeCallOptions): Promise<boolean> {
    return (await this.bridge.call('downloads.save', { file, name }, options)).saved;
  }

  /**
   * The shell's events: `context` (the complete new context), `target`, `notification`, `apps`. Returns a function that
   * removes the listener.
   */
  on<Name extends keyof BridgeEvents>(name: Name, listener: (data: BridgeEvents[Name]) => void): () => void {
    return this.bridge.on(name, listener);
  }
}

/** Browsers may forbid storage to what is shown in a frame. The app then finds out here, not by an exception of its own. */
function sayWhatIsBlocked(page: Window): void {
  try {
    void page.localStorage;
  } catch {
    console.warn(
      'This browser blocks localStorage, sessionStorage, IndexedDB and cookies in this app. The platform works without; ' +
        'app.state keeps up to 64 KiB, and a backend keeps what must last.',
    );
  }
}

/** For a page that only needs notifications. */
export const Notifications = {
  async connect(options?: CallOptions): Promise<NotificationsService> {
    return (await App.connect(options)).notifications();
  },
};

function appsOver(bridge: Bridge): Apps {
  return {
    async list(options) {
      return (await bridge.call('apps.list', { scope: 'installed' }, options)).items as InstalledApp[];
    },
    async catalog(options) {
      return (await bridge.call('apps.list', { scope: 'catalog' }, options)).items as CatalogEntry[];
    },
    async open(appId, target, options) {
      await bridge.call('apps.open', target === undefined ? { appId } : { appId, target }, options);
    },
    async requestInstall(appId, version, options) {
      const params = version === undefined ? { appId } : { appId, version };
      return (await bridge.call('apps.requestInstall', params, options)).installed;
    },
    async create(draftId, options) {
      return (await bridge.call('apps.create', { draftId }, options)).accepted;
    },
    async uninstall(appId, options) {
      return (await bridge.call('apps.uninstall', { appId }, options)).removed;
    },
    async return(options) {
      await bridge.call('apps.return', undefined, options);
    },
    start: (appId, options) => bridge.call('apps.start', { appId }, options),
    stop: (appId, options) => bridge.call('apps.stop', { appId }, options),
  };
}
