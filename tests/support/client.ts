// A browser at the shell, for tests: real routes over HTTP to 127.0.0.1 with the Host, Origin and cookie it would send.
import { strict as assert } from 'node:assert';
import type { CeremonyOptions, ConfirmedOperation, SessionAnswer } from '@platform/contract';
import { problemCode, type RawAnswer, rawRequest } from './raw-http.ts';
import { type AuthenticatorSettings, type RequestAnswer, SoftwareAuthenticator } from './software-authenticator.ts';

/** Where the shell is served; a constellation or a running platform is one. */
export interface Target {
  readonly port: number;
  readonly origin: string;
}

export interface RequestSettings {
  /** Default GET, with a body POST. */
  readonly method?: string;
  /** Sent as JSON; a string or Buffer as it is. */
  readonly body?: unknown;
  /** On top of what the browser sends; `undefined` leaves one of those out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export class TestBrowser {
  readonly target: Target;
  /** The `Cookie` header, empty when there is none. Kept up to date from answers. */
  cookie = '';

  constructor(target: Target) {
    this.target = target;
  }

  async fetch(path: string, settings: RequestSettings = {}): Promise<RawAnswer> {
    const { body, headers = {} } = settings;
    const { method = body === undefined ? 'GET' : 'POST' } = settings;
    const all: Record<string, string | undefined> = {
      host: new URL(this.target.origin).host,
      origin: this.target.origin,
      ...(this.cookie === '' ? {} : { cookie: this.cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const raw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await rawRequest({
      port: this.target.port,
      method,
      path,
      headers: sent,
      ...(raw === undefined ? {} : { body: raw }),
    });
    this.#keepCookie(answer.headers['set-cookie']);
    return answer;
  }

  /** Like `fetch`, for answers that must succeed. @throws Error with the code of the problem otherwise */
  async take<Body>(path: string, settings: RequestSettings = {}): Promise<Body> {
    const answer = await this.fetch(path, settings);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${problemCode(answer)} ${answer.text}`);
    return answer.json as Body;
  }

  /** Begins a ceremony. */
  begin(path: string, body: unknown = {}): Promise<CeremonyOptions> {
    return this.take(path, { body });
  }

  /** The session's comes first; those behind it take away what others set under its name. */
  #keepCookie([setCookie]: readonly string[] = []): void {
    if (setCookie === undefined) return;
    const pair = setCookie.split(';', 1)[0] ?? '';
    this.cookie = /;\s*max-age=0\b/i.test(setCookie) ? '' : pair;
  }
}

export interface TestAccount {
  readonly name: string;
  readonly browser: TestBrowser;
  readonly authenticator: SoftwareAuthenticator;
  /** The `Cookie` header of its session. */
  readonly cookie: string;
  /** The public id of its session: the pin of its shell. */
  readonly sessionId: string;
  /** A request of the signed-in browser. */
  fetch(path: string, settings?: RequestSettings): Promise<RawAnswer>;
}

type MoreSettings = Omit<AuthenticatorSettings, 'rpId' | 'origin'>;

/** An authenticator for passkeys of the target, whose RP ID is the host of its origin. */
export function newAuthenticator({ origin }: Target, settings: MoreSettings = {}): SoftwareAuthenticator {
  return new SoftwareAuthenticator({ rpId: new URL(origin).hostname, origin, ...settings });
}

/** Registers an account with a new passkey, in a browser of its own. @throws Error with the code of the refusal */
export async function registerAccount(
  target: Target,
  name: string,
  settings: MoreSettings = {},
  invitation?: string,
): Promise<TestAccount> {
  const browser = new TestBrowser(target);
  const authenticator = newAuthenticator(target, settings);
  const options = await browser.begin('/v1/auth/register/options', {
    name,
    ...(invitation === undefined ? {} : { invitation }),
  });
  const body = { challengeId: options.challengeId, credential: authenticator.create(options) };
  const answer = await browser.take<SessionAnswer>('/v1/auth/register/verify', { body });
  assert.notEqual(browser.cookie, '', 'registration set no session cookie');
  return accountOf(answer, browser, authenticator);
}

/** Signs in with the authenticator's newest passkey, in a browser of its own unless one is given. */
export async function signIn(
  target: Target,
  authenticator: SoftwareAuthenticator,
  browser: TestBrowser = new TestBrowser(target),
): Promise<TestAccount> {
  const options = await browser.begin('/v1/auth/login/options');
  const body = { challengeId: options.challengeId, credential: authenticator.get(options) };
  const answer = await browser.take<SessionAnswer>('/v1/auth/login/verify', { body });
  return accountOf(answer, browser, authenticator);
}

function accountOf(
  { account, session }: SessionAnswer,
  browser: TestBrowser,
  authenticator: SoftwareAuthenticator,
): TestAccount {
  return {
    name: account.name,
    sessionId: session.id,
    browser,
    authenticator,
    get cookie() {
      return browser.cookie;
    },
    fetch: (path, settings) => browser.fetch(path, settings),
  };
}

/** Uses the passkey of the account for one operation, as the body of that operation has it. */
export async function confirm(
  { browser, authenticator }: Pick<TestAccount, 'browser' | 'authenticator'>,
  operation: ConfirmedOperation,
  subject?: string,
): Promise<{ readonly challengeId: string; readonly credential: RequestAnswer }> {
  const options = await browser.begin('/v1/auth/confirm/options', { operation, subject });
  return { challengeId: options.challengeId, credential: authenticator.get(options) };
}
