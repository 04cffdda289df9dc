// Who may reach the backend of one installation: core says which capabilities are valid, once for each, and the assignment
// says when to ask again. What was begun with a capability ends with it (docs/decisions/native-clients.md).
import { createHash } from 'node:crypto';
import { credentialPrefixes, limits, mostAskedCapabilities, refuse } from '@platform/contract';
import type { Clock, Log } from '../clock.ts';
import type { CoreClient } from '../core-client.ts';
import { Doubtful } from './doubtful.ts';

export interface ClientsParts {
  readonly installationId: string;
  readonly core: Pick<CoreClient, 'validCapabilities'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** One request or WebSocket under way. */
export interface Client {
  readonly capability: string | undefined;
  /** Where it comes from, as this machine sees it. */
  readonly address: string | undefined;
  /** Called at most once, when its capability ends. */
  readonly end: () => void;
}

const SHAPE = new RegExp(`^${credentialPrefixes.dataPlane}[A-Za-z0-9_-]{43}$`);
/** Questions to core about one installation at a time. */
const QUESTIONS = 16;
/** Capabilities of no use that are remembered, so that nobody makes this node ask core about one again and again. */
const REMEMBERED_REFUSALS = 256;
const ADDRESSES = 256;
const GUESSES = limits.guessedCapabilities.value;
const MINUTE = 60_000;
const REFRESH_MILLISECONDS = 10_000;
/** How often a question is asked anew because the answer was overtaken. */
const ATTEMPTS = 5;

interface Known {
  readonly endsAt: number;
  readonly cancel: () => void;
}

interface Guesses {
  left: number;
  at: number;
}

export class Clients {
  readonly #parts: ClientsParts;
  /** Valid ones, by their hash. */
  readonly #known = new Map<string, Known>();
  /** Such that were not valid, the oldest first: one that core did not know will never be one. */
  readonly #refused = new Set<string>();
  readonly #open = new Map<string, Set<() => void>>();
  readonly #questions = new Map<string, Promise<boolean>>();
  readonly #guesses = new Map<string, Guesses>();
  readonly #doubtful: Doubtful;
  /** Questions about a single capability that are under way. */
  #asking = 0;
  /** Raised whenever what is known no longer counts, which includes answers that are on their way. */
  #turn = 0;

  constructor(parts: ClientsParts) {
    this.#parts = parts;
    const ask = (hashes: readonly string[]) => this.#questionAll(hashes);
    this.#doubtful = new Doubtful({ clock: parts.clock, most: mostAskedCapabilities, ask });
  }

  /**
   * Resolves with what to call when the request is over.
   *
   * @throws RefusalError `unauthenticated`, `rate_limited` for one that is not valid from an address with too many of these,
   *   `workload_unavailable` when core cannot be asked
   */
  async admit({ capability, address = '', end }: Client): Promise<() => void> {
    if (capability === undefined || !SHAPE.test(capability)) throw unauthenticated();
    // Looked up by its hash, so that the time does not tell how much of a guess was right.
    const hash = createHash('sha256').update(capability).digest('base64url');
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (this.#isKnown(hash)) return this.#hold(hash, end);
      if (this.#refused.has(hash)) throw unauthenticated();
      if (!(await this.#ask(hash, address))) throw unauthenticated();
    }
    throw unverified();
  }

  /**
   * Asks again about every capability that something is under way with, and ends what is not valid any more. Resolves when
   * that has happened; ends everything when core cannot be asked. Never rejects.
   */
  recheck(): Promise<void> {
    return this.#askAgain((hashes) => {
      for (const hash of hashes) this.#end(hash);
    });
  }

  /** The same for what ends soon instead of now: when core cannot be asked, it is asked again a little later. */
  async refresh(): Promise<void> {
    let isAnswered = true;
    await this.#askAgain(() => {
      isAnswered = false;
    });
    if (!isAnswered) this.#parts.clock.after(REFRESH_MILLISECONDS, () => void this.refresh());
  }

