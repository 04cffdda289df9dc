// The Runtime's end of a sidecar: looks to the Runtime like a Gateway in its own process, while the real one may die
// and be started again. See protocol.ts and main.ts.
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type GatewayPolicy, type Refusal, WEBSOCKET_METHOD } from '@platform/contract';
import {
  type Abandonable,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  type RunningGateway,
  sendProblem,
  type UpstreamFailure,
} from '@platform/http';
import { openByteMeter } from '../byte-meter.ts';
import type { GatewayEvent } from '../gateway.ts';
import { type Inbound, openInbound } from '../inbound/inbound.ts';
import { openPublicInbound, type PublicInbound } from '../inbound/public.ts';
import { filterSidecarPublicResponse } from '../inbound/public-answer.ts';
import { sidecarFields } from '../inbound/public-client.ts';
import { filterSidecarResponse } from '../inbound/workload-answer.ts';
import { type FromSidecar, receive, type SidecarSettings, send, socketNames, type Traffic } from './protocol.ts';

export type { SidecarSettings } from './protocol.ts';

export interface SidecarOptions {
  /** Folder in which the sidecar makes its sockets. */
  readonly folder: string;
  /** Configures it. Without them it was configured by an earlier Runtime, and reports its settings. */
  readonly settings?: SidecarSettings;
  /** Milliseconds until it must have answered. Default 15,000. */
  readonly deadline?: number;
  onActivity(): void;
  log(event: GatewayEvent): void;
}

export interface SidecarGateway extends RunningGateway {
  readonly settings: SidecarSettings;
  /** Resolves when the workload accepts connections; false when the sidecar ended first or `signal` was aborted. */
  workloadListens(signal: AbortSignal): Promise<boolean>;
  /** After the sidecar was started again: makes it what it was. Rejects when it does not answer. */
  reconnect(): Promise<void>;
}

const DEFAULT_DEADLINE_MS = 15_000;
const CLOSE_LIMIT_MS = 5_000;
const APPLY_LIMIT_MS = 5_000;
/** What becomes of an inbound request while there is no sidecar. */
interface Absence {
  /** Milliseconds that it waits for one that is being started again. */
  readonly patience: number;
  readonly refusal: Refusal;
}
const ABSENT: Absence = { patience: 5_000, refusal: { code: 'unavailable', retryAfter: 1 } };
/** A client of the internet is answered within two seconds (contract 4e). */
const PUBLIC_ABSENT: Absence = { patience: 1_500, refusal: { code: 'workload_unavailable', retryAfter: 2 } };
const HEADERS_TIMEOUT_MS = 60_000;
const RETRY_MS = 5;
const O_PATH = 0o10000000;
const O_NOFOLLOW = 0o400000;
const NOTHING = { requests: 0, sentBytes: 0, receivedBytes: 0 } as const;

/** One life of the sidecar. */
interface Link {
  readonly control: Socket;
  readonly inbound: Inbound;
  /** Checks by the latest policy, whatever the sidecar has yet, and ends what it ends. */
  readonly public: PublicInbound;
  readonly settings: SidecarSettings;
  release(): void;
}

/**
 * Makes the sidecar the Gateway of an installation, or finds out of which one it is.
 * @throws Error when it does not answer in time, cannot listen, or was never configured
 */
export async function connectSidecar(options: SidecarOptions): Promise<SidecarGateway> {
  const sidecar = new Sidecar(options);
  await sidecar.connect(options.settings);
  return sidecar;
}

class Sidecar implements SidecarGateway {
  readonly #options: SidecarOptions;
  #link: Link | undefined;
  #settings: SidecarSettings | undefined;
  #active = 0;
  /** Of the present life, and of the former ones together. */
  #traffic: Traffic = { outbound: NOTHING, inbound: NOTHING };
  #former: Traffic = { outbound: NOTHING, inbound: NOTHING };
  #closing: Promise<void> | undefined;
  #onClosed: (() => void) | undefined;
  #onListening: (() => void) | undefined;
  readonly #applying = new Map<number, () => void>();
  readonly #waiting = new Set<() => void>();

  constructor(options: SidecarOptions) {
    this.#options = options;
  }

