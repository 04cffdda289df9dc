// `platform dev` asks for permissions as an installation does: before the first version, and for what a later one adds.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { PermissionsView } from '@platform/contract';
import { Command } from '../support/cli-command.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let anna: TestAccount;
let parent = '';

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  anna = await registerAccount(platform, 'anna');
  parent = await mkdtemp(path.join(tmpdir(), 'dev-permissions-'));
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await rm(parent, { recursive: true, force: true });
});

async function save(id: string, topics: readonly string[]): Promise<string> {
  const folder = path.join(parent, id);
  await mkdir(path.join(folder, 'frontend'), { recursive: true });
  await writeFile(path.join(folder, 'frontend/index.html'), '<!doctype html><title>t</title>');
  const permissions = topics.map((topic) => ({
    id: 'notifications.publish',
    resources: topic.split(' '),
    reason: 'Says so.',
  }));
  const manifest = { schemaVersion: 9, id, version: '1.0.0', name: id, summary: 'Asks.', frontend: {}, permissions };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

async function held(id: string): Promise<unknown> {
  const { permissions } = await anna.browser.take<PermissionsView>(`/v1/apps/${id}-dev/permissions`);
  return permissions;
}
const publishing = (...resources: string[]) => [{ id: 'notifications.publish', resources }];

test('on a terminal a person answers, once for each thing that is new', async (t) => {
  const folder = await save('asker', ['news']);
  const { environment } = place;
  const dev = new Command(['dev', folder], { environment, terminal: true });
  t.after(() => dev.child.kill('SIGKILL'));
  const question = await dev.hears(/asks for permission to[\s\S]*\[y\/N\]/);
  assert.match(question, /news \(notifications\.publish\)\n\s+Says so\./);
  dev.types('y');
  await dev.hears(/runs for anna/);
  assert.deepEqual(await held('asker'), publishing('news'));

  await save('asker', ['news more']);
  const further = await dev.hears(/asks for permission to[\s\S]*\[y\/N\]/);
  assert.match(further, /: more \(/, 'only what is new');
  dev.types('');
  await dev.hears(/runs again for anna[\s\S]*runs without permission to[\s\S]*more[\s\S]*--grant-all/);
  assert.deepEqual(await held('asker'), publishing('news'));

  await writeFile(path.join(folder, 'frontend/other.html'), '<!doctype html>');
  const said = await dev.hears(/[\s\S]*?runs again for anna/);
  assert.doesNotMatch(said, /asks for permission/, 'a no is not asked again');
  dev.types('\u0003');
  await dev.ends();
});

test('where nobody can be asked nothing is granted, and with --grant-all everything', async (t) => {
  const folder = await save('silent', ['news']);
  const { environment } = place;
  const dev = new Command(['dev', folder], { environment });
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(
    /runs for anna[\s\S]*runs without permission to[\s\S]*\/#\/settings\/apps\/silent-dev, or run this with --grant-all\./,
  );
  assert.deepEqual(await held('silent'), []);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);

  const all = new Command(['dev', folder, '--grant-all'], { environment });
  t.after(() => all.child.kill('SIGKILL'));
  await all.hears(/runs for anna/);
  assert.deepEqual(await held('silent'), publishing('news'));

  await t.test('two run beside each other, but not of one app', async () => {
    const twice = await new Command(['dev', folder], { environment }).ends();
    assert.deepEqual(
      [twice.code, /Another \.\/platform dev is running silent-dev/.test(twice.said)],
      [1, true],
      twice.said,
    );
    const beside = new Command(['dev', await save('beside', [])], { environment });
    t.after(() => beside.child.kill('SIGKILL'));
    const said = await beside.hears(/[\s\S]*beside \(dev\) \S+ runs for anna/);
    assert.doesNotMatch(said, /backend|permission/);
    await save('silent', ['news more']);
    await all.hears(/runs again for anna/);
    assert.deepEqual(await held('silent'), publishing('news', 'more'));
    beside.child.kill('SIGINT');
    assert.equal((await beside.ends()).code, 0);
  });
  all.child.kill('SIGINT');
  assert.equal((await all.ends()).code, 0);
});

test('dev goes on when its folder is deleted and comes back', async (t) => {
  const folder = await save('phoenix', []);
  const dev = new Command(['dev', folder], { environment: place.environment });
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(/runs for anna/);
  await rm(folder, { recursive: true });
  await dev.hears(/manifest\.json is missing/);
  await save('phoenix', []);
  await dev.hears(/runs again for anna/);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
});
