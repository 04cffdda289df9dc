// Orders certificates from a certificate authority that speaks ACME (RFC 8555). The protocol is acme-client's; which
// challenge is answered, how long an order may take and what becomes of the authority's wish to be left alone is said here.
import { X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import { plainLine } from '@platform/contract';
import type Acme from 'acme-client';
import type { Authorization, Client, Order } from 'acme-client';
import type { CertificateName, CertificatePair } from '../certificate.ts';
import { codeOf } from '../certificate-source.ts';

/** How the authority is shown that a name is ours. */
export interface ChallengeAnswer {
  readonly type: 'http-01' | 'dns-01';
  /**
   * @param token that the authority chose
   * @param value what it wants to find: the content of the file, or of the TXT record
   * @param signal aborted when the order is over
   */
  add(name: CertificateName, token: string, value: string, signal: AbortSignal): Promise<void>;
  /** Called after each `add`, also one that failed. */
  remove(name: CertificateName, token: string, value: string): Promise<void>;
}

export interface AcmeAccount {
  /** PEM. */
  readonly key: string;
  /** `null` before it is registered. */
  readonly url: string | null;
}

export interface AuthorityOptions {
  /** Of the ACME directory. */
  readonly directory: string;
  /** Whom the authority writes to; empty for nobody. */
  readonly email: string;
  /** PEM of authorities that its own certificate is checked by, besides the usual ones; `null` for those alone. */
  readonly ca: string | null;
  readonly account: AcmeAccount;
  /** The account is registered under this URL from now on; `null`: the authority does not know it any more. */
  saveAccount(url: string | null): Promise<void>;
  readonly answer: ChallengeAnswer;
  /** An answer could not be taken back, and stays where strangers find it. Called once for a name until one could. */
  onLeftBehind(name: CertificateName, reason: string): void;
}

export interface CertificateAuthority {
  /**
   * @throws AcmeError
   */
  order(name: CertificateName, signal: AbortSignal): Promise<CertificatePair>;
}

/** What an order failed at, where that is not the authority's refusal. */
export type OrderStep = 'unreachable' | 'challenge' | 'hook' | 'unwritable';

/** Why there is no certificate. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError';
  /** Whether the authority refused for what was ordered lately, whichever name it is. */
  readonly isRateLimit: boolean;
  /** Seconds until when it accepts nothing, a day at most; `null` where it did not say. */
  readonly retryAfter: number | null;
  /** The kind of the authority's problem document, such as `rateLimited`; `null` without one. */
  readonly kind: string | null;
  readonly step: OrderStep | null;

  constructor(
    message: string,
    { kind = null, retryAfter = null, step = null }: Partial<Pick<AcmeError, 'kind' | 'retryAfter' | 'step'>> = {},
  ) {
    super(message);
    this.kind = kind;
    this.step = step;
    this.retryAfter = retryAfter;
    this.isRateLimit = kind === 'rateLimited' || kind === 'tooManyRequests';
  }
}

const REQUEST_MILLISECONDS = 30_000;
const LARGEST_ANSWER = 1024 * 1024;
/** For the authority to look at the answers, and then to sign. */
const POLLS = 40;
const LONGEST_POLL_MILLISECONDS = 10_000;
const FIRST_POLL_MILLISECONDS = 250;
const LONGEST_DETAIL = 300;

