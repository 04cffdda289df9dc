// What the bridge may ask of the shell. The methods decide whether an app may; this interface does it with the session.
import type {
  AccountChange,
  BridgeContext,
  CatalogDetail,
  CatalogEntry,
  Grant,
  HomeScreen,
  HomeTiles,
  InstalledApp,
  Notification,
  NotificationSettings,
  NotificationSettingsChange,
  PickedContact,
  PickedFile,
  RecipientState,
  RouteAnswer,
  RouteBodyInput,
  SearchEntry,
  ShellSurface,
  ToolAnswer,
  WorkloadStatus,
} from '@platform/contract';
import type { call } from '../../api/client.ts';
import type { DecidedProposal } from './method.ts';

export interface NotificationPage {
  readonly items: readonly Notification[];
  readonly nextCursor: string | null;
}

/** The app behind one port. It is known from its frame, never from what a message says. */
export interface BridgeCaller {
  readonly appId: string;
  /** One of the platform's own apps, as core reports it. */
  isSystemApp(): boolean;
  isHome(): boolean;
  /** Whether its frame is what the person looks at, in a page that is shown, with no trusted surface or prompt over it. */
  isInFront(): boolean;
}

/** What apps encrypt for the person. Asks them nothing. @throws BridgeRefusal with what they can do */
export interface RecipientForApps {
  status(): Promise<{ readonly state: RecipientState }>;
  /** Bound to the app; base64url. */
  seal(appId: string, plaintext: string): Promise<{ readonly sealed: string }>;
  open(appId: string, sealed: string): Promise<{ readonly plaintext: string }>;
}

export interface ShellSide {
  /** The grants that core holds at this moment; asked again for every call that needs one. */
  currentGrants(appId: string): Promise<readonly Grant[]>;
  /** What the installed version requests, as core says it. */
  requestedGrants(appId: string): Promise<readonly Grant[]>;
  contextOf(appId: string, grants: readonly Grant[]): BridgeContext;
  /** A route of core, in the session of the person: for what a method needs of core and the page does not keep. */
  readonly call: typeof call;

  /** What this installation asked the shell to keep, as JSON text. */
  stateOf(appId: string): string | null;
  /** @throws BridgeRefusal `unavailable` when the browser takes nothing more */
  keepState(appId: string, json: string | null): void;
  /** Where the app is. @throws BridgeRefusal `rate_limited`, `unavailable` */
  keepPlace(appId: string, place: string): void;

  installedApps(): Promise<readonly InstalledApp[]>;
  catalog(): Promise<readonly CatalogEntry[]>;
  /** Of the newest version when `version` is null. */
  details(appId: string, version: string | null): Promise<CatalogDetail>;
  /** The address of its page in the Store. */
  storeLink(appId: string): string;
  /** As `iconOf`; `number` counts from 1. */
  screenshotOf(which: {
    readonly appId: string;
    readonly version: string;
    readonly number: number;
  }): Promise<string | null>;
  iconPath(which: { readonly appId: string; readonly version: string }): string;
  /** At once after a press in the app's frame, otherwise after a question. @returns whether it was saved */
  saveFile(asker: string, which: { readonly file: Blob; readonly name: string }): Promise<boolean>;
  /** The picture itself as a `data:` address: frames may not load from the shell's origin. */
  iconOf(path: string | null): Promise<string | null>;
  statusOf(appId: string): Promise<WorkloadStatus>;
  startBackend(appId: string): Promise<WorkloadStatus>;
  stopBackend(asker: string, appId: string): Promise<WorkloadStatus>;
  homeTiles(): Promise<HomeScreen>;
  arrangeHome(tiles: HomeTiles): Promise<HomeTiles>;

