// Two apps for the bench of neighbours: one that calls its Gateway as fast as it can, one that measures its own calls.
import { strict as assert } from 'node:assert';
import type { TestAccount } from '../../tests/support/client.ts';
import { buildTestPackage, testManifest } from '../../tests/support/packages.ts';
import type { PlatformPlace } from '../../tests/support/platform-process.ts';
import { rawRequest } from '../../tests/support/raw-http.ts';

const GATEWAY_CALL = `const http = process.getBuiltinModule('node:http');
const target = new URL(process.env.PLATFORM_API_URL + '/v1/services/apps');
const headers = { authorization: 'Bearer ' + process.env.PLATFORM_GATEWAY_TOKEN };
const call = (agent) => new Promise((resolve) => {
  const failed = () => resolve(0);
  http.get(target, { agent, headers }, (answer) => answer.resume().on('end', () => resolve(answer.statusCode)).on('error', failed)).on('error', failed);
});
const listen = (handle) => http.createServer((request, response) => {
  handle(new URL(request.url, 'http://x')).then((said) => response.end(JSON.stringify(said)));
}).listen(process.env.SOCKET ?? Number(process.env.PORT));`;

/** Asked for anything: calls on 64 connections, without a pause, for as many seconds as \`seconds\` says. */
const ROARING = `${GATEWAY_CALL}
listen(async (url) => {
  const until = performance.now() + 1000 * Number(url.searchParams.get('seconds'));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const statuses = {};
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (performance.now() < until) {
      const status = await call(agent);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }));
  agent.destroy();
  return statuses;
});`;

/** Answers with the milliseconds of each of \`calls\` calls, begun \`every\` milliseconds, whatever the former ones take. */
const MEASURING = `${GATEWAY_CALL}
const agent = new http.Agent({ keepAlive: true });
listen(async (url) => {
  const every = Number(url.searchParams.get('every'));
  return Promise.all(Array.from({ length: Number(url.searchParams.get('calls')) }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * every));
    const begun = performance.now();
    const status = await call(agent);
    return { status, milliseconds: performance.now() - begun };
  }));
});`;

export const roaring = { appId: 'bench-roaring', program: ROARING };
export const measuring = { appId: 'bench-measuring', program: MEASURING };

/** Publishes and installs one of them for an account. */
export async function installApp(
  { port, origin }: PlatformPlace,
  account: TestAccount,
  { appId, program }: { readonly appId: string; readonly program: string },
): Promise<void> {
  const manifest = testManifest(appId, {
    workload: { runtime: 'node', entry: 'main.mjs', mode: 'automatic' },
    permissions: [{ id: 'apps.catalog.read', resources: ['*'] }],
  });
  const body = await buildTestPackage({
    manifest,
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': program },
  });
  const published = await rawRequest({
    port,
    method: 'PUT',
    path: `/v1/catalog/${appId}/versions/1.0.0`,
    headers: { host: new URL(origin).host, origin, cookie: account.cookie, 'content-type': 'application/gzip' },
    body,
  });
  assert.equal(published.status, 201, published.text);
  const installed = await account.fetch('/v1/apps', { method: 'POST', body: { appId } });
  assert.equal(installed.status, 201, installed.text);
}