  async #askAgain(unanswered: (hashes: readonly string[]) => void): Promise<void> {
    this.#forget();
    const turn = this.#turn;
    const hashes = [...this.#open.keys()];
    for (let from = 0; from < hashes.length; from += mostAskedCapabilities) {
      const asked = hashes.slice(from, from + mostAskedCapabilities);
      const valid = await this.#validOf(asked).catch(() => null);
      // A later call has asked about all of them.
      if (turn !== this.#turn) return;
      if (valid === null) {
        unanswered(asked);
        continue;
      }
      for (const hash of asked) {
        const left = valid.get(hash);
        if (left === undefined) this.#end(hash);
        else this.#know(hash, left);
      }
    }
  }

  /** Ends everything that is under way. */
  endAll(): void {
    this.#forget();
    for (const hash of [...this.#open.keys()]) this.#end(hash);
  }

  #forget(): void {
    this.#turn += 1;
    for (const { cancel } of this.#known.values()) cancel();
    this.#known.clear();
    this.#questions.clear();
  }

  #isKnown(hash: string): boolean {
    const known = this.#known.get(hash);
    return known !== undefined && known.endsAt > this.#parts.clock.elapsed();
  }

  #know(hash: string, milliseconds: number): void {
    const { clock } = this.#parts;
    this.#known.get(hash)?.cancel();
    const cancel = clock.after(milliseconds, () => {
      this.#known.delete(hash);
      this.#end(hash);
    });
    this.#known.set(hash, { endsAt: clock.elapsed() + milliseconds, cancel });
  }

  #hold(hash: string, end: () => void): () => void {
    const open = this.#open.get(hash) ?? new Set();
    this.#open.set(hash, open);
    open.add(end);
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(hash) === open) this.#open.delete(hash);
    };
  }

  #end(hash: string): void {
    const open = this.#open.get(hash);
    this.#open.delete(hash);
    for (const end of open ?? []) end();
  }

  /** Concurrent requests with the same capability share a question. @returns false for one that is not valid */
  #ask(hash: string, address: string): Promise<boolean> {
    const asked = this.#questions.get(hash);
    if (asked !== undefined) return asked;
    const isDoubtful = this.#asking >= QUESTIONS || !this.#takeGuess(address);
    const begun = isDoubtful ? this.#askDoubtful(hash, address) : this.#question(hash, address);
    const question = begun.finally(() => {
      if (this.#questions.get(hash) === question) this.#questions.delete(hash);
    });
    this.#questions.set(hash, question);
    return question;
  }

  async #question(hash: string, address: string): Promise<boolean> {
    let wasGuess = false;
    this.#asking += 1;
    try {
      wasGuess = !(await this.#questionAll([hash])).has(hash);
      return !wasGuess;
    } finally {
      this.#asking -= 1;
      if (!wasGuess) this.#giveGuessBack(address);
    }
  }

  /** @throws RefusalError `rate_limited` for one that is not valid */
  async #askDoubtful(hash: string, address: string): Promise<boolean> {
    if (await this.#doubtful.ask(hash, address)) return true;
    throw refuse('rate_limited', 'Too many requests from this address named a capability that is not valid.', {
      retryAfter: Math.ceil(MINUTE / 1_000 / GUESSES),
    });
  }

  /** @returns those that are valid */
  async #questionAll(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const turn = this.#turn;
    const valid = await this.#validOf(hashes).catch((error: unknown) => {
      const { installationId, log } = this.#parts;
      log.warn({ installationId, err: error }, 'core could not be asked about a client');
      throw unverified();
    });
    for (const hash of hashes) {
      const left = valid.get(hash);
      if (left === undefined) this.#remember(hash);
      // It may have ended while the answer was on its way: ask again.
      else if (turn === this.#turn) this.#know(hash, left);
    }
    return new Set(valid.keys());
  }

  #validOf(hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#parts.core.validCapabilities(this.#parts.installationId, hashes);
  }

  #remember(hash: string): void {
    this.#refused.add(hash);
    const [oldest] = this.#refused;
    if (this.#refused.size > REMEMBERED_REFUSALS && oldest !== undefined) this.#refused.delete(oldest);
  }

  /** @returns false when the address has none left */
  #takeGuess(address: string): boolean {
    const now = this.#parts.clock.elapsed();
    const { left, at } = this.#guesses.get(address) ?? { left: GUESSES, at: now };
    const refilled = Math.min(GUESSES, left + ((now - at) / MINUTE) * GUESSES);
    if (refilled < 1) return false;
    this.#guesses.delete(address);
    this.#guesses.set(address, { left: refilled - 1, at: now });
    const [oldest] = this.#guesses.keys();
    if (this.#guesses.size > ADDRESSES && oldest !== undefined) this.#guesses.delete(oldest);
    return true;
  }

  #giveGuessBack(address: string): void {
    const guesses = this.#guesses.get(address);
    if (guesses !== undefined) guesses.left += 1;
  }
}

export function unauthenticated() {
  return refuse(
    'unauthenticated',
    'Present a valid data-plane capability of this installation as Bearer. A launch of the app gives one.',
  );
}

function unverified() {
  return refuse('workload_unavailable', 'This machine cannot verify the capability right now.', { retryAfter: 1 });
}
