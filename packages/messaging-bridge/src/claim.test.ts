// Two bridges for one homeserver, and stores that were copied: the one that was last used works, no other one.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { MESSAGING_BRIDGE_PATH } from '@platform/contract';
import { type Person, personAt } from '../../../tests/support/bridge-world.ts';
import { until } from '../../../tests/support/wait.ts';
import { Raw } from '../test-support/fake-homeserver.ts';
import { failsWith, type HostileWorld, startHostileWorld, TOKEN } from '../test-support/hostile-world.ts';
import { type Bridge, startBridge } from './bridge.ts';

/** Milliseconds between two looks. */
const LOOK = 20;

let world: HostileWorld;
let copies: string;
const bridges: Bridge[] = [];
beforeEach(async () => {
  world = await startHostileWorld({ claim: LOOK });
  copies = await mkdtemp(path.join(tmpdir(), 'claim-'));
});
afterEach(async () => {
  for (const bridge of bridges.splice(0)) await bridge.close();
  await world.close();
  await rm(copies, { recursive: true, force: true });
});

/** As onto another machine: a lock does not reach it. */
async function copyStore(name: string, from = world.options.folder): Promise<string> {
  const folder = path.join(copies, name);
  // What is being written has another name until it is there.
  await cp(from, folder, { recursive: true, filter: (file) => !file.endsWith('.new') });
  return folder;
}

async function startAt(folder: string): Promise<Person> {
  const bridge = await startBridge({ ...world.options, folder });
  bridges.push(bridge);
  return personAt(`http://127.0.0.1:${bridge.port}`, TOKEN, 'ada', world.homeserver.serverName);
}

const works = (person: Person) => until('it to work', () => person.ask('identity', {}).catch(() => null));
const refusesWith = (person: Person, words: RegExp) =>
  until(`it to refuse: ${words}`, () =>
    person.ask('identity', {}).then(
      () => false,
      (error) => failsWith('unavailable')(error) && words.test(String(error)),
    ),
  );

/** Until the homeserver has counted on. */
async function counted(): Promise<void> {
  const writes = () =>
    world.homeserver.calls.filter(({ method, path: at }) => method === 'PUT' && at.includes('account_data'));
  const before = writes().length;
  await until('it to be counted', () => writes().length > before + 1);
}

test('a store that was moved works, and the one that it was copied from no more', async () => {
  await world.bridge.close();
  const folder = await copyStore('copy');
  const moved = await startAt(folder);
  await works(moved);
  // Somebody starts the former one after all.
  const former = await startAt(world.options.folder);
  await refusesWith(former, /old copy/);
  await works(moved);
});

test('of two that run at once, the one that started first stops', async () => {
  await world.bridge.close();
  const [first, second] = [await copyStore('first'), await copyStore('second')];
  const slow = await startBridge({ ...world.options, folder: first, claim: 200 });
  bridges.push(slow);
  await slow.ready;
  const former = personAt(`http://127.0.0.1:${slow.port}`, TOKEN, 'ada', world.homeserver.serverName);
  await works(former);
  // One that has counted as far: copied again where the first one has counted on meanwhile.
  const latter = await until('the second one to take over', async () => {
    await cp(path.join(first, 'count'), path.join(second, 'count'));
    const person = await startAt(second);
    const took = await until('it to work or refuse', () =>
      person.ask('identity', {}).then(
        () => 'works',
        (error) => (/old copy/.test(String(error)) ? 'refuses' : null),
      ),
    );
    if (took === 'works') return person;
    await bridges.pop()?.close();
    return null;
  });
  await refusesWith(former, /Another messaging bridge works/);
  await works(latter);
  // It does nothing for anybody any more.
  const syncs = world.homeserver.calls.filter(({ path: at }) => at === '/sync').length;
  await refusesWith(former, /Another messaging bridge works/);
  assert.equal(world.homeserver.calls.filter(({ path: at }) => at === '/sync').length, syncs);
});

test('a store that is put back as it was some minutes ago is not used, and one without accounts is', async () => {
  const old = await copyStore('old');
  await counted();
  await world.bridge.close();
  await refusesWith(await startAt(old), /old copy/);
  const empty = await startAt(path.join(copies, 'empty'));
  await works(empty);
});

test('the same store is used again after an end, and where the homeserver has lost what it counted', async () => {
  await counted();
  await world.bridge.close();
  const again = await startAt(await copyStore('moved'));
  await works(again);
  await bridges.pop()?.close();
  const restore = world.homeserver.instead(/account_data/, () => ({}));
  await works(await startAt(path.join(copies, 'moved')));
  restore();
});

test('whoever asks for nothing learns what is wrong: a token that the homeserver no longer knows, and an old store', async () => {
  const how = async ({ port } = world.bridge) => {
    const response = await fetch(`http://127.0.0.1:${port}${MESSAGING_BRIDGE_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: '{}',
    });
    return `${response.status} ${await response.text()}`;
  };
  assert.match(await how(), /^400 /);
  const restore = world.homeserver.instead(/account_data/, () => new Raw(401, '{"errcode":"M_UNKNOWN_TOKEN"}'));
  await until('its words', async () => /^503 .*"unavailable".*the registration is another one/.test(await how()));
  // What is kept can be read all the same.
  assert.deepEqual((await world.ada.ask('conversations', { limit: 1 })).conversations, []);
  restore();
  await until('it to be well', async () => /^400 /.test(await how()));
  const old = await copyStore('old');
  await counted();
  await world.bridge.close();
  const stale = await startBridge({ ...world.options, folder: old });
  bridges.push(stale);
  await until('it to say so', async () => /^503 .*old copy/.test(await how(stale)));
});