export async function openAuthority(options: AuthorityOptions): Promise<CertificateAuthority> {
  const library = await loadLibrary(options.ca);
  let { url } = options.account;
  /** Names of which an answer could not be taken back. */
  const leftBehind = new Set<CertificateName>();

  async function saveAccount(to: string | null): Promise<void> {
    url = to;
    try {
      await options.saveAccount(to);
    } catch (error) {
      throw new AcmeError(`the account with the authority cannot be kept: ${codeOf(error)}`, { step: 'unwritable' });
    }
  }

  async function takeBack(name: CertificateName, token: string, value: string): Promise<void> {
    try {
      await options.answer.remove(name, token, value);
      leftBehind.delete(name);
    } catch (error) {
      if (!leftBehind.has(name)) options.onLeftBehind(name, reasonOf(error));
      leftBehind.add(name);
    }
  }

  async function client(): Promise<Client> {
    const made = new library.Client({
      directoryUrl: options.directory,
      accountKey: options.account.key,
      ...(url === null ? {} : { accountUrl: url }),
    });
    if (url === null) {
      // For an account that is there already, which needs none. Where an answer names no account, it would never end.
      made.updateAccount = () => Promise.resolve({ status: 'valid', orders: '' });
      const contact = options.email === '' ? {} : { contact: [`mailto:${options.email}`] };
      await made.createAccount({ termsOfServiceAgreed: true, ...contact });
      await saveAccount(made.getAccountUrl());
    }
    return made;
  }

  async function orderOnce(name: CertificateName, signal: AbortSignal): Promise<CertificatePair> {
    const acme = await client();
    const order = await acme.createOrder({ identifiers: [{ type: 'dns', value: name }] });
    for (const authorization of await acme.getAuthorizations(order))
      await authorize(acme, authorization, { name, answer: options.answer, takeBack, signal });
    const [key, csr] = await library.crypto.createCsr(
      { altNames: [name] },
      await library.crypto.createPrivateEcdsaKey('P-256'),
    );
    await acme.finalizeOrder(order, csr);
    const done = await settled<Order>(() => acme.getOrder(order), { signal, isDone: isFinished });
    if (done.status !== 'valid') throw new AcmeError('the authority did not sign the certificate');
    const certificate = await acme.getCertificate(done);
    return { certificate: chainOf(certificate), key: key.toString() };
  }

  return {
    async order(name, signal) {
      try {
        try {
          return await orderOnce(name, signal);
        } catch (error) {
          if (!(error instanceof AcmeError) || error.kind !== 'accountDoesNotExist') throw error;
          // An authority that was set up anew; the key stays.
          await saveAccount(null);
          return await orderOnce(name, signal);
        }
      } catch (error) {
        if (error instanceof AcmeError) throw error;
        if (signal.aborted) throw new AcmeError('the order took too long');
        // What the library throws of an answer that is none of ACME.
        throw new AcmeError(`the answer of the authority is not understood: ${reasonOf(error)}`, {
          step: 'unreachable',
        });
      }
    },
  };
}

/** Milliseconds after which what an answer holds should be looked at again. */
const pollAfter = new WeakMap<object, number>();
let loading: Promise<typeof Acme> | null = null;

/** Loaded only where certificates are ordered: it brings parsers and an HTTP client of its own. */
async function loadLibrary(ca: string | null): Promise<typeof Acme> {
  loading ??= import('acme-client').then(({ default: acme }) => {
    // Its own try again for as long as the authority says, with a client in its handshake, and lose the reason.
    acme.axios.interceptors.response.clear();
    acme.axios.interceptors.response.use(keepAnswer, keepAnswerOrThrow);
    return acme;
  });
  const acme = await loading;
  Object.assign(acme.axios.defaults, {
    timeout: REQUEST_MILLISECONDS,
    maxContentLength: LARGEST_ANSWER,
    maxRedirects: 0,
    httpsAgent: ca === null ? undefined : new Agent({ ca: [...rootCertificates, ca] }),
  });
  return acme;
}

/** What is used of an answer of the library's HTTP client. */
interface LibraryResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

function keepAnswer<Response extends LibraryResponse>(response: Response): Response {
  const retryAfter = secondsOf(response.headers['retry-after']);
  const document: unknown = response.data;
  if (typeof document === 'object' && document !== null && retryAfter !== null)
    pollAfter.set(document, retryAfter * 1_000);
  if (response.status < 400) return response;
  const { kind, detail } = problemOf(document);
  // The library asks for another nonce itself.
  if (kind === 'badNonce') return response;
  throw new AcmeError(`the authority refuses: ${detail ?? `status ${response.status}`}`, {
    kind: response.status === 429 ? 'rateLimited' : kind,
    retryAfter,
  });
}

/** The library has every answer rejected, whatever its status, as well as no answer. */
function keepAnswerOrThrow(error: Error & { readonly response?: LibraryResponse }): LibraryResponse {
  if (error.response !== undefined) return keepAnswer(error.response);
  throw new AcmeError(`the authority cannot be reached: ${codeOf(error)}`, { step: 'unreachable' });
}

