// The official MCP clients, v1 and v2, connect to a running core by themselves: they find the server, register, send their person to
// the shell, exchange, refresh, and are refused once the person has disconnected them. The test plays the browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  auth as authV2,
  Client as ClientV2,
  type OAuthClientProvider as ProviderV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { auth as authV1, type OAuthClientProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Connection } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { allowConnection, cookieOf, OutsideClient, REDIRECT } from '../support/connected-client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';

let world: Constellation;
let account: TestAccount;
before(async () => {
  world = await startConstellation();
  account = await registerAccount(world, 'outside');
});
after(() => world.close());

interface Memory {
  client?: unknown;
  tokens?: { access_token: string; refresh_token?: string | undefined; scope?: string | undefined };
  verifier: string;
  sentTo?: URL;
}

/** What both of them ask of a program that uses them; the parts that differ are types. */
function providerOf(memory: Memory) {
  return {
    get redirectUrl() {
      return REDIRECT;
    },
    get clientMetadata() {
      return { client_name: 'Official client', redirect_uris: [REDIRECT] };
    },
    state: () => 'state-of-the-client',
    clientInformation: () => memory.client,
    saveClientInformation(client: unknown) {
      memory.client = client;
    },
    tokens: () => memory.tokens,
    saveTokens(tokens: NonNullable<Memory['tokens']>) {
      memory.tokens = tokens;
    },
    redirectToAuthorization(url: URL) {
      memory.sentTo = url;
    },
    saveCodeVerifier(verifier: string) {
      memory.verifier = verifier;
    },
    codeVerifier: () => memory.verifier,
    invalidateCredentials() {
      delete memory.tokens;
    },
  };
}

interface Answered {
  readonly code: string;
  readonly iss: string;
}

const CLIENTS: Readonly<
  Record<string, (memory: Memory, serverUrl: string, answered?: Answered) => Promise<'AUTHORIZED' | 'REDIRECT'>>
> = {
  v1: (memory, serverUrl, answered) =>
    authV1(providerOf(memory) as unknown as ProviderV1, {
      serverUrl,
      ...(answered === undefined ? {} : { authorizationCode: answered.code }),
    }),
  v2: (memory, serverUrl, answered) =>
    authV2(providerOf(memory) as unknown as ProviderV2, {
      serverUrl,
      ...(answered === undefined ? {} : { authorizationCode: answered.code, iss: answered.iss }),
    }),
};

/** The browser goes where the client sends it, its person allows it, and it comes back. */
async function visit(sentTo: URL): Promise<URL> {
  const browser = new OutsideClient(world);
  const begun = await browser.send(sentTo.pathname + sentTo.search, { headers: { accept: 'text/html' } });
  const id = String(begun.headers.location).split('#/connect/')[1] ?? '';
  const { continueAt } = await allowConnection(account, id);
  return browser.goOn(continueAt, cookieOf(begun));
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const app of [undefined, 'some-app']) {
    test(`${name} connects to ${app ?? 'everything'}, refreshes, and is disconnected`, async () => {
      const outside = new OutsideClient(world);
      const serverUrl = outside.resource(app);
      const memory: Memory = { verifier: '' };
      assert.equal(await connect(memory, serverUrl), 'REDIRECT');
      assert.ok(memory.sentTo);
      const back = await visit(memory.sentTo);
      assert.equal(back.searchParams.get('state'), 'state-of-the-client');
      const answered = { code: back.searchParams.get('code') ?? '', iss: back.searchParams.get('iss') ?? '' };
      assert.equal(await connect(memory, serverUrl, answered), 'AUTHORIZED');
      const first = memory.tokens;
      assert.match(first?.access_token ?? '', /^pct_/);
      assert.match(first?.scope ?? '', /^tools:/);

      assert.equal(await connect(memory, serverUrl), 'AUTHORIZED', 'with the refresh token alone');
      assert.notEqual(memory.tokens?.access_token, first?.access_token);
      assert.notEqual(memory.tokens?.refresh_token, first?.refresh_token);

      const { items } = await account.browser.take<{ items: Connection[] }>('/v1/account/connections');
      const own = items.find((connection) => connection.app === (app ?? null));
      assert.deepEqual(own?.client, { name: 'Official client', host: '127.0.0.1' });
      await account.browser.fetch(`/v1/account/connections/${own?.id}`, { method: 'DELETE' });
      const refused = await outside.refreshing(
        String((memory.client as { client_id: string }).client_id),
        memory.tokens?.refresh_token ?? '',
        { resource: serverUrl },
      );
      assert.deepEqual([refused.status, (refused.json as { error: string }).error], [400, 'invalid_grant']);
      // It begins anew by itself.
      assert.equal(await connect(memory, serverUrl), 'REDIRECT');
    });
  }
}

const SELF = { name: 'official', version: '1.0.0' };

/** A client of each version with a transport that signs in by itself. */
const SESSIONS: Readonly<
  Record<
    string,
    (
      memory: Memory,
      url: URL,
    ) => {
      connect(): Promise<void>;
      finish(back: URL): Promise<void>;
      tools(): Promise<string[]>;
      close(): Promise<void>;
    }
  >
> = {
  v1(memory, url) {
    const client = new ClientV1(SELF);
    const transport = new TransportV1(url, { authProvider: providerOf(memory) as unknown as ProviderV1 });
    return {
      connect: () => client.connect(transport as Parameters<ClientV1['connect']>[0]),
      finish: (back) => transport.finishAuth(back.searchParams.get('code') ?? ''),
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      close: () => client.close(),
    };
  },
  v2(memory, url) {
    const client = new ClientV2(SELF);
    const transport = new TransportV2(url, { authProvider: providerOf(memory) as unknown as ProviderV2 });
    return {
      connect: () => client.connect(transport),
      finish: (back) => transport.finishAuth(back.searchParams),
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      close: () => client.close(),
    };
  },
};

for (const [name, open] of Object.entries(SESSIONS)) {
  test(`${name} is led by the refusal of /mcp to a token, lists tools, and is refused once it is disconnected`, async () => {
    const url = new URL(new OutsideClient(world).resource());
    const memory: Memory = { verifier: '' };
    const refused = open(memory, url);
    await assert.rejects(refused.connect(), /Unauthorized/);
    assert.ok(memory.sentTo);
    await refused.finish(await visit(memory.sentTo));
    const session = open(memory, url);
    await session.connect();
    assert.ok((await session.tools()).includes('platform-notifications.list'));
    const { items } = await account.browser.take<{ items: Connection[] }>('/v1/account/connections');
    for (const { id } of items) await account.browser.fetch(`/v1/account/connections/${id}`, { method: 'DELETE' });
    delete memory.sentTo;
    await assert.rejects(session.tools(), /Unauthorized/);
    assert.ok(memory.sentTo !== undefined, 'it sends its person to the shell again');
    await session.close();
  });
}
