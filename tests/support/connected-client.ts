// A client outside the platform, by the requests that it and the browser of its person make: registered, allowed, with tokens.
import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import type { ConnectionDecided, DecideConnection } from '@platform/contract';
import { confirm, type Target, type TestAccount } from './client.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';

export const REDIRECT = 'http://127.0.0.1:33418/callback';

export interface Registration {
  readonly client_id: string;
  readonly redirect_uris: readonly string[];
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface Sending {
  /** Default GET, with a body POST. */
  readonly method?: string;
  /** Sent as a form; a string as it is. */
  readonly body?: Readonly<Record<string, string>> | string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** The requests of one client, and of the browser in which its person is sent to and fro. */
export class OutsideClient {
  readonly target: Target;
  /** Of the browser that began the newest request. */
  cookie = '';

  constructor(target: Target) {
    this.target = target;
  }

  /** Where clients reach this platform. */
  get origin(): string {
    return this.target.origin.startsWith('https:') ? this.target.origin : `http://localhost:${this.target.port}`;
  }

  resource(app?: string): string {
    return `${this.origin}/mcp${app === undefined ? '' : `/${app}`}`;
  }

  send(path: string, { body, headers = {}, ...sending }: Sending = {}): Promise<RawAnswer> {
    const { method = body === undefined ? 'GET' : 'POST' } = sending;
    const all: Record<string, string | undefined> = {
      host: new URL(this.origin).host,
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    };
    return rawRequest({
      port: this.target.port,
      method,
      path,
      headers: Object.fromEntries(
        Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new URLSearchParams(body).toString() }),
    });
  }

  registering(metadata: object | string, headers: Sending['headers'] = {}): Promise<RawAnswer> {
    const body = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
    return this.send('/oauth/register', { body, headers: { 'content-type': 'application/json', ...headers } });
  }

  async register(metadata: object = {}): Promise<Registration> {
    const answer = await this.registering({ client_name: 'A test client', redirect_uris: [REDIRECT], ...metadata });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as Registration;
  }

  /** What the client opens in the browser. */
  authorizing(parameters: Readonly<Record<string, string>>): Promise<RawAnswer> {
    return this.send(`/oauth/authorize?${new URLSearchParams(parameters)}`, { headers: { accept: 'text/html' } });
  }

  parameters(clientId: string, verifier: string, more: Readonly<Record<string, string>> = {}) {
    return {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      resource: this.resource(),
      state: 'a-state',
      ...more,
    };
  }

  /** @returns the id of the request that the shell is asked to decide */
  async begin(parameters: Readonly<Record<string, string>>): Promise<string> {
    const answer = await this.authorizing(parameters);
    const location = String(answer.headers.location ?? '');
    const id = /\/#\/connect\/([\w-]+)$/.exec(location)?.[1];
    assert.ok(answer.status === 303 && id !== undefined, `${answer.status} ${location} ${answer.text}`);
    this.cookie = cookieOf(answer);
    return id;
  }

  /** The browser that began goes on. @returns what the client finds in its redirect address */
  async goOn(continueAt: string, cookie = this.cookie): Promise<URL> {
    const answer = await this.goingOn(continueAt, cookie);
    assert.equal(answer.status, 303, answer.text);
    return new URL(String(answer.headers.location));
  }

  goingOn(continueAt: string, cookie = this.cookie): Promise<RawAnswer> {
    const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) };
    return this.send(continueAt.slice(this.origin.length), { headers });
  }

  exchanging(form: Readonly<Record<string, string>>, headers: Sending['headers'] = {}): Promise<RawAnswer> {
    return this.send('/oauth/token', { body: form, headers });
  }

  refreshing(clientId: string, refreshToken: string, more: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    return this.exchanging({
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
      resource: this.resource(),
      ...more,
    });
  }
}

export function newVerifier(): string {
  return randomBytes(32).toString('base64url');
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** `name=value` of the cookie that an answer sets. */
export function cookieOf({ headers }: RawAnswer): string {
  return String(headers['set-cookie']?.[0] ?? '').split(';', 1)[0] ?? '';
}

/** The person allows it in the shell, with the passkey. */
export async function allowConnection(
  account: TestAccount,
  id: string,
  scopes?: DecideConnection['scopes'],
): Promise<ConnectionDecided> {
  const confirmation = await confirm(account, 'connection.allow', id);
  return account.browser.take(`/v1/account/connection-requests/${id}`, {
    body: { decision: 'allow', confirmation, ...(scopes === undefined ? {} : { scopes }) },
  });
}

export interface Connected {
  readonly client: OutsideClient;
  readonly clientId: string;
  readonly tokens: Tokens;
}

/** From nothing to tokens. */
export async function connectClient(
  target: Target,
  account: TestAccount,
  { scopes, app, metadata }: { readonly scopes?: string[]; readonly app?: string; readonly metadata?: object } = {},
): Promise<Connected> {
  const client = new OutsideClient(target);
  const { client_id: clientId } = await client.register(metadata);
  const verifier = newVerifier();
  const resource = client.resource(app);
  const id = await client.begin(client.parameters(clientId, verifier, { resource }));
  const { continueAt } = await allowConnection(account, id, scopes);
  const code = (await client.goOn(continueAt)).searchParams.get('code') ?? '';
  const answer = await client.exchanging({
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT,
    resource,
  });
  assert.equal(answer.status, 200, answer.text);
  return { client, clientId, tokens: answer.json as Tokens };
}

/**
 * A client sent the person here: they allow it in the shell.
 *
 * @returns where the client waits for them, with the code
 */
export async function allowInBrowser(
  target: Target,
  account: TestAccount,
  sentTo: URL,
  scopes?: DecideConnection['scopes'],
): Promise<URL> {
  const browser = new OutsideClient(target);
  assert.equal(sentTo.origin, browser.origin);
  const begun = await browser.send(sentTo.pathname + sentTo.search, { headers: { accept: 'text/html' } });
  const id = String(begun.headers.location).split('#/connect/')[1] ?? '';
  const { continueAt } = await allowConnection(account, id, scopes);
  return browser.goOn(continueAt, cookieOf(begun));
}
