// Whether a public request may pass, before anything is done for it: its host, its client's rate, its route, and how many
// requests of the installation are under way.
import { clientNetwork, publicHostname, type Refusal } from '@platform/contract';
import type { Client } from './client-address.ts';
import type { IngressLimits } from './limits.ts';
import { Places } from './places.ts';
import { TokenBuckets } from './token-buckets.ts';
import type { PublicName, Topology } from './topology.ts';

export interface AdmissionRequest {
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

/** Seconds until a client should try again. */
const CUT_OFF_RETRY = 5;

export const NOT_CURRENT: Refusal = {
  code: 'unavailable',
  detail: 'This Ingress has lost its connection to the platform. It is trying again.',
  retryAfter: CUT_OFF_RETRY,
};

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #buckets: TokenBuckets;
  /** Of requests under way. */
  readonly places: Places;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { rate, burst, concurrency } = options.limits;
    this.places = new Places(concurrency);
    this.#buckets = new TokenBuckets({ rate, burst, now: options.now });
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
  admit({ host, method, path, client }: AdmissionRequest): PublicName | Refusal {
    const { topology, isCurrent } = this.#options;
    if (!isCurrent()) return NOT_CURRENT;
    const name = topology.find(publicHostname(host));
    if (name === undefined) return { code: 'unknown_host' };
    const seconds = this.#buckets.take(`${clientNetwork(client.address)} ${name.installationId}`);
    if (seconds > 0) return { code: 'rate_limited', retryAfter: seconds };
    return name.passes(method, path) ? name : { code: 'not_found' };
  }
}