  notifications(query: {
    readonly topic?: string;
    readonly unread?: boolean;
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<NotificationPage>;
  markRead(id: string): Promise<Notification>;
  /** @param topics resources of the app that asks: what it sees is marked read. @returns how many were unread */
  markAllRead(topics: readonly string[]): Promise<number>;
  notificationSettings(): Promise<NotificationSettings>;
  changeNotificationSettings(change: NotificationSettingsChange): Promise<NotificationSettings>;

  /** What the hub of tools lists to the app. @throws BridgeRefusal `rate_limited` */
  listTools(appId: string, cursor: string | undefined): Promise<RouteAnswer<'apps.mcp.list'>>;
  /** Calls a tool as the app. @throws BridgeRefusal `rate_limited` */
  callTool(appId: string, toolCall: RouteBodyInput<'apps.mcp.call'>): Promise<ToolAnswer>;

  /** Loaded when an app first calls it. */
  recipient(): Promise<RecipientForApps>;

  open(appId: string, target: string | null): void;
  goHome(): void;
  becomeHome(appId: string): Promise<void>;
  /** Launcher is the home screen again. */
  restoreHome(): Promise<void>;
  /** Opens the search of the shell. @throws BridgeRefusal `not_authorized` without a press in the app, `rate_limited` */
  /** Replaces what the person's search finds of the app. @throws BridgeRefusal `rate_limited` */
  indexForSearch(appId: string, entries: readonly SearchEntry[]): Promise<{ readonly indexed: number }>;
  openSearch(asker: string): Promise<void>;
  setTitle(appId: string, title: string): void;
  showSurface(surface: ShellSurface, appId: string | null): void;
  /**
   * Puts one question of an app before the person (ask-limit.ts).
   * @throws BridgeRefusal `concurrency_limited` while another one is open, `rate_limited` after repeated refusals
   */
  ask<Answer>(asker: string, question: () => Promise<Answer>): Promise<Answer>;
  /** Trusted review; true when the person approved and the app is installed. */
  reviewInstall(asker: string, appId: string, version: string | null): Promise<boolean>;
  /**
   * Trusted review of an app that the asking app made; true when the person accepted it.
   * @throws BridgeRefusal or ApiError `not_found` for one that is not there, or that another app made
   */
  reviewDraft(asker: string, draftId: string): Promise<boolean>;
  /** Trusted review of a call that was proposed. Resolves when the person decided, or closed it. */
  reviewProposal(id: string): Promise<void>;
  /** Trusted confirmation; true when the publisher approved and the version is deleted. */
  reviewWithdraw(asker: string, appId: string, version: string): Promise<boolean>;
  /** Trusted confirmation; true when the person approved and the app is removed. */
  reviewUninstall(asker: string, appId: string): Promise<boolean>;
  /** Whether the address is the shell's own or that of any app (platform-address.ts). */
  isPlatformAddress(asker: string, url: string): boolean;
  /** Trusted confirmation; true when the person approved and the address is opened in a new tab. */
  reviewLink(asker: string, url: string): Promise<boolean>;
  /** Trusted question: whom of their contacts the person picked for the app; `null` for nobody. */
  pickContact(asker: string): Promise<PickedContact | null>;
  /** Trusted question: which of their files the person handed to the app; `null` for none. */
  pickFile(asker: string, access: 'read' | 'write'): Promise<PickedFile | null>;
  /** Trusted confirmation: the name under which the person keeps a copy of this file of the app; `null` when they declined. */
  keepFile(asker: string, name: string): Promise<string | null>;
  /** Trusted review of a proposal to the wallet; resolves when the person approved, declined or closed it. */
  reviewWalletProposal(asker: string, proposalId: string): Promise<DecidedProposal>;
  /** Saves the statement of the wallet, as `saveFile`. */
  saveStatement(asker: string, format: 'csv' | 'json'): Promise<boolean>;
  /** Trusted confirmation; true when the person approved and everything is paused. */
  reviewPause(asker: string): Promise<boolean>;

  /** Trusted confirmation, which then shows the link; true when the person approved. @param name `null` for any */
  reviewInvite(asker: string, name: string | null): Promise<boolean>;
  /** Trusted confirmation; true when the person approved and the link no longer works. */
  reviewUninvite(asker: string, id: string): Promise<boolean>;
  /** Trusted confirmation, with a passkey for a deletion; true when the person approved and it is done. */
  reviewAccountChange(asker: string, what: { readonly name: string; readonly change: AccountChange }): Promise<boolean>;
}
