// Whether a public request may pass, before anything is done for it: its host, its client's rate, its route, and how many
// requests of the installation are under way.
import { clientNetwork, publicHostname, type Refusal } from '@platform/contract';
import type { Client } from './client-address.ts';
import type { IngressLimits } from './limits.ts';
import { TokenBuckets } from './token-buckets.ts';
import type { PublicName, Topology } from './topology.ts';

export interface Asking {
  /** `Host` as sent. */
  readonly host: string;
  /** `WS` for a WebSocket handshake. */
  readonly method: string;
  readonly path: string;
  readonly client: Client;
}

export interface AdmissionOptions {
  readonly topology: Topology;
  readonly limits: IngressLimits;
  /** Whether what the topology says may still be relied on. */
  isCurrent(): boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** Seconds after which it is worth asking again. */
const CUT_OFF_RETRY = 5;
const CONCURRENCY_RETRY = 1;
/** Of an installation's requests under way, so much one client network may have: slow readers leave it to others. */
const PART_OF_ONE_CLIENT = 1 / 4;
/** However few an installation may have. */
const ALWAYS_OF_ONE_CLIENT = 8;

export const NOT_CURRENT: Refusal = {
  code: 'unavailable',
  detail: 'This Ingress has lost its connection to the platform. It is trying again.',
  retryAfter: CUT_OFF_RETRY,
};

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #buckets: TokenBuckets;
  /** Requests under way, of each installation and of each client network to it. */
  readonly #ofInstallations: Counts;
  readonly #ofClients: Counts;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { rate, burst, concurrency } = options.limits;
    this.#buckets = new TokenBuckets({ rate, burst, now: options.now });
    this.#ofInstallations = new Counts(concurrency);
    this.#ofClients = new Counts(Math.max(ALWAYS_OF_ONE_CLIENT, Math.ceil(concurrency * PART_OF_ONE_CLIENT)));
  }

  /** Whether a `Host` is served here. While nothing is known for sure, none is refused for not being known. */
  isOwnHost(host: string): boolean {
    const { topology, isCurrent } = this.#options;
    return topology.find(publicHostname(host)) !== undefined || !isCurrent();
  }

  /** The name that a host stands for. */
  find(host: string): PublicName | undefined {
    return this.#options.topology.find(publicHostname(host));
  }

  /** The name that was asked for, or why the request does not pass. */
  admit({ host, method, path, client }: Asking): PublicName | Refusal {
    const { topology, isCurrent } = this.#options;
    if (!isCurrent()) return NOT_CURRENT;
    const name = topology.find(publicHostname(host));
    if (name === undefined) return { code: 'unknown_host' };
    const seconds = this.#buckets.take(`${clientNetwork(client.address)} ${name.installationId}`);
    if (seconds > 0) return { code: 'rate_limited', retryAfter: seconds };
    return name.passes(method, path) ? name : { code: 'not_found' };
  }

  /**
   * Counts a request among those of the installation, and of the client to it.
   *
   * @returns what ends that, once; a refusal where there are too many
   */
  enter(installationId: string, client: Client): (() => void) | Refusal {
    const ofClient = this.#ofClients.enter(`${clientNetwork(client.address)} ${installationId}`);
    const ofInstallation = ofClient === null ? null : this.#ofInstallations.enter(installationId);
    if (ofClient === null || ofInstallation === null) {
      ofClient?.();
      return { code: 'concurrency_limited', retryAfter: CONCURRENCY_RETRY };
    }
    return () => {
      ofClient();
      ofInstallation();
    };
  }
}

class Counts {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns what counts it out again, to be called once; `null` where there are as many as may be */
  enter(key: string): (() => void) | null {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most) return null;
    this.#counts.set(key, count + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}
