// The frame's side of the shell bridge, version 1 (contract 5): a handshake, then requests and events on one port.
import type {
  AskingBridgeCall,
  BridgeCall,
  BridgeCalls,
  BridgeContext,
  BridgeEvent,
  BridgeEvents,
  BridgeHello,
  BridgeResponse,
  BridgeWelcome,
} from '@platform/contract';
import { onAbort } from './clock.ts';
import { PlatformError } from './platform-error.ts';

export interface BridgeCallOptions {
  /** Ends the call; it then rejects with the signal's reason. What the shell has begun goes on. */
  readonly signal?: AbortSignal;
  /** Time limit in milliseconds; default 30,000; none for methods that wait for a person. */
  readonly timeoutMilliseconds?: number;
}

/** The parameters of a method; left out where it has none or all are optional. */
export type BridgeParams<Method extends BridgeCall> = [BridgeCalls[Method]['params']] extends [undefined]
  ? [params?: undefined, options?: BridgeCallOptions]
  : Record<never, never> extends BridgeCalls[Method]['params']
    ? [params?: BridgeCalls[Method]['params'], options?: BridgeCallOptions]
    : [params: BridgeCalls[Method]['params'], options?: BridgeCallOptions];

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const HANDSHAKE_MILLISECONDS = 10_000;
const CALL_MILLISECONDS = 30_000;
/** Methods that wait for a person's decision, without a time limit. */
const ASKS_A_PERSON: Readonly<Record<AskingBridgeCall, true>> = {
  'apps.create': true,
  'apps.requestInstall': true,
  'apps.uninstall': true,
  'apps.withdraw': true,
  'contacts.pick': true,
  'downloads.save': true,
  'files.pick': true,
  'files.save': true,
  'links.open': true,
  'mcp.reviewProposal': true,
  'runtime.pause': true,
  'system.changeAccount': true,
  'system.invite': true,
  'system.uninvite': true,
  'wallet.export': true,
  'wallet.proposePayment': true,
  'wallet.proposePolicy': true,
  'wallet.review': true,
};

/**
 * Greets the shell and waits for the port it transfers. Only an answer of the parent window, from the shell's exact
 * origin, with this greeting's nonce, counts.
 */
export function connectBridge(
  page: Window,
  shellOrigin: string,
  { signal }: Pick<BridgeCallOptions, 'signal'>,
): Promise<Bridge> {
  const nonce = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      stopFollowing();
      page.removeEventListener('message', listen);
    };
    const timer = setTimeout(() => {
      finish();
      reject(new PlatformError({ code: 'bridge_closed', detail: 'The platform did not answer this frame.' }));
    }, HANDSHAKE_MILLISECONDS);
    const stopFollowing = onAbort(signal, () => {
      finish();
      reject(signal?.reason);
    });
    const listen = (message: MessageEvent<BridgeWelcome | null>) => {
      const [port] = message.ports;
      if (message.source !== page.parent || message.origin !== shellOrigin || port === undefined) return;
      const welcome = message.data;
      if (welcome?.type !== 'platform.welcome' || welcome.version !== 1 || welcome.nonce !== nonce) return;
      finish();
      resolve(new Bridge(port, welcome.context));
    };
    page.addEventListener('message', listen);
    const hello: BridgeHello = { type: 'platform.hello', version: 1, nonce };
    page.parent.postMessage(hello, shellOrigin);
  });
}

export class Bridge {
  context: BridgeContext;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<(data: never) => void>>();
  #last = 0;
  #closed = false;

  constructor(port: MessagePort, context: BridgeContext) {
    this.context = context;
    this.#port = port;
    port.addEventListener('message', (message: MessageEvent<BridgeResponse | BridgeEvent>) => this.#take(message.data));
    port.addEventListener('close', () => this.close());
    port.start();
  }

  /**
   * Calls the shell, which checks every call against the grants of this installation.
   *
   * @throws {PlatformError} the shell's refusal, `timed_out`, or `bridge_closed` after the shell closed the frame
   */
  call<Method extends BridgeCall>(
    method: Method,
    ...parameters: BridgeParams<Method>
  ): Promise<BridgeCalls[Method]['result']> {
    const [params, options] = parameters;
    const limit = Object.hasOwn(ASKS_A_PERSON, method) ? {} : { timeoutMilliseconds: CALL_MILLISECONDS };
    return this.request(method, params, { ...limit, ...options });
  }

  /** As `call`, without a time limit of its own, and for methods this SDK has no types for. */
  request<Result>(method: string, params: unknown, options: BridgeCallOptions = {}): Promise<Result> {
    const { signal, timeoutMilliseconds } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.reject(closedError());
    const id = ++this.#last;
    return new Promise<Result>((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        stopFollowing();
        this.#waiting.delete(id);
      };
      const fail = (error: unknown) => {
        finish();
        reject(error);
      };
      const giveUp = () =>
        fail(
          new PlatformError({ code: 'timed_out', detail: `No answer to ${method} within ${timeoutMilliseconds} ms.` }),
        );
      const timer = timeoutMilliseconds === undefined ? undefined : setTimeout(giveUp, timeoutMilliseconds);
      const stopFollowing = onAbort(signal, () => fail(signal?.reason));
      const take = (result: unknown) => {
        finish();
        resolve(result as Result);
      };
      this.#waiting.set(id, { resolve: take, reject: fail });
      try {
        this.#port.postMessage({ id, method, params });
      } catch (cause) {
        const detail = `The parameters of ${method} hold something that cannot be sent to the platform.`;
        fail(new PlatformError({ code: 'invalid_request', detail, cause }));
      }
    });
  }

  /** Calls `listener` for each event of that name. Returns a function that removes the listener. */
  on<Name extends keyof BridgeEvents>(name: Name, listener: (data: BridgeEvents[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Ends the connection to the shell: what waits and what is called afterwards is `bridge_closed`. */
  close(): void {
    this.#closed = true;
    this.#port.close();
    for (const { reject } of [...this.#waiting.values()]) reject(closedError());
  }

  #take(message: BridgeResponse | BridgeEvent): void {
    if ('event' in message) {
      this.#tell(message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if ('error' in message) {
      waiting.reject(new PlatformError({ code: message.error.code, detail: message.error.message }));
    } else waiting.resolve(message.result);
  }

  #tell({ event, data }: BridgeEvent): void {
    if (event === 'context') this.context = data as BridgeContext;
    if (event === 'target') this.context = { ...this.context, ...(data as BridgeEvents['target']) };
    for (const listener of this.#listeners.get(event) ?? []) listener(data as never);
  }
}

function closedError(): PlatformError {
  return new PlatformError({ code: 'bridge_closed', detail: 'The platform closed the connection to this frame.' });
}