const LONGEST_RETRY_SECONDS = 86_400;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Of `Retry-After` (RFC 9110 section 10.2.3): a day at most, 0 for a date that is past, `null` for anything else. */
function secondsOf(header: unknown): number | null {
  if (typeof header !== 'string') return null;
  const isDate = HTTP_DATE.test(header);
  if (!isDate && !/^\d+$/.test(header)) return null;
  const seconds = isDate ? (Date.parse(header) - Date.now()) / 1_000 : Number(header);
  return Number.isNaN(seconds) ? null : Math.min(LONGEST_RETRY_SECONDS, Math.max(0, Math.ceil(seconds)));
}

/** In one line. */
function reasonOf(error: unknown): string {
  return plainLine(error instanceof Error ? error.message : String(error)).slice(0, LONGEST_DETAIL);
}

/** Of a problem document (RFC 8555 section 6.7), in one line. */
function problemOf(document: unknown): { kind: string | null; detail: string | null } {
  if (typeof document !== 'object' || document === null) return { kind: null, detail: null };
  const type = 'type' in document && typeof document.type === 'string' ? document.type : '';
  const detail = 'detail' in document && typeof document.detail === 'string' ? document.detail : null;
  return {
    kind: /^urn:ietf:params:acme:error:(\w+)$/.exec(type)?.[1] ?? null,
    detail: detail === null ? null : plainLine(detail).slice(0, LONGEST_DETAIL),
  };
}

interface Authorizing {
  readonly name: CertificateName;
  readonly answer: ChallengeAnswer;
  takeBack(name: CertificateName, token: string, value: string): Promise<void>;
  readonly signal: AbortSignal;
}

async function authorize(
  acme: Client,
  authorization: Authorization,
  { name, answer, takeBack, signal }: Authorizing,
): Promise<void> {
  if (authorization.status === 'valid') return;
  const challenge = authorization.challenges.find(({ type }) => type === answer.type);
  if (challenge === undefined) throw new AcmeError(`the authority offers no ${answer.type} challenge for ${name}`);
  const value = await acme.getChallengeKeyAuthorization(challenge);
  try {
    await answer.add(name, challenge.token, value, signal);
    await acme.completeChallenge(challenge);
    const find = async (): Promise<Authorization> => {
      const [found] = await acme.getAuthorizations({ authorizations: [authorization.url] } as Order);
      if (found === undefined) throw new AcmeError('the authority forgot the authorization');
      return found;
    };
    const { status, challenges } = await settled(find, {
      signal,
      isDone: ({ status: now }) => now !== 'pending',
    });
    if (status === 'valid') return;
    const failed = challenges.find(({ type }) => type === answer.type);
    const { detail } = problemOf(failed !== undefined && 'error' in failed ? failed.error : null);
    throw new AcmeError(`the authority could not check ${name}${detail === null ? '' : `: ${detail}`}`, {
      step: 'challenge',
    });
  } finally {
    await takeBack(name, challenge.token, value);
  }
}

const isFinished = ({ status }: Order): boolean => status === 'valid' || status === 'invalid';

interface Polling<Item> {
  readonly signal: AbortSignal;
  isDone(item: Item): boolean;
}

/** Asks until it is done, as often as the authority says. */
async function settled<Item extends object>(
  find: () => Promise<Item>,
  { signal, isDone }: Polling<Item>,
): Promise<Item> {
  let wait = FIRST_POLL_MILLISECONDS;
  for (let poll = 0; poll < POLLS; poll += 1) {
    const item = await find();
    if (isDone(item)) return item;
    const said = Math.max(FIRST_POLL_MILLISECONDS, pollAfter.get(item) ?? wait);
    await delay(Math.min(LONGEST_POLL_MILLISECONDS, said), undefined, { signal });
    wait = Math.min(LONGEST_POLL_MILLISECONDS, wait * 2);
  }
  throw new AcmeError('the authority did not decide in time');
}

/** The certificates of the answer and nothing else of it. */
function chainOf(pem: string): string {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const first = certificates[0];
  if (first === undefined || new X509Certificate(first).raw.length === 0)
    throw new AcmeError('the authority answered no certificate');
  return `${certificates.join('\n')}\n`;
}
