// The messaging bridge: carries the messages of accounts over Matrix, encrypted, for core (contract 4f, "Bridge").
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { openAccounts } from './accounts/accounts.ts';
import { type Claim, openClaim } from './claim.ts';
import { openDoorbell } from './doorbell.ts';
import { OperationError } from './failure.ts';
import { listen } from './listener.ts';
import type { Log } from './log.ts';
import { MatrixError, openHomeserver, serverOf, whoIs } from './matrix/homeserver.ts';
import { anything } from './matrix/shapes.ts';
import { type BridgeMetrics, noMetrics } from './metrics-port.ts';
import { openNotices } from './notices.ts';
import { openOperations } from './operations.ts';
import { openCards } from './store/cards.ts';
import { DamagedStoreError } from './store/sealed-log.ts';
import { BridgeStartError, openStoreFolder } from './store/store-folder.ts';

export type { Log } from './log.ts';
export { BridgeStartError } from './store/store-folder.ts';

export interface BridgeOptions {
  /** Where everything is kept. */
  readonly folder: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** What core presents. */
  readonly token: string;
  readonly serverName: string;
  readonly homeserver: { readonly origin: string; readonly ca?: string };
  /** Of the application service's registration. */
  readonly registration: { readonly id: string; readonly asToken: string; readonly hsToken: string };
  readonly log: Log;
  readonly metrics?: BridgeMetrics;
  /** Milliseconds. Default: the time of this machine. */
  readonly clock?: () => number;
  /** Milliseconds for which an account stays open that nobody uses. Default: five minutes. */
  readonly idle?: number;
  /** Milliseconds between two looks whether this is the bridge that works for the homeserver. Default: one minute. */
  readonly claim?: number;
}

export interface Bridge {
  readonly port: number;
  /** Resolves when the homeserver has answered and all accounts were looked after. */
  readonly ready: Promise<void>;
  /** Accounts that are in memory. */
  openAccounts(): number;
  close(): Promise<void>;
}

const IDLE_MS = 300_000;
const CLAIM_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Starts a bridge. It serves at once, and refuses with `unavailable` until its homeserver answers.
 *
 * @throws BridgeStartError
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { folder, serverName, registration, log, metrics = noMetrics, clock = Date.now, idle = IDLE_MS } = options;
  const store = await openStoreFolder(folder);
  try {
    const cards = await openCards(store.accounts, store.key).catch((error: unknown) => {
      throw error instanceof DamagedStoreError ? new BridgeStartError(error.message, { cause: error }) : error;
    });
    const homeserver = openHomeserver({ ...options.homeserver, token: registration.asToken });
    let problem: string | null = 'The homeserver has not answered yet.';
    /** Of the homeserver, while what is kept can be read. */
    let trouble: string | null = null;
    const requireReady = () => {
      if (problem !== null) throw new OperationError('unavailable', problem);
    };
    const notices = openNotices(clock, log);
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    const accounts = openAccounts({
      homeserver,
      serverName,
      cards,
      clock,
      log,
      idle,
      notices,
      ending: ending.signal,
      requireReady,
    });
    const doorbell = openDoorbell(accounts, log, metrics);
    metrics.watch(() => ({
      accounts: accounts.all().length,
      openAccounts: accounts.open().length,
      dirtyAccounts: doorbell.waiting(),
    }));

    const listener = await listen({
      ...options.listen,
      token: options.token,
      homeserverToken: registration.hsToken,
      operations: openOperations(accounts, clock),
      askNotices: (input, signal) => notices.answer(input, accounts.keepTold, signal),
      doorbell,
      requireReady,
      problem: () => problem ?? trouble,
      log,
      metrics,
    });

    let keeping: Promise<void> | null = null;

    async function connect(): Promise<Claim | null> {
      for (let pause = FIRST_PAUSE_MS; !ending.signal.aborted; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
        try {
          const userId = await whoIs(homeserver, null);
          const name = serverOf(userId);
          const claim = openClaim({ folder, homeserver, userId, hasAccounts: () => [...cards.all()].length > 0 });
          problem =
            name === serverName
              ? await claim.take()
              : `The homeserver is ${name}, and PLATFORM_MESSAGING_SERVER_NAME is ${serverName}.`;
          if (problem === null) return claim;
          log.error({}, problem);
        } catch (error) {
          problem = 'The homeserver does not answer, or does not know the registration of the bridge.';
          log.warn({ err: error }, problem);
        }
        await pausing(pause);
      }
      return null;
    }

    const pausing = (milliseconds: number) =>
      delay(milliseconds, undefined, { signal: ending.signal }).catch(() => undefined);

    async function begin(): Promise<void> {
      const claim = await connect();
      if (claim === null || ending.signal.aborted) return;
      keeping = keepClaim(claim).catch((error: unknown) =>
        log.error({ err: error }, 'the claim of the bridge is not kept'),
      );
      doorbell.sweep();
      await ring();
      await doorbell.settled();
    }

    /** Ends for good where another bridge has taken over. */
    async function keepClaim(claim: Claim): Promise<void> {
      for (;;) {
        await pausing(options.claim ?? CLAIM_MS);
        if (ending.signal.aborted) return;
        try {
          problem = await claim.renew();
          trouble = null;
        } catch (error) {
          trouble = troubleOf(error);
          log.warn({ err: error }, trouble);
        }
        if (problem === null) continue;
        log.error({}, problem);
        await doorbell.close();
        return;
      }
    }

    /** Has the homeserver ring at once for what waits since it could not. */
    async function ring(): Promise<void> {
      const path = ['_matrix', 'client', 'v1', 'appservice', registration.id, 'ping'];
      await homeserver
        .request(null, { method: 'POST', path, body: {}, answer: anything })
        .catch((error: unknown) => log.warn({ err: error }, 'the homeserver does not reach the bridge'));
    }

    async function close(): Promise<void> {
      ending.abort();
      await listener.close();
      await doorbell.close();
      await accounts.close();
      await homeserver.close();
      // What it was counting is in the store, before that is moved somewhere else.
      await keeping;
      store.close();
    }
    let closing: Promise<void> | null = null;

    const ready = begin();
    ready.catch((error: unknown) => log.error({ err: error }, 'the bridge could not begin'));
    return {
      port: listener.port,
      ready,
      openAccounts: () => accounts.open().length,
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

function troubleOf(error: unknown): string {
  return error instanceof MatrixError && error.status === 401
    ? 'The homeserver does not know the token of the bridge: the registration is another one. Restart both, which read it at their start.'
    : 'The homeserver does not answer, so whether another bridge works is not known.';
}
