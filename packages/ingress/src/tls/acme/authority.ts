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

/** How the authority is shown that a name is ours. */
export interface ChallengeAnswer {
  readonly type: 'http-01' | 'dns-01';
  /**
   * @param token that the authority chose
   * @param value what it wants to find: the content of the file, or of the TXT record
   */
  add(name: CertificateName, token: string, value: string): Promise<void>;
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
}

export interface CertificateAuthority {
  /**
   * @throws AcmeError
   */
  order(name: CertificateName, signal: AbortSignal): Promise<CertificatePair>;
}

/** Why there is no certificate. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError';
  /** Whether the authority refused for what was ordered lately, whichever name it is. */
  readonly isRateLimit: boolean;
  /** Seconds until when it wants to hear nothing; `null` where it did not say. */
  readonly retryAfter: number | null;
  /** The kind of the authority's problem document, such as `rateLimited`; `null` without one. */
  readonly kind: string | null;

  constructor(
    message: string,
    { kind = null, retryAfter = null }: Partial<Pick<AcmeError, 'kind' | 'retryAfter'>> = {},
  ) {
    super(message);
    this.kind = kind;
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

  async function client(): Promise<Client> {
    const made = new library.Client({
      directoryUrl: options.directory,
      accountKey: options.account.key,
      ...(url === null ? {} : { accountUrl: url }),
    });
    if (url === null) {
      const contact = options.email === '' ? {} : { contact: [`mailto:${options.email}`] };
      await made.createAccount({ termsOfServiceAgreed: true, ...contact });
      url = made.getAccountUrl();
      await options.saveAccount(url);
    }
    return made;
  }

  async function orderOnce(name: CertificateName, signal: AbortSignal): Promise<CertificatePair> {
    const acme = await client();
    const order = await acme.createOrder({ identifiers: [{ type: 'dns', value: name }] });
    for (const authorization of await acme.getAuthorizations(order))
      await authorize(acme, authorization, { name, answer: options.answer, signal });
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
          url = null;
          await options.saveAccount(null);
          return await orderOnce(name, signal);
        }
      } catch (error) {
        if (error instanceof AcmeError) throw error;
        // Without an answer the library throws whatever came of that.
        throw new AcmeError(signal.aborted ? 'the order took too long' : 'the authority cannot be reached');
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
    acme.axios.interceptors.response.use(keepAnswer, throwUnreached);
    return acme;
  });
  const acme = await loading;
  Object.assign(acme.axios.defaults, {
    timeout: REQUEST_MILLISECONDS,
    maxContentLength: LARGEST_ANSWER,
    maxRedirects: 0,
    // Its own retries wait as long as the authority says, with a client in its handshake.
    acmeSettings: { ...Reflect.get(acme.axios.defaults, 'acmeSettings'), retryMaxAttempts: 0 },
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

function throwUnreached(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  throw new AcmeError(`the authority cannot be reached${code}`);
}

function secondsOf(header: unknown): number | null {
  if (typeof header !== 'string') return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
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
  readonly signal: AbortSignal;
}

async function authorize(
  acme: Client,
  authorization: Authorization,
  { name, answer, signal }: Authorizing,
): Promise<void> {
  if (authorization.status === 'valid') return;
  const challenge = authorization.challenges.find(({ type }) => type === answer.type);
  if (challenge === undefined) throw new AcmeError(`the authority offers no ${answer.type} challenge for ${name}`);
  const value = await acme.getChallengeKeyAuthorization(challenge);
  try {
    await answer.add(name, challenge.token, value);
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
    throw new AcmeError(`the authority could not check ${name}${detail === null ? '' : `: ${detail}`}`);
  } finally {
    await answer.remove(name, challenge.token, value).catch(() => undefined);
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
    await delay(Math.min(LONGEST_POLL_MILLISECONDS, pollAfter.get(item) ?? wait), undefined, { signal });
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
