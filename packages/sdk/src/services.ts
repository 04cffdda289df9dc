// The service routes as functions, the same for a workload and a frontend.
import type {
  ListedAccount,
  MadeDraft,
  Notification,
  PublishNotification,
  SearchEntry,
  ServicesApp,
  ShellEvent,
  SystemInventory,
} from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { eventStream } from './event-stream.ts';
import { callService } from './service-call.ts';

/** A part of a list. */
export interface Page<Item> {
  /** In the order of the list. */
  readonly items: Item[];
  /** Pass it as `cursor` for the next page; `null` on the last. */
  readonly nextCursor: string | null;
}

/** Which part of a list. */
export interface PageOptions extends CallOptions {
  /** 1 to 200; default 50. */
  readonly limit?: number;
  /** From `nextCursor`; default: the beginning. */
  readonly cursor?: string;
}

/** Which notifications. */
export interface NotificationListOptions extends PageOptions {
  /** Of this topic alone. Default: of every one that the grant covers. */
  readonly topic?: string;
  /** `true` returns unread records only. Default: all. */
  readonly unread?: boolean;
}

/** Which accounts. */
export interface AccountListOptions extends PageOptions {
  /** Only accounts whose name contains this. */
  readonly name?: string;
}

/** Where a stream of events begins and ends. */
export interface StreamOptions {
  /** Ends it. Default: it goes on. */
  readonly signal?: AbortSignal;
  /** Continue after the event with this `id`. */
  readonly lastEventId?: string;
}

/**
 * Notifications of the account.
 *
 * @example
 * ```ts
 * import { PlatformError, PlatformServicesClient } from '@platform/sdk';
 *
 * const { notifications } = PlatformServicesClient.fromEnv();
 * try {
 *   await notifications.publish({ topic: 'imports', title: 'Import finished', dedupeKey: 'import-7' });
 *   const { items } = await notifications.list({ topic: 'imports', unread: true });
 *   console.log(items.map(({ title }) => title));
 * } catch (error) {
 *   // The owner may have left the grant out: carry on without it.
 *   if (!(error instanceof PlatformError && error.code === 'grant_missing')) throw error;
 * }
 * ```
 */
export interface NotificationsService {
  /** Grant `notifications.publish` on the topic. With a known `dedupeKey` it returns the stored record. */
  publish(notification: PublishNotification, options?: CallOptions): Promise<Notification>;
  /** Grant `notifications.read`: records whose topic its resources match, newest first. */
  list(options?: NotificationListOptions): Promise<Page<Notification>>;
  /** Marks one record read. @throws {PlatformError} `not_found` for one that this app cannot see */
  read(id: string, options?: CallOptions): Promise<Notification>;
  /** Marks all visible records read. Returns how many changed. */
  readAll(options?: CallOptions): Promise<number>;
  /**
   * Live events until the signal aborts. Reconnects by itself and continues where it was; ends with a PlatformError
   * when the platform refuses (for example `grant_missing`).
   */
  stream(options?: StreamOptions): AsyncGenerator<ShellEvent & { readonly id: string | undefined }, void, undefined>;
}

/**
 * The search index of this installation: what the person finds of this app.
 *
 * @example
 * ```ts
 * import { PlatformServicesClient } from '@platform/sdk';
 *
 * const { search } = PlatformServicesClient.fromEnv();
 * await search.replace([{ id: 'note-1', title: 'Shopping', url: '?note=1', text: 'milk, bread' }]);
 * ```
 */
export interface SearchService {
  /**
   * Replaces the whole index of this installation at once. Returns how many entries it has. Grant `search.index` on
   * `self`.
   */
  replace(entries: readonly SearchEntry[], options?: CallOptions): Promise<number>;
  /** Adds or changes up to 1,000 entries. Returns how many. */
  upsert(entries: readonly SearchEntry[], options?: CallOptions): Promise<number>;
  /** Removes one entry, also one that is not there. */
  remove(id: string, options?: CallOptions): Promise<void>;
  /** Removes all entries of this installation. */
  clear(options?: CallOptions): Promise<void>;
}

const NOTIFICATIONS = '/v1/services/notifications';
const INDEX = '/v1/services/search/index';

