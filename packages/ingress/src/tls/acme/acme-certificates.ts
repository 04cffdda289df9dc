// Certificates that are ordered as they are needed: for a public name at its first request, or one wildcard for all of them
// at the start. What is ordered is bounded, so that neither strangers nor faults use up what the authority allows: only
// names of the topology, one order for a name at a time, and longer pauses after each failure.
import { randomInt } from 'node:crypto';
import {
  type Certificate,
  CertificateError,
  type CertificateName,
  type CertificatePair,
  readCertificate,
  wildcardOf,
} from '../certificate.ts';
import {
  type CertificateEvents,
  type CertificateProblem,
  type CertificateSource,
  codeOf,
  expiryProblem,
  findCertificate,
  type ProblemKind,
  ReportedProblems,
} from '../certificate-source.ts';
import { AcmeError, type CertificateAuthority } from './authority.ts';
import type { AcmeStore, FailedOrder } from './store.ts';

export interface AcmeCertificatesOptions extends CertificateEvents {
  readonly authority: CertificateAuthority;
  readonly store: AcmeStore;
  /** Set: one certificate for all names directly below this domain, by DNS-01. `null`: one for each name. */
  readonly wildcardOf: string | null;
  /** Whether a host is a public name now. */
  isKnown(host: string): boolean;
  readonly now: () => Date;
  /** Milliseconds between two looks at what is due. Default: a minute. */
  readonly interval?: number;
}

export interface AcmeCertificates extends CertificateSource {
  obtain(host: string): Promise<Certificate | null>;
  /** Orders what is due now; resolves when these orders are over. */
  look(): Promise<void>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Orders under way at a time, and begun within an hour. */
const MOST_AT_ONCE = 4;
const MOST_AN_HOUR = 60;
/** Names that wait for their order. */
const MOST_WAITING = 1_000;
/** Five failures of a name in an hour are what the largest authority allows; these are four. */
const FIRST_PAUSE = 5 * MINUTE;
const LONGEST_PAUSE = DAY;
/** After a failure that the authority does not count, of the hook, the disk or the network: an operator who mends it waits no day. */
const LONGEST_OWN_PAUSE = HOUR;
const OWN_FAILURES: readonly ProblemKind[] = ['unreachable', 'hook', 'unwritable'];
/** Where an authority says that it is too much, and not until when. */
const RATE_PAUSE = HOUR;
const ORDER_MILLISECONDS = 10 * MINUTE;
/** A client does not wait longer in its handshake; its next attempt finds the certificate. */
const HANDSHAKE_MILLISECONDS = 8_000;
/** Renewals of one moment spread over so much of their life. */
const SPREAD_PARTS = 50;
/** For orders under way to take back what they put into DNS, when the Ingress ends. */
const CLOSE_MILLISECONDS = 5_000;

export async function openAcmeCertificates(options: AcmeCertificatesOptions): Promise<AcmeCertificates> {
  const certificates = new Ordered(options);
  await certificates.open();
  return certificates;
}

class Ordered implements AcmeCertificates {
  readonly #options: AcmeCertificatesOptions;
  readonly #certificates = new Map<CertificateName, Certificate>();
  /** When each is renewed, in milliseconds since 1970. */
  readonly #due = new Map<CertificateName, number>();
  readonly #failed = new Map<CertificateName, FailedOrder>();
  readonly #orders = new Map<CertificateName, Promise<Certificate | null>>();
  readonly #waiting: (() => void)[] = [];
  /** In service, and not kept yet: the disk is full, say. */
  readonly #unkept = new Map<CertificateName, CertificatePair>();
  /** When the orders of the last hour began. */
  #begun: number[] = [];
  #pausedUntil = 0;
  #running = 0;
  readonly #reported: ReportedProblems;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AcmeCertificatesOptions) {
    this.#options = options;
    this.#reported = new ReportedProblems(options);
  }