  get settings(): SidecarSettings {
    if (this.#settings === undefined) throw new Error('The sidecar has no settings yet.');
    return this.#settings;
  }

  reconnect(): Promise<void> {
    return this.connect(this.settings);
  }

  async connect(settings: SidecarSettings | undefined): Promise<void> {
    const { folder, deadline = DEFAULT_DEADLINE_MS } = this.#options;
    this.#drop();
    const until = performance.now() + deadline;
    const control = await dial(join(folder, socketNames.control), until);
    const answer = new Promise<FromSidecar>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('The Gateway did not answer in time.')),
        until - performance.now(),
      );
      control.on('close', () => reject(new Error('The Gateway ended before it was ready.')));
      receive<FromSidecar>(control, (message) => {
        clearTimeout(timer);
        resolve(message);
        this.#receive(message);
      });
    });
    send(control, settings === undefined ? { kind: 'resume' } : { kind: 'configure', settings });
    try {
      const first = await answer;
      if (first.kind !== 'ready')
        throw new Error(first.kind === 'failed' ? first.reason : 'The Gateway was never configured.');
      this.#settings = settings ?? first.settings;
    } catch (error) {
      control.destroy();
      throw error;
    }
    this.#take(control, this.#settings);
  }

  forwardInbound(incoming: IncomingRequest, path: string): void {
    this.#forward(incoming, ABSENT, ({ inbound }) => inbound.forward(incoming, path));
  }

  forwardUpgrade(incoming: IncomingUpgrade, path: string): void {
    this.#forwardUpgrade(incoming, ABSENT, ({ inbound }) => inbound.forwardUpgrade(incoming, path));
  }

  forwardPublic(incoming: IncomingRequest): void {
    this.#forward(incoming, PUBLIC_ABSENT, (link) => {
      const refusal = link.public.refusalOf(incoming, incoming.req.method ?? '');
      if (refusal === null) return link.public.forward(incoming);
      sendProblem(incoming.res, refusal);
      return null;
    });
  }

  forwardPublicUpgrade(incoming: IncomingUpgrade): void {
    this.#forwardUpgrade(incoming, PUBLIC_ABSENT, (link) => {
      const refusal = link.public.refusalOf(incoming, WEBSOCKET_METHOD);
      if (refusal === null) link.public.forwardUpgrade(incoming);
      else endWithProblem(incoming.socket, refusal);
    });
  }

  #forward({ res }: IncomingRequest, absence: Absence, go: (link: Link) => Abandonable | null): void {
    this.#options.onActivity();
    let work: Abandonable | null = null;
    res.on('close', () => work?.abandon());
    this.#whenLinked(absence.patience, (link) => {
      if (res.closed) return;
      if (link === undefined) sendProblem(res, absence.refusal, { close: true });
      else work = go(link);
    });
  }

  #forwardUpgrade({ socket }: IncomingUpgrade, absence: Absence, go: (link: Link) => void): void {
    this.#options.onActivity();
    this.#whenLinked(absence.patience, (link) => {
      if (socket.destroyed) return;
      if (link === undefined) endWithProblem(socket, absence.refusal);
      else go(link);
    });
  }

  /** Goes on at once, or when a restarting sidecar is connected; without one after `patience` milliseconds. */
  #whenLinked(patience: number, go: (link: Link | undefined) => void): void {
    if (this.#link !== undefined || this.#closing !== undefined) {
      go(this.#link);
      return;
    }
    const goOn = () => {
      clearTimeout(timer);
      this.#waiting.delete(goOn);
      go(this.#link);
    };
    const timer = setTimeout(goOn, patience);
    this.#waiting.add(goOn);
  }

  workloadListens(signal: AbortSignal): Promise<boolean> {
    const { control } = this.#link ?? {};
    if (control === undefined || signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (listens: boolean) => {
        this.#onListening = undefined;
        control.off('close', give);
        signal.removeEventListener('abort', give);
        resolve(listens);
      };
      const give = () => settle(false);
      this.#onListening = () => settle(true);
      control.once('close', give);
      signal.addEventListener('abort', give);
      send(control, { kind: 'await-workload' });
    });
  }

  async apply(policy: GatewayPolicy): Promise<void> {
    const { policy: latest } = this.settings;
    if (policy.revision < latest.revision || isDeepStrictEqual(policy, latest)) return;
    this.#settings = { ...this.settings, policy };
    this.#link?.public.apply(policy.public);
    const { control } = this.#link ?? {};
    // One that is being started again begins with it.
    if (control === undefined) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        clearTimeout(timer);
        control.off('close', gone);
        this.#applying.delete(policy.revision);
        finish();
      };
      const gone = settle(resolve);
      const timer = setTimeout(
        settle(() => reject(new Error('The Gateway did not apply its policy in time.'))),
        APPLY_LIMIT_MS,
      );
      control.once('close', gone);
      this.#applying.set(policy.revision, settle(resolve));
      send(control, { kind: 'apply', policy });
    });
  }

  activeRequests(): number {
    return this.#active + this.#waiting.size;
  }

  traffic(): Traffic {
    return {
      outbound: sum(this.#former.outbound, this.#traffic.outbound),
      inbound: sum(this.#former.inbound, this.#traffic.inbound),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const go of [...this.#waiting]) go();
    const { control } = this.#link ?? {};
    if (control === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_LIMIT_MS);
      this.#onClosed = () => {
        clearTimeout(timer);
        resolve();
      };
      control.once('close', this.#onClosed);
      send(control, { kind: 'close' });
    });
    this.#drop();
  }

  #take(control: Socket, settings: SidecarSettings): void {
    const socket = openSocketFile(join(this.#options.folder, socketNames.inbound));
    const way = {
      to: { socketPath: socket.path },
      headersTimeout: HEADERS_TIMEOUT_MS,
      meter: openByteMeter(),
      // The sidecar has reported why, unless it is the sidecar itself that failed.
      onFailure: (failure: UpstreamFailure) =>
        this.#options.log({ event: 'upstream_failure', installationId: settings.installationId, ...failure }),
    };
    const inbound = openInbound({ ...way, appOrigin: settings.appOrigin, filterResponse: filterSidecarResponse });
    const publicInbound = openPublicInbound({
      ...way,
      policy: settings.policy.public,
      clientFields: sidecarFields,
      filterResponse: filterSidecarPublicResponse,
    });
    const link = { control, inbound, public: publicInbound, settings, release: socket.close };
    this.#link = link;
    control.on('close', () => {
      if (this.#link === link) this.#drop();
    });
    for (const go of [...this.#waiting]) go();
  }

  #drop(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    this.#active = 0;
    this.#former = this.traffic();
    this.#traffic = { outbound: NOTHING, inbound: NOTHING };
    link.control.destroy();
    void Promise.all([link.inbound.close(), link.public.close()]).then(link.release);
  }

  #receive(message: FromSidecar): void {
    if (message.kind === 'activity') {
      this.#active = message.active;
      this.#traffic = message.traffic;
      this.#options.onActivity();
    } else if (message.kind === 'event') this.#options.log(message.event);
    else if (message.kind === 'listening') this.#onListening?.();
    else if (message.kind === 'applied') this.#applying.get(message.revision)?.();
    else if (message.kind === 'closed') {
      this.#traffic = message.traffic;
      this.#onClosed?.();
    }
  }
}

type Direction = Traffic['outbound'];

function sum(left: Direction, right: Direction): Direction {
  return {
    requests: left.requests + right.requests,
    sentBytes: left.sentBytes + right.sentBytes,
    receivedBytes: left.receivedBytes + right.receivedBytes,
  };
}

/** Connects as soon as there is a socket. */
async function dial(path: string, until: number): Promise<Socket> {
  for (;;) {
    try {
      const file = openSocketFile(path);
      try {
        const socket = net.connect(file.path);
        await once(socket, 'connect');
        socket.on('error', () => socket.destroy());
        return socket;
      } finally {
        file.close();
      }
    } catch (error) {
      if (performance.now() >= until) throw new Error('The Gateway did not come up in time.', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/**
 * A name for the socket that stands at `path` now. The folder belongs to the sidecar, which could put a link to another
 * socket of this machine there: the Runtime would knock at that one with its own rights.
 */
function openSocketFile(path: string): { readonly path: string; close(): void } {
  const descriptor = openSync(path, O_PATH | O_NOFOLLOW);
  if (!fstatSync(descriptor).isSocket()) {
    closeSync(descriptor);
    throw new Error('The Gateway’s socket was replaced by something else.');
  }
  let open = true;
  return {
    path: `/proc/self/fd/${descriptor}`,
    close() {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}