/** Notifications: to the app's person, and those that its grants let it read. */
export function notificationsService(access: ServiceAccess): NotificationsService {
  return {
    async publish(body, options) {
      const repeatable = body.dedupeKey !== undefined;
      const input = { method: 'POST', path: NOTIFICATIONS, body, repeatable } as const;
      const { notification } = await callService<'services.notifications.publish'>(access, input, options);
      return notification;
    },
    list({ topic, unread, limit, cursor, ...options } = {}) {
      const query = { topic, unread, limit, cursor };
      const input = { method: 'GET', path: NOTIFICATIONS, query } as const;
      return callService<'services.notifications.list'>(access, input, options);
    },
    async read(id, options) {
      const path = `${NOTIFICATIONS}/:id/read` as const;
      const input = { method: 'POST', path, parameters: { id }, repeatable: true } as const;
      const { notification } = await callService<'services.notifications.read'>(access, input, options);
      return notification;
    },
    async readAll(options) {
      const input = { method: 'POST', path: `${NOTIFICATIONS}/read-all` } as const;
      const { updated } = await callService<'services.notifications.readAll'>(access, input, options);
      return updated;
    },
    stream: (options = {}) => eventStream(access, `${NOTIFICATIONS}/stream`, options),
  };
}

/** What the app has in its person's search. */
export function searchService(access: ServiceAccess): SearchService {
  return {
    async replace(entries, options) {
      const body = { entries: [...entries] };
      const input = { method: 'PUT', path: INDEX, body, repeatable: true } as const;
      const { indexed } = await callService<'services.search.replace'>(access, input, options);
      return indexed;
    },
    async upsert(entries, options) {
      const body = { entries: [...entries] };
      const input = { method: 'POST', path: INDEX, body, repeatable: true } as const;
      const { indexed } = await callService<'services.search.upsert'>(access, input, options);
      return indexed;
    },
    async remove(id, options) {
      const path = `${INDEX}/:entryId` as const;
      const input = { method: 'DELETE', path, parameters: { entryId: id }, repeatable: true } as const;
      await callService<'services.search.remove'>(access, input, options);
    },
    async clear(options) {
      const input = { method: 'DELETE', path: INDEX, repeatable: true } as const;
      await callService<'services.search.clear'>(access, input, options);
    },
  };
}

/** Apps that the account installed or published, those covered by the grant `apps.catalog.read`. */
export function listApps(access: ServiceAccess, options: PageOptions = {}): Promise<Page<ServicesApp>> {
  const { limit, cursor, ...call } = options;
  const input = { method: 'GET', path: '/v1/services/apps', query: { limit, cursor } } as const;
  return callService<'services.apps.list'>(access, input, call);
}

/** The files of an app, by their path in its package: `manifest.json`, and others below `frontend/` and `workload/`. */
export interface AppToMake {
  readonly appId: string;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Hands in an app for the person of the account: nothing happens until they accept it in the shell. Grant `apps.create`.
 *
 * @throws {PlatformError} `invalid_request` with what is wrong in `errors`, `version_exists` for a version that is not the highest,
 *   `not_authorized` for the id of an app that this one did not make, `concurrency_limited` while too many wait for the person
 */
export async function makeApp(access: ServiceAccess, body: AppToMake, options?: CallOptions): Promise<MadeDraft> {
  const input = { method: 'POST', path: '/v1/services/apps', body } as const;
  return (await callService<'services.apps.create'>(access, input, options)).draft;
}

/**
 * The whole platform in figures. Grant `system.inventory.read`.
 *
 * @throws {PlatformError} `master_account_only` unless the account that the operator named installed this app, and
 *   published it or got it with the platform
 */
export function readSystem(access: ServiceAccess, options?: CallOptions): Promise<SystemInventory> {
  return callService<'services.system.read'>(access, { method: 'GET', path: '/v1/services/system' }, options);
}

/**
 * The accounts of the platform by name, with what they take. Grant `system.inventory.read`.
 *
 * @throws {PlatformError} `master_account_only` as {@link readSystem}
 */
export function listAccounts(access: ServiceAccess, options: AccountListOptions = {}): Promise<Page<ListedAccount>> {
  const { limit, cursor, name, ...call } = options;
  const input = { method: 'GET', path: '/v1/services/system/accounts', query: { limit, cursor, name } } as const;
  return callService<'services.system.accounts'>(access, input, call);
}
