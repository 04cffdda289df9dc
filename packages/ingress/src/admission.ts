// Whether a public request may pass, before anything is done for it: its host, its client's rate, its route, and how many
// requests of the installation are under way.
import { publicHostname, type Refusal } from '@platform/contract';
import type { IngressLimits } from './limits.ts';
import { Places } from './places.ts';
import { TokenBuckets } from './token-buckets.ts';
import type { PublicName, Topology } from './topology.ts';

export interface AdmissionRequest {
  /** As `PublicRoutes.match` takes it. */
  readonly method: string;
  readonly path: string;
  /** `clientNetwork` of its client. */
  readonly network: string;
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

  /** Why a request to a name does not pass; `null` when it does. Counts it against the rate of its client. */
  refusalOf(name: PublicName | undefined, { method, path, network }: AdmissionRequest): Refusal | null {
    if (!this.#options.isCurrent()) return NOT_CURRENT;
    if (name === undefined) return { code: 'unknown_host' };
    const seconds = this.#buckets.take(`${network} ${name.owner}`);
    if (seconds > 0) return { code: 'rate_limited', retryAfter: seconds };
    return name.passes(method, path) ? null : { code: 'not_found' };
  }
}
