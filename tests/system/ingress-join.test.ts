// An Ingress of its own, as on another machine: it joins with the operator's token, reaches core and node over links, serves
// apps, starts again without a token, and takes nothing more once it is removed.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { PublicAddress } from '@platform/contract';
import { Command } from '../support/cli-command.ts';
import { registerAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import {
  emptyPlace,
  inherited,
  type LongCommand,
  type PlatformPlace,
  type PlatformProcess,
  runCommand,
  startCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const APP = 'served-elsewhere';
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((req, res) => res.end('from ' + req.headers['x-forwarded-for'])).listen(Number(process.env.PORT));
`;
const INFORMED = 'It knows the public names of this platform.';

let place: PlatformPlace;
let platform: PlatformProcess | undefined;
let ingress: LongCommand | undefined;
let folder: string;
let environment: NodeJS.ProcessEnv;
let port: number;
let link: string;
let hostname: string;

before(async () => {
  const [linkPort, publicPort] = [await freePort(), await freePort()];
  link = `127.0.0.1:${linkPort}`;
  place = await emptyPlace({
    PLATFORM_LINK_LISTEN: link,
    PLATFORM_NODE_PUBLIC: `127.0.0.1:${publicPort}`,
    PLATFORM_INGRESS_LISTEN: '',
  });
  folder = await mkdtemp(path.join(tmpdir(), 'platform-ingress-'));
  port = await freePort();
  environment = { ...inherited, PLATFORM_DATA_DIR: folder, PLATFORM_INGRESS_LISTEN: `127.0.0.1:${port}` };
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'edge');
  const resources = ['GET:/*'];
  const permissions = [{ id: 'endpoints.public', resources }];
  const manifest = testManifest(APP, {
    workload: { runtime: 'node', entry: 'main.mjs' },
    publicEndpoints: resources,
    permissions,
  });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  const body = await buildTestPackage({ manifest, files });
  const headers = { 'content-type': 'application/gzip' };
  await account.browser.take(`/v1/catalog/${APP}/versions/1.0.0`, { method: 'PUT', body, headers });
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions } });
  hostname = (await account.browser.take<PublicAddress>(`/v1/apps/${APP}/public`)).hostname ?? '';
});
after(async () => {
  await ingress?.stop();
  await platform?.stop();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

const ask = (): Promise<RawAnswer> => rawRequest({ port, path: '/', headers: { host: hostname } });

async function tokenFor(kind: 'node' | 'ingress'): Promise<string> {
  const said = await runCommand([kind, 'token'], place.environment);
  const token = /p[ni]e_\S+/.exec(said)?.[0];
  assert.ok(token !== undefined, said);
  return token;
}

test('without an Ingress of its own the platform says so, and a token of a node makes none', async () => {
  assert.match(await runCommand(['ingress', 'list'], place.environment), /No Ingress, .*\.\/platform ingress token/);
  const join = ['ingress', 'join', `https://${link}`, await tokenFor('node')];
  await assert.rejects(runCommand(join, environment), /That is not a token for an Ingress, or it is incomplete/);
});

test('it joins over the link, serves the app with its client’s address, and the operator sees it', async () => {
  const args = ['ingress', 'join', `https://${link}`, await tokenFor('ingress'), '--name', 'edge'];
  ingress = await startCommand(args, environment, INFORMED);
  const answer = await ask();
  assert.deepEqual([answer.status, answer.text], [200, 'from 127.0.0.1']);
  assert.match(await runCommand(['ingress', 'list'], place.environment), /^edge +online .* up to date +joined$/m);
});

test('its doctor looks at what an Ingress needs, and the commands for core say that they belong elsewhere', async () => {
  const well = await runCommand(['doctor'], environment);
  const deep = await runCommand(['doctor', '--deep'], environment);
  assert.match(deep, /✓ keys +1 key file: there/);
  assert.match(deep, /✓ descriptors +process \d+ \d+ of \d+/);
  for (const line of [/✓ member +the Ingress edge runs/, /✓ core +answers at https/, /✓ public host/])
    assert.match(well, line);
  assert.doesNotMatch(well, /database|namespaces|port /);
  await assert.rejects(
    runCommand(['ingress', 'list'], environment),
    /belongs to an Ingress\. Run this on the machine of core/,
  );
  await ingress?.stop();
  const doctor = runCommand(['doctor'], environment);
  await assert.rejects(doctor, ({ stdout }: { readonly stdout: string }) => /✗ member .* does not run/.test(stdout));
  ingress = await startCommand(['ingress', 'start'], environment, INFORMED);
});

test('a file of its membership that is no good is named, with what to do', async () => {
  await ingress?.stop();
  const file = path.join(folder, 'ingress', 'membership.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.slice(0, 20));
  await assert.rejects(runCommand(['ingress', 'start'], environment), (error: { readonly stderr: string }) =>
    /^platform: \S+membership\.json does not say .* delete it, and join/m.test(error.stderr),
  );
  const doctor = runCommand(['doctor'], environment);
  await assert.rejects(doctor, ({ stdout }: { readonly stdout: string }) =>
    /✗ member .*cannot run\n.*membership\.json/.test(stdout),
  );
  await writeFile(file, text);
  ingress = await startCommand(['ingress', 'start'], environment, INFORMED);
});

test('without core its doctor says so', async () => {
  await platform?.stop();
  const doctor = runCommand(['doctor'], environment);
  await assert.rejects(doctor, ({ stdout }: { readonly stdout: string }) =>
    /✗ core +does not answer at https/.test(stdout),
  );
  platform = await startPlatform(place);
});

test('it starts again without a token, and not twice with one', async () => {
  assert.equal(await ingress?.stop(), 0);
  const again = ['ingress', 'join', `https://${link}`, await tokenFor('ingress')];
  await assert.rejects(runCommand(again, environment), /belongs to an Ingress already/);
  ingress = await startCommand(['ingress', 'start'], environment, INFORMED);
  assert.equal((await ask()).status, 200);
});

test('on a terminal it says what an operator reads, and its log goes to a file', async (t) => {
  await ingress?.stop();
  const shown = new Command(['ingress', 'start'], { environment, terminal: true });
  t.after(() => shown.child.kill('SIGKILL'));
  await shown.hears(/ {2}Log +\S+platform\.log\n/);
  await shown.hears(/It knows the public names of this platform\./);
  const log = path.join(folder, 'platform.log');
  const lines = async () => (await readFile(log, 'utf8')).trimEnd().split('\n').filter(Boolean);
  assert.equal((await ask()).status, 200);
  await until('a line about the request', async () => (await lines()).some((line) => JSON.parse(line).path === '/'));
  const before = (await lines()).length;
  await platform?.stop();
  await until('a line about core, which is gone', async () => (await lines()).length > before);
  platform = await startPlatform(place);
  shown.types('\u0003');
  const { code, said } = await shown.ends();
  assert.deepEqual([code, /^\{/m.test(said), /Stopping \(SIGINT\)/.test(said)], [0, false, true], said);
  ingress = await startCommand(['ingress', 'start'], environment, INFORMED);
});

test('once it is removed it ends, forgets where it belonged, and cannot start again', async () => {
  assert.match(await runCommand(['ingress', 'remove', 'edge'], place.environment), /Removed Ingress edge/);
  await until('the Ingress to end', () => ingress?.output().includes('this Ingress was removed from the platform'));
  await assert.rejects(runCommand(['ingress', 'start'], environment), /is not an Ingress yet/);
  await assert.rejects(ask());
});