  async open(): Promise<void> {
    const { store, now } = this.#options;
    const { pausedUntil, failed } = await store.orders();
    this.#pausedUntil = pausedUntil;
    for (const [name, order] of Object.entries(failed)) {
      this.#failed.set(name, order);
      this.#tell(name, order);
    }
    for (const [name, pair] of await store.certificates()) {
      try {
        this.#serve(readCertificate(name, pair, now()));
      } catch (error) {
        if (!(error instanceof CertificateError)) throw error;
        // Expired, or cut off by a full disk: another one is ordered when it is needed.
        await this.#stored(() => store.removeCertificate(name));
      }
    }
    const { wildcardOf: domain } = this.#options;
    if (domain !== null && !this.#certificates.has(`*.${domain}`)) void this.#order(`*.${domain}`);
    this.#schedule();
  }

  current(host: string): Certificate | null {
    return findCertificate(this.#certificates, host);
  }

  async obtain(host: string): Promise<Certificate | null> {
    const { wildcardOf: domain, isKnown } = this.#options;
    if (!isKnown(host)) return null;
    if (domain !== null && wildcardOf(host) !== `*.${domain}`) return null;
    const order = this.#order(domain === null ? host : `*.${domain}`);
    if (order === null) return null;
    return within(HANDSHAKE_MILLISECONDS, order);
  }

  served(): readonly Certificate[] {
    return [...this.#certificates.values()];
  }

  problems(): readonly CertificateProblem[] {
    // Of an app that is gone, nobody misses the certificate.
    return this.#reported.all().filter(({ kind, name }) => kind === 'unwritable' || this.#isWanted(name));
  }

  async look(): Promise<void> {
    const { now, wildcardOf: domain } = this.#options;
    const time = now().getTime();
    const orders: (Promise<unknown> | null)[] = [];
    for (const [name, pair] of this.#unkept) await this.#keep(name, pair);
    this.#forgetFailures(time);
    if (domain !== null && !this.#certificates.has(`*.${domain}`)) orders.push(this.#order(`*.${domain}`));
    for (const [name, certificate] of this.#certificates) {
      if (!this.#isWanted(name)) {
        // It may come back; what has expired is of no use to anybody.
        if (certificate.notAfter.getTime() < time) await this.#forget(name);
        continue;
      }
      if (time >= (this.#due.get(name) ?? 0)) orders.push(this.#order(name));
      // Why its renewal fails says more.
      const expiry = this.#failed.has(name) ? null : expiryProblem(certificate, now());
      if (expiry !== null) this.#reported.set(name, expiry);
    }
    await Promise.all(orders);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ending.abort();
    for (const begin of this.#waiting.splice(0)) begin();
    await within(CLOSE_MILLISECONDS, Promise.all(this.#orders.values()));
  }

  #schedule(): void {
    if (this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.look().finally(() => this.#schedule());
    }, this.#options.interval ?? MINUTE);
    this.#timer.unref();
  }

  #isWanted(name: CertificateName): boolean {
    const { wildcardOf: domain, isKnown } = this.#options;
    return domain === null ? isKnown(name) : name === `*.${domain}`;
  }

  /** The order of a name: the one under way, or a new one; `null` while none may be made. */
  #order(name: CertificateName): Promise<Certificate | null> | null {
    const running = this.#orders.get(name);
    if (running !== undefined) return running;
    const time = this.#options.now().getTime();
    if (isAhead(this.#pausedUntil, time) || isAhead(this.#failed.get(name)?.retryAt ?? 0, time)) return null;
    this.#begun = this.#begun.filter((begun) => begun > time - HOUR && begun <= time);
    if (this.#begun.length >= MOST_AN_HOUR) {
      const what = `${MOST_AN_HOUR} orders began within an hour, which is the most that this Ingress begins`;
      const retryAt = new Date((this.#begun[0] ?? time) + HOUR);
      if (!this.#failed.has(name)) this.#reported.set(name, { name, kind: 'rate_limit', what, retryAt });
      return null;
    }
    if (this.#waiting.length >= MOST_WAITING) return null;
    if (this.#ending.signal.aborted) return null;
    this.#begun.push(time);
    const order = this.#run(name).finally(() => this.#orders.delete(name));
    this.#orders.set(name, order);
    return order;
  }

  async #run(name: CertificateName): Promise<Certificate | null> {
    if (this.#running >= MOST_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#ending.signal.aborted) return null;
    this.#running += 1;
    try {
      return await this.#obtain(name);
    } catch (error) {
      await this.#fail(name, error);
      return null;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #obtain(name: CertificateName): Promise<Certificate> {
    const { authority, now } = this.#options;
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(ORDER_MILLISECONDS)]);
    const pair = await authority.order(name, signal);
    const certificate = readCertificate(name, pair, now());
    this.#serve(certificate);
    await this.#keep(name, pair);
    if (this.#forgive(name)) await this.#saveOrders();
    return certificate;
  }

  /** Keeps it for the next start; what cannot be kept is tried again at every look. */
  async #keep(name: CertificateName, pair: CertificatePair): Promise<void> {
    this.#unkept.set(name, pair);
    await this.#stored(async () => {
      await this.#options.store.saveCertificate(name, pair);
      this.#unkept.delete(name);
    });
  }

  #serve(certificate: Certificate): void {
    const { name, notBefore, notAfter } = certificate;
    const life = notAfter.getTime() - notBefore.getTime();
    this.#certificates.set(name, certificate);
    this.#due.set(name, notBefore.getTime() + (life * 2) / 3 + randomInt(Math.max(1, Math.floor(life / SPREAD_PARTS))));
    this.#options.onServed(certificate);
  }

  /** The certificate there is stays in service. */
  async #fail(name: CertificateName, error: unknown): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const time = this.#options.now().getTime();
    const failures = (this.#failed.get(name)?.failures ?? 0) + 1;
    const reason = reasonOf(error);
    const longest = OWN_FAILURES.includes(reason.kind) ? LONGEST_OWN_PAUSE : LONGEST_PAUSE;
    const pause = Math.min(longest, FIRST_PAUSE * 2 ** (failures - 1));
    const said = error instanceof AcmeError && error.retryAfter !== null ? error.retryAfter * 1_000 : 0;
    if (error instanceof AcmeError && error.isRateLimit)
      this.#pausedUntil = time + Math.min(LONGEST_PAUSE, said === 0 ? RATE_PAUSE : said);
    const own = time + Math.max(pause, Math.min(said, LONGEST_PAUSE));
    const retryAt = isAhead(this.#pausedUntil, time) ? Math.max(own, this.#pausedUntil) : own;
    const failed = { failures, retryAt, ...reason };
    this.#failed.set(name, failed);
    this.#tell(name, failed);
    await this.#saveOrders();
  }

  #tell(name: CertificateName, { kind, what, retryAt }: FailedOrder): void {
    this.#reported.set(name, { name, kind, what, retryAt: new Date(retryAt) });
  }

  /** Its failures count no more. @returns whether there were any */
  #forgive(name: CertificateName): boolean {
    this.#reported.set(name, null);
    return this.#failed.delete(name);
  }

  async #saveOrders(): Promise<void> {
    const failed = Object.fromEntries(this.#failed);
    await this.#stored(() => this.#options.store.saveOrders({ pausedUntil: this.#pausedUntil, failed }));
  }

  /** On a full disk what is known in memory does, until the next start. */
  async #stored(change: () => Promise<void>): Promise<void> {
    const { folder } = this.#options.store;
    try {
      await change();
      if (this.#unkept.size === 0) this.#reported.set(folder, null);
    } catch (error) {
      const what = `the folder cannot be written: ${codeOf(error)}`;
      this.#reported.set(folder, { name: folder, kind: 'unwritable', what });
    }
  }

  /** Those of apps that are gone, and of names that were held back here: they are ordered when they are asked for. */
  #forgetFailures(time: number): void {
    for (const [name, { retryAt }] of this.#failed)
      if (!isAhead(retryAt, time) && !this.#isWanted(name) && !this.#certificates.has(name)) this.#forgive(name);
    for (const { name, kind, retryAt } of this.#reported.all())
      if (kind === 'rate_limit' && !this.#failed.has(name) && !isAhead(retryAt?.getTime() ?? 0, time))
        this.#forgive(name);
  }

  async #forget(name: CertificateName): Promise<void> {
    this.#certificates.delete(name);
    this.#due.delete(name);
    this.#forgive(name);
    await this.#stored(() => this.#options.store.removeCertificate(name));
  }
}

/** Whether a pause goes on. One that is longer than any began under a clock that was wrong, as orders then fail, and is over. */
function isAhead(until: number, time: number): boolean {
  return time < until && until <= time + LONGEST_PAUSE;
}

/** @returns what comes of a promise; `null` after `milliseconds`, without an end to it */
async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), milliseconds);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): Pick<FailedOrder, 'kind' | 'what'> {
  if (error instanceof CertificateError) return { kind: 'order', what: `the authority signed, but ${error.message}` };
  if (!(error instanceof AcmeError)) return { kind: 'order', what: `the order failed: ${codeOf(error)}` };
  return { kind: error.isRateLimit ? 'rate_limit' : (error.step ?? 'order'), what: error.message };
}
