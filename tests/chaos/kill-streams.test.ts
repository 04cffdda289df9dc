// Replicas of core are killed while apps publish and streams are open: whoever resumes with Last-Event-ID, on whichever
// replica, is told every accepted notification once and in order.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Notification } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type CoreProcess, startCoreProcess } from '../support/core-process.ts';
import { type EventReader, openEvents } from '../support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { rawRequest } from '../support/raw-http.ts';
import { randomOf } from '../support/thorough.ts';
import { until } from '../support/wait.ts';

/** Milliseconds for what kills and a busy machine delay. */
const PATIENCE = 120_000;

const KILLS = 3;
const PUBLISHERS = 4;

let world: Constellation;
let account: TestAccount;
let app: InstalledTestApp;
let replicas: CoreProcess[];
before(async () => {
  world = await startConstellation();
  account = await registerAccount(world, 'listener');
  app = await installTestApp(world, account, 'sender', [{ id: 'notifications.publish', resources: ['*'] }]);
  replicas = [await startCoreProcess(world), await startCoreProcess(world)];
});
after(async () => {
  await Promise.all(replicas.map((one) => one.stop()));
  await world.close();
});

interface Load {
  over: boolean;
  readonly accepted: string[];
}

/** Publishes one after the other, each again until a replica has accepted it, under one dedupe key. */
async function publishAll(name: string, load: Load): Promise<void> {
  for (let index = 0; !load.over; index += 1) {
    const title = `${name} ${index}`;
    for (let attempt = index; !(await publishOnce(title, attempt)); attempt += 1);
    load.accepted.push(title);
  }
}

async function publishOnce(title: string, attempt: number): Promise<boolean> {
  const { port, origin } = replicas[attempt % replicas.length] ?? world;
  try {
    const answer = await rawRequest({
      port,
      method: 'POST',
      path: '/v1/services/notifications',
      headers: {
        host: new URL(origin).host,
        authorization: `Bearer ${app.credential}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ topic: 'news', title, dedupeKey: title }),
    });
    // 200: the replica that was killed had stored it.
    return answer.status === 201 || answer.status === 200;
  } catch {
    // Killed in the middle: nobody knows whether it was stored.
    return false;
  }
}

interface Reader {
  readonly titles: string[];
  readonly sequences: bigint[];
  lastEventId: string | undefined;
  current: EventReader | undefined;
}

/** Reads from one replica after the other, and resumes where it was whenever a stream ends. */
async function readOn(reader: Reader, first: number, done: () => boolean): Promise<void> {
  for (let attempt = first; !done(); attempt += 1) {
    const { port, origin } = replicas[attempt % replicas.length] ?? world;
    const resume: Record<string, string> =
      reader.lastEventId === undefined ? {} : { 'last-event-id': reader.lastEventId };
    const headers = { host: new URL(origin).host, cookie: account.cookie, ...resume };
    const stream = await openEvents({ port, path: '/v1/events', headers }).catch(() => undefined);
    // The replica is down.
    if (stream === undefined || stream.status !== 200) continue;
    reader.current = stream;
    await stream.ended;
    reader.lastEventId = stream.lastEventId ?? reader.lastEventId;
    for (const { event, data, id } of stream.events) {
      if (event !== 'notification') continue;
      reader.titles.push((data as { notification: Notification }).notification.title);
      reader.sequences.push(BigInt(id ?? -1));
    }
  }
}

test(`over ${KILLS} kills of replicas every stream is told each accepted notification once, in order`, {
  timeout: 120_000,
}, async (context) => {
  const random = randomOf(context);
  const load: Load = { over: false, accepted: [] };
  const readers: Reader[] = [0, 1].map(() => ({
    titles: [],
    sequences: [],
    lastEventId: undefined,
    current: undefined,
  }));
  let closing = false;
  const reading = readers.map((reader, index) => readOn(reader, index, () => closing));
  for (const { current } of await opened(readers)) assert.equal(current?.status, 200);
  const publishing = Array.from({ length: PUBLISHERS }, (_, index) => publishAll(`publisher ${index}`, load));
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const target = load.accepted.length + 20 + Math.floor(random() * 60);
      await until(`${target} to be accepted`, () => load.accepted.length >= target, PATIENCE);
      const victim = replicas[kill % replicas.length];
      assert.ok(victim !== undefined);
      await victim.kill();
      // The other one goes on meanwhile.
      const without = load.accepted.length + 10;
      await until(`${without} to be accepted`, () => load.accepted.length >= without, PATIENCE);
      replicas[kill % replicas.length] = await startCoreProcess(world, { port: victim.port });
    }
  } finally {
    load.over = true;
    await Promise.all(publishing);
  }
  const all = new Set(load.accepted);
  const heard = ({ titles, current }: Reader) =>
    new Set([...titles, ...(current?.events ?? []).flatMap(({ data }) => titleOf(data))]);
  await until(
    'everybody to hear all',
    () => readers.every((reader) => [...all].every((title) => heard(reader).has(title))),
    PATIENCE,
  );
  closing = true;
  for (const { current } of readers) current?.close();
  await Promise.all(reading);
  for (const { titles, sequences } of readers) {
    assert.deepEqual(titles.toSorted(), load.accepted.toSorted(), 'each once, and nothing else');
    assert.ok(
      sequences.every((sequence, at) => at === 0 || sequence > (sequences[at - 1] ?? sequence)),
      'in order',
    );
  }
  context.diagnostic(`${load.accepted.length} notifications`);
});

function titleOf(data: unknown): string[] {
  const { notification } = data as { readonly notification?: Notification };
  return notification === undefined ? [] : [notification.title];
}

async function opened(readers: readonly Reader[]): Promise<readonly Reader[]> {
  await until(
    'every stream to begin',
    () => readers.every(({ current }) => current?.lastEventId !== undefined),
    PATIENCE,
  );
  return readers;
}
