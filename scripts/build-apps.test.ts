// What comes with the platform is well-formed, small, safe under its policy, and the same from the same sources.
import { strict as assert } from 'node:assert';
import { createReadStream } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { before, test } from 'node:test';
import { createGunzip, gzipSync } from 'node:zlib';
import { manifest } from '@platform/contract';
import { extract } from 'tar-stream';
import { type BuiltApp, buildApps } from './build-apps.ts';

const SYSTEM_APPS = [
  'agent',
  'contacts',
  'files',
  'fleet',
  'launcher',
  'messages',
  'notifications',
  'schedules',
  'settings',
  'store',
  'wallet',
];
const LARGEST_SCRIPT_BYTES = 26_000;
/** It reads the Markdown of models. */
const LARGEST_OF_AGENT = 48_000;

let built: readonly BuiltApp[] = [];
before(async () => {
  built = await buildApps();
});

async function filesOf({ path: file }: BuiltApp): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const entry of createReadStream(file).pipe(createGunzip()).pipe(extract())) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(Buffer.from(chunk as Uint8Array));
    files.set(entry.header.name, Buffer.concat(chunks));
  }
  return files;
}

test('the system apps and the examples are built', () => {
  assert.deepEqual(
    built.map(({ id }) => id),
    [
      ...SYSTEM_APPS,
      'chat',
      'chat-room',
      'diary',
      'herald',
      'notes',
      'order',
      'photo-box',
      'reading-list',
      'repo-issues',
      'shopping-list',
      'tool-bench',
      'udp-echo',
      'webhooks',
    ],
  );
});

test('every manifest is of schema 9, named after its content, and gives a reason for each permission', async () => {
  for (const app of built) {
    const files = await filesOf(app);
    const parsed = manifest.parse(JSON.parse(files.get('manifest.json')?.toString() ?? ''));
    assert.equal(parsed.schemaVersion, 9);
    assert.deepEqual([parsed.id, parsed.version], [app.id, app.version]);
    assert.match(app.version, /^\d+\.\d+\.\d+\+[0-9a-f]{12}$/);
    for (const permission of parsed.permissions) assert.ok(permission.reason, `${app.id}: ${permission.id}`);
    assert.ok(files.has(`frontend/${parsed.icon}`), app.id);
  }
});

test('no page has a script, a style or a handler in itself', async () => {
  for (const app of built) {
    const page = (await filesOf(app)).get('frontend/index.html')?.toString() ?? '';
    assert.match(page, /<html lang="en">/, app.id);
    assert.match(page, /<title>[^<]+<\/title>/, app.id);
    assert.doesNotMatch(page, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i, app.id);
    assert.doesNotMatch(page, /(src|href)="(https?:)?\/\//i, app.id);
  }
});

test('each app loads little script', async () => {
  for (const app of built) {
    const scripts = [...(await filesOf(app))].filter(([name]) => name.startsWith('frontend/') && name.endsWith('.js'));
    const size = scripts.reduce((sum, [, content]) => sum + gzipSync(content).length, 0);
    const largest = app.id === 'agent' ? LARGEST_OF_AGENT : LARGEST_SCRIPT_BYTES;
    assert.ok(size > 0 && size < largest, `${app.id}: ${size} bytes`);
  }
});

test('building again from the same sources gives the same bytes', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'apps-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const app of built) await copyFile(app.path, path.join(folder, app.id));
  const wallet = built.find(({ id }) => id === 'wallet');
  const notes = built.find(({ id }) => id === 'notes');
  assert.ok(wallet && notes);
  for (const app of [wallet, notes]) await rm(path.join(path.dirname(app.path), 'built.json'));
  assert.deepEqual(await buildApps(), built);
  for (const app of [wallet, notes]) {
    assert.ok((await readFile(app.path)).equals(await readFile(path.join(folder, app.id))), app.id);
  }
});
