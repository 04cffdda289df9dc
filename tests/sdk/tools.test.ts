// Tools by the SDK: a backend serves them with a few lines, other backends and pages use them with the official client, and a chain of calls
// goes on by itself.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import * as officialClient from '@modelcontextprotocol/client';
import * as officialServer from '@modelcontextprotocol/server';
import type { Grant } from '@platform/contract';
import { PlatformError, PlatformServicesClient, type ToolRequest } from '@platform/sdk';
import * as z from 'zod';
import { type AppGateway, openAppGateway } from '../support/app-gateway.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';

const { Client, StreamableHTTPClientTransport } = officialClient;
const GRANTS: Grant[] = [
  { id: 'mcp.tools.call', resources: ['platform-notifications.*'] },
  { id: 'notifications.publish', resources: ['daily'] },
];

let world: Constellation;
let ada: TestAccount;
let asker: AppGateway;
before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  asker = await openAppGateway(world, await installTestApp(world, ada, 'asker', GRANTS));
});
after(async () => {
  await asker?.close();
  await world?.close();
});

test('a backend gets a connected client of the official package, within its grants', async () => {
  const tools = await asker.client.mcp(import('@modelcontextprotocol/client'));
  assert.ok(tools instanceof Client);
  assert.deepEqual(
    (await tools.listTools()).tools.map(({ name }) => name),
    ['platform-notifications.publish'],
  );
  const news = { topic: 'daily', title: 'Bread', body: 'is here' };
  const done = await tools.callTool({ name: 'platform-notifications.publish', arguments: news });
  assert.equal(done.isError, undefined);
  await tools.close();
});

for (const mode of ['legacy', { pin: '2026-07-28' }] as const)
  test(`the options of the client are the author’s: ${JSON.stringify(mode)}`, async () => {
    const tools = await asker.client.mcp(officialClient, { client: { versionNegotiation: { mode } } });
    assert.equal((await tools.listTools()).tools.length, 1);
    await tools.close();
  });

test('what the platform refuses is its error, when connecting and later', async () => {
  await assert.rejects(asker.client.mcp(officialClient, { app: 'nobody' }), {
    name: 'PlatformError',
    code: 'not_found',
  });
  const tools = await asker.client.mcp(officialClient);
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions: [] } });
  await assert.rejects(tools.listTools(), { name: 'PlatformError', code: 'grant_missing' });
  await assert.rejects(asker.client.mcp(officialClient), { name: 'PlatformError', code: 'grant_missing' });
  await tools.close();
  await ada.browser.take('/v1/apps/asker/permissions', { method: 'PUT', body: { permissions: GRANTS } });
});

test('without the package there is an error that says what to do', async () => {
  const absent = import('@modelcontextprotocol/none' as string) as Promise<typeof officialClient>;
  for (const given of [absent, {} as typeof officialClient, undefined as unknown as typeof officialClient])
    await assert.rejects(asker.client.mcp(given), (error) => {
      assert.ok(error instanceof PlatformError);
      return error.code === 'invalid_request' && /@modelcontextprotocol\/client is missing/.test(error.detail);
    });
  const { tools } = asker.client;
  const serve = (official: unknown, path?: string) =>
    tools.serve(official as typeof officialServer, { name: 'a', version: '1', ...(path ? { path } : {}) }, () => {});
  assert.throws(() => serve({}, '/mcp'), {
    code: 'invalid_request',
    detail: /@modelcontextprotocol\/server is missing/,
  });
  assert.throws(() => serve(officialServer), { code: 'invalid_request', detail: /workload\.mcp\.path/ });
});

/** A backend beside a Gateway that writes down what comes. */
async function served(register: (server: officialServer.McpServer, request: ToolRequest) => void) {
  const heard: { readonly url: string; readonly chain: unknown }[] = [];
  const gateway = createServer((request, response) => {
    heard.push({ url: request.url ?? '', chain: request.headers['platform-tool-chain'] });
    response.writeHead(403, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ code: 'grant_missing', detail: 'no', status: 403, title: 'no', type: 'x' }));
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const platform = PlatformServicesClient.fromEnv({
    PLATFORM_API_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    PLATFORM_GATEWAY_TOKEN: 'pgw_x',
    PLATFORM_MCP_PATH: '/tools',
  });
  const tools = platform.tools.serve(officialServer, { name: 'notes', version: '1.0.0' }, register);
  const backend = createServer(async (request, response) => {
    if (!(await tools.handle(request, response))) response.writeHead(404).end('mine');
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  return {
    ...{ heard, origin },
    async connect(headers: Record<string, string> = {}) {
      const client = new Client({ name: 'hub', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(new StreamableHTTPClientTransport(new URL('/tools', origin), { requestInit: { headers } }));
      return client;
    },
    async close() {
      for (const server of [backend, gateway]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

test('a backend serves tools at the path of its manifest, knows who calls, and passes the chain on', async (t) => {
  const backend = await served((server, request) => {
    server.registerTool('who', { inputSchema: z.object({ word: z.string() }) }, async ({ word }) => {
      const refused = await request.mcp(officialClient).catch((error: PlatformError) => error.code);
      return { content: [{ type: 'text', text: `${word} ${request.caller} ${refused}` }] };
    });
    server.registerTool('breaks', {}, () => {
      throw new Error('no');
    });
  });
  t.after(() => backend.close());
  const client = await backend.connect({ 'platform-caller': 'asker', 'platform-tool-chain': 'c.1' });
  assert.equal((await client.listTools()).tools.length, 2);
  const { content } = await client.callTool({ name: 'who', arguments: { word: 'Hello' } });
  assert.deepEqual(content, [{ type: 'text', text: 'Hello asker grant_missing' }]);
  assert.deepEqual(backend.heard[0], { url: '/v1/services/mcp', chain: 'c.1' });
  assert.equal((await client.callTool({ name: 'breaks', arguments: {} })).isError, true);
  await client.close();
  assert.equal(await (await fetch(`${backend.origin}/other`)).text(), 'mine');
  assert.equal((await fetch(`${backend.origin}/tools`)).status, 405);
  assert.equal((await fetch(`${backend.origin}/tools`, { method: 'POST', body: 'x'.repeat(5_000_000) })).status, 413);
  assert.equal((await fetch(`${backend.origin}/tools`, { method: 'POST', body: '{' })).ok, false);
});

test('progress comes as it is said, and a call that its caller leaves ends', async (t) => {
  const ended = Promise.withResolvers<void>();
  const backend = await served((server) => {
    server.registerTool('steps', {}, async ({ mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()));
      ended.resolve();
      return { content: [] };
    });
  });
  t.after(() => backend.close());
  const client = await backend.connect();
  const leaving = new AbortController();
  const onprogress = () => leaving.abort();
  await assert.rejects(client.callTool({ name: 'steps', arguments: {} }, { onprogress, signal: leaving.signal }));
  await ended.promise;
  await client.close();
});

test('tools that cannot be registered fail their own request, and the log says why', async (t) => {
  const failures = t.mock.method(console, 'error', () => {});
  const backend = await served(() => {
    throw new Error('broken');
  });
  t.after(() => backend.close());
  await assert.rejects(backend.connect());
  assert.equal(await (await fetch(`${backend.origin}/other`)).text(), 'mine');
  assert.match(String(failures.mock.calls[0]?.arguments), /could not be registered.*broken/);
});
