// Delays the answers of callers that ask for more than anybody needs: refusals, whatever they are for, and what strangers
// get without a rate. So one that goes on at full speed costs the others little, and nobody is refused.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { clientNetwork, errors, limits, type Refusal } from '@platform/contract';
import { openPaces, type Paces } from '@platform/http';
import type { FastifyRequest } from 'fastify';
import type { CoreConfig } from '../../config/config.ts';
import type { Rates } from '../../config/rates.ts';

export interface PacingOptions {
  /** Higher or lower rates raise or lower these as well. */
  readonly rates: Pick<Rates, 'session'>;
  readonly config: Pick<CoreConfig, 'trustedProxies'>;
}

const REFUSALS_PER_SECOND = 20;
/** Files of the shell and of apps, and routes without a rate that need no credential: of one network. */
const ANONYMOUS_PER_SECOND = 300;

export class Pacing {
  readonly #refusals: Paces;
  readonly #anonymous: Paces;
  readonly #callers = new WeakMap<FastifyRequest, string>();
  readonly #isBehindProxies: boolean;

  constructor({ rates, config }: PacingOptions) {
    const factor = rates.session.perMinute / limits.sessionRate.value;
    this.#refusals = openPaces(() => performance.now(), REFUSALS_PER_SECOND * factor);
    this.#anonymous = openPaces(() => performance.now(), ANONYMOUS_PER_SECOND * factor);
    this.#isBehindProxies = config.trustedProxies.length > 0;
  }

  /** From now on refusals of the request count for this caller; until then for the client's network. */
  countFor(caller: string, request: FastifyRequest): void {
    this.#callers.set(request, caller);
  }

  /** Waits before the refusal may be sent. What the caller did not cause is not held back. */
  async refusal(request: FastifyRequest, { code }: Refusal): Promise<void> {
    if (errors[code].status >= 500) return;
    await wait(this.#refusals.next(this.#callers.get(request) ?? clientNetwork(request.ip)));
  }

  /** Counts requests that are refused without anybody knowing who asks. @returns milliseconds to hold the refusal back */
  refusalsOn(socket: Duplex, refusals: number): number {
    return this.#isBehindProxies ? 0 : this.#refusals.next(networkOf(socket), refusals);
  }

  /** @returns milliseconds to wait before a file is sent */
  file({ socket }: IncomingMessage): number {
    return this.#isBehindProxies ? 0 : this.#anonymous.next(networkOf(socket));
  }

  /** Waits before a request is answered that needs no credential and has no rate. */
  async anonymous(request: FastifyRequest): Promise<void> {
    await wait(this.#anonymous.next(clientNetwork(request.ip)));
  }
}

async function wait(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds);
}

/** Not asked behind proxies, which limit their clients themselves: all clients have few addresses there. */
function networkOf(socket: Duplex): string {
  return clientNetwork(
    'remoteAddress' in socket && typeof socket.remoteAddress === 'string' ? socket.remoteAddress : '',
  );
}
