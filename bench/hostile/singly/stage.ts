// A platform with an object store, somebody who does no harm, and an attacker with five installations.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExchangeAnswer, LaunchDescriptor } from '@platform/contract';
import { REGION, STORE_CREDENTIALS } from '../../../packages/gateway/test-support/fake-store.ts';
import { type AskBackend, type BackendDoor, backendDoor, openBackend } from '../../../tests/support/backend.ts';
import { startChild } from '../../../tests/support/child.ts';
import { registerAccount, type TestAccount } from '../../../tests/support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../../../tests/support/platform-process.ts';
import { publishTestApp } from '../../../tests/support/publish.ts';
import type { Frontend, Scene } from './scene.ts';

const BUCKET = 'objects-of-apps';
const INSTALLATIONS = 5;
const PERMISSIONS = [
  { id: 'apps.catalog.read', resources: ['*'] },
  { id: 'object-storage.raw', resources: ['self'] },
  { id: 'search.index', resources: ['self'] },
];

export interface Stage {
  readonly place: PlatformPlace;
  readonly platform: PlatformProcess;
  readonly innocent: { readonly account: TestAccount; readonly backend: AskBackend };
  /** What the attacker knows. */
  readonly scene: Omit<Scene, 'seconds'>;
  close(): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-hostile-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const store = await startStore();
  parts.defer(store.kill);
  const key = path.join(folder, 'store.json');
  await writeFile(key, JSON.stringify(STORE_CREDENTIALS), { mode: 0o600 });
  const place = await platformPlace({
    PLATFORM_OBJECT_STORE_ENDPOINT: store.origin,
    PLATFORM_OBJECT_STORE_REGION: REGION,
    PLATFORM_OBJECT_STORE_BUCKET: BUCKET,
    PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: key,
  });
  parts.defer(() => place.remove());
  const platform = await startPlatform(place);
  parts.defer(async () => void (await platform.stop()));
  const innocent = await settle(place, 'innocent', ['innocent']);
  const backend = await openBackend(place, innocent, 'innocent');
  for (const way of ['/prepare', '/object', '/service']) await answered(backend, way);
  const appIds = Array.from({ length: INSTALLATIONS }, (_, index) => `hostile-${index}`);
  const attacker = await settle(place, 'hostile', appIds);
  const backends: BackendDoor[] = [];
  for (const appId of appIds) {
    await answered(await openBackend(place, attacker, appId), '/');
    backends.push(await backendDoor(place, attacker, appId));
  }
  const frontend = await openFrontend(attacker, appIds[0] ?? '');
  const { port, origin } = place;
  const scene = { port, origin, cookie: attacker.cookie, backends, frontend };
  const started = parts.move();
  return { place, platform, innocent: { account: innocent, backend }, scene, close: () => started.disposeAsync() };
}

async function startStore() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const main = fileURLToPath(new URL('./store-server.ts', import.meta.url));
  const store = startChild(main, { environment: { BENCH_BUCKET: BUCKET }, onLine: resolve });
  const { origin }: { origin: string } = JSON.parse(await promise);
  return { origin, kill: store.kill };
}

/** An account that has the plan with object storage, and these apps with the program that is named after it. */
async function settle(place: PlatformPlace, name: string, appIds: readonly string[]): Promise<TestAccount> {
  const account = await registerAccount(place, name);
  await runCommand(['account', 'plan', name, 'paid'], place.environment);
  const program = await readFile(new URL(`./${name}-workload.mjs`, import.meta.url));
  const workload = { runtime: 'node', entry: 'main.mjs', mode: 'automatic' };
  const files = { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': program };
  for (const appId of appIds) {
    await publishTestApp(account, appId, { workload, permissions: PERMISSIONS }, files);
    await account.browser.take('/v1/apps', { body: { appId } });
  }
  return account;
}

async function answered(backend: AskBackend, way: string): Promise<void> {
  const { status, text } = await backend(way);
  if (status !== 200) throw new Error(`${way} was answered ${status}: ${text}`);
}

/** As the page of the app does when it opens. */
async function openFrontend(account: TestAccount, appId: string): Promise<Frontend> {
  const launch = await account.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { method: 'POST' });
  const body = { capability: launch.frontendCapability };
  const headers = { origin: launch.origin, cookie: undefined };
  const { capability } = await account.browser.take<ExchangeAnswer>('/v1/frontend/exchange', { body, headers });
  return { origin: launch.origin, capability };
}
