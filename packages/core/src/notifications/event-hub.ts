// Routes signals to the live streams they concern, and ends streams whose session, app or account has ended.
import { limits, refuse } from '@platform/contract';
import type { AuthorCaller, SessionCaller } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import type { Signals } from '../database/signals.ts';
import type { FrontendCaller, InstallationCaller } from '../installations/face.ts';

export type StreamCaller = SessionCaller | FrontendCaller | InstallationCaller;

/** The apps of the account or their tiles, whether it is paused, or what its notifications may do. */
export type AccountChange = 'apps' | 'runtime' | 'notification-settings';

/** A live stream, as the hub sees it. Each method returns at once. */
export interface Listener {
  /** Of an author only streams of logs. */
  readonly caller: StreamCaller | AuthorCaller;
  /** There may be new notifications. */
  wake(): void;
  notificationsRead(ids: readonly string[]): void;
  /** Only streams of the shell receive these, and `apps` those of authors. */
  changed(what: AccountChange): void;
  end(): void;
}

/** The live streams that are open in this process, by account. */
export class EventHub {
  readonly #signals: Signals;
  readonly #byAccount = new Map<string, Set<Listener>>();
  readonly #byOwner = new Map<string, number>();

  constructor({ signals, stopping }: Pick<CoreContext, 'signals' | 'stopping'>) {
    this.#signals = signals;
    stopping.addEventListener('abort', () => this.endAll());
    signals.on('notification-published', ({ accountKey }) => this.#each(accountKey, (one) => one.wake()));
    signals.on('notifications-read', ({ accountKey, ids }) => {
      if (ids !== null) this.#each(accountKey, (one) => one.notificationsRead(ids));
    });
    signals.on('installation-changed', ({ accountKey, installationId }) =>
      this.#each(accountKey, (one) => {
        if (one.caller.kind === 'session' || one.caller.kind === 'author') one.changed('apps');
        else if (one.caller.installationId === installationId) one.end();
      }),
    );
    signals.on('launcher-changed', ({ accountKey }) =>
      this.#each(accountKey, (one) => {
        if (one.caller.kind === 'session') one.changed('apps');
      }),
    );
    signals.on('pause-changed', ({ accountKey }) =>
      this.#each(accountKey, (one) => {
        if (one.caller.kind === 'session') one.changed('runtime');
        else one.end();
      }),
    );
    signals.on('notification-settings-changed', ({ accountKey }) =>
      this.#each(accountKey, (one) => {
        if (one.caller.kind === 'session') one.changed('notification-settings');
      }),
    );
    signals.on('home-changed', ({ accountKey }) =>
      this.#each(accountKey, (one) => {
        if (one.caller.kind === 'session') one.changed('apps');
      }),
    );
    signals.on('credential-replaced', ({ installationId }) =>
      this.#every(({ caller, end }) => {
        if (caller.kind === 'installation' && caller.installationId === installationId) end();
      }),
    );
    signals.on('session-ended', ({ accountKey, sessionId }) =>
      this.#each(accountKey, ({ caller, end }) => {
        if ('sessionId' in caller && (sessionId === null || caller.sessionId === sessionId)) end();
      }),
    );
    signals.on('author-token-ended', ({ accountKey, tokenId }) =>
      this.#each(accountKey, ({ caller, end }) => {
        if (caller.kind === 'author' && caller.tokenId === tokenId) end();
      }),
    );
    // Without signals revocations would be missed: streams end, and clients reconnect once signals arrive again.
    signals.onReset(() => {
      if (!signals.connected) this.endAll();
    });
  }

  /**
   * Adds a listener, which receives the events of its caller until `leave` is called.
   *
   * @throws RefusalError `concurrency_limited` beyond `limits.eventStreams` or, for an app, `limits.appEventStreams`;
   *   `unavailable` while signals are not received
   */
  join(listener: Listener): { leave(): void } {
    if (!this.#signals.connected) throw refuse('unavailable', undefined, { retryAfter: 2 });
    const owner = ownerOf(listener.caller);
    const streams = this.#byOwner.get(owner) ?? 0;
    if (streams >= limits.eventStreams.value)
      throw refuse('concurrency_limited', `At most ${limits.eventStreams.value} live streams may be open.`, {
        retryAfter: 10,
      });
    const { accountKey } = listener.caller;
    const listeners = this.#byAccount.get(accountKey) ?? new Set();
    if ('installationId' in listener.caller) requireRoomForApp(listeners);
    this.#byOwner.set(owner, streams + 1);
    this.#byAccount.set(accountKey, listeners.add(listener));
    return { leave: () => this.#leave(listener) };
  }

  /** Live streams that are open now. */
  get size(): number {
    return [...this.#byOwner.values()].reduce((sum, streams) => sum + streams, 0);
  }

  endAll(): void {
    this.#every((listener) => listener.end());
  }

  #leave(listener: Listener): void {
    const { accountKey } = listener.caller;
    const listeners = this.#byAccount.get(accountKey);
    if (listeners?.delete(listener) !== true) return;
    if (listeners.size === 0) this.#byAccount.delete(accountKey);
    const owner = ownerOf(listener.caller);
    const left = (this.#byOwner.get(owner) ?? 1) - 1;
    if (left === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, left);
  }

  #each(accountKey: string, deliver: (listener: Listener) => void): void {
    for (const listener of [...(this.#byAccount.get(accountKey) ?? [])]) deliver(listener);
  }

  #every(deliver: (listener: Listener) => void): void {
    for (const accountKey of [...this.#byAccount.keys()]) this.#each(accountKey, deliver);
  }
}

/** Each of them reads the database for every notification of the account. Those of the shell do not count. */
function requireRoomForApp(listeners: ReadonlySet<Listener>): void {
  const open = [...listeners].filter(({ caller }) => 'installationId' in caller).length;
  if (open >= limits.appEventStreams.value)
    throw refuse(
      'concurrency_limited',
      `At most ${limits.appEventStreams.value} live streams of all apps of this account may be open.`,
      { retryAfter: 10 },
    );
}

function ownerOf(caller: Listener['caller']): string {
  return 'installationId' in caller ? caller.installationId : caller.accountKey;
}
