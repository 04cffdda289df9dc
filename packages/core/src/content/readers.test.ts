// Whoever reads an item or a file gets one version as a whole, whatever takes its place meanwhile; so does the export.
import assert from 'node:assert/strict';
import * as http from 'node:http';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type ContentApp, contentApp } from '../../test-support/content.ts';
import type { AccountFile } from '../account-files.ts';
import { earlier } from '../clock/clock-guard.ts';
import { contentFiles } from './export/account-files.ts';
import { sweepContent } from './sweep.ts';

const MiB = 1_048_576;

let world: Constellation;
let app: ContentApp;
before(async () => {
  world = await startConstellation({ config: { accountDiskBytes: 400 * MiB } });
  app = await contentApp(world, await registerAccount(world, 'reads-slowly'), 'reads-slowly');
});
after(() => world.close());

interface Reading {
  readonly status: number;
  readonly etag: string;
  /** The bytes, which it takes only now. */
  rest(): Promise<Buffer>;
}

/** Asks for bytes, and takes none of them yet but what the connection holds. */
function beginReading(path: string): Promise<Reading> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      {
        ...{ port: world.port, host: '127.0.0.1', path, agent: false },
        headers: { host: new URL(world.origin).host, authorization: `Bearer ${app.app.credential}` },
      },
      (answer) =>
        resolve({
          status: answer.statusCode ?? 0,
          etag: String(answer.headers.etag),
          rest: async () => Buffer.concat(await answer.toArray()),
        }),
    );
    request.on('error', reject);
  });
}

async function kept(): Promise<{ readonly former: number; readonly said: number; readonly there: number }> {
  const { rows } = await world.core.context.pool.query<{ former: number; said: number; there: number }>(
    `SELECT count(*) FILTER (WHERE b.former)::integer AS former, s.bytes::float8 AS said,
            coalesce(sum(b.size + ${limits.keptBytes.value}), 0)::float8 AS there
       FROM content_spaces s LEFT JOIN content_bodies b ON b.space_id = s.id GROUP BY s.id, s.bytes`,
  );
  const row = rows[0] ?? { former: 0, said: 0, there: 0 };
  assert.equal(row.said, row.there);
  return row;
}

const swept = (milliseconds: number) =>
  sweepContent(world.core.context, earlier(world.core.context.time.proven(), -milliseconds));

const put = (path: string, body: Buffer) =>
  app.app.call(path, { method: 'PUT', body, headers: { 'content-type': 'text/plain' } });

/** Larger than what a connection on one machine holds, so that most of it is still to be read. */
const LARGE = 60 * MiB;

for (const [what, change] of [
  ['overwritten', (path: string) => put(path, Buffer.from('new'))],
  ['deleted', (path: string) => app.app.call(path, { method: 'DELETE' })],
] as const)
  test(`a file that is ${what} while it is read is read to its end, and goes once nobody reads it`, async () => {
    const path = `/v1/services/files/${what}.bin`;
    const before = (await kept()).said;
    assert.equal((await put(path, Buffer.alloc(LARGE, 7))).status, 201);
    const reading = await beginReading(path);
    assert.equal(reading.status, 200);
    assert.ok((await change(path)).status < 300);
    assert.equal((await kept()).former, 1);
    await swept(0);
    assert.equal((await kept()).former, 1, 'not while it may be read');
    const bytes = await reading.rest();
    assert.ok(bytes.length === LARGE && bytes.every((byte) => byte === 7));
    await swept(3_600_000);
    const { former, said } = await kept();
    assert.equal(former, 0);
    assert.ok(said - before < MiB);
    await app.app.call(path, { method: 'DELETE' });
  });

test('items that are overwritten all the time are read as one of their versions each time', async () => {
  const { id } = await app.made('list', 'Versions');
  const path = `/v1/services/content/collections/${id}/items/a`;
  const version = (one: number) => Buffer.alloc(one % 2 === 0 ? 2 * MiB : 3 * MiB + 1, one);
  let etag = await app.wrote(id, 'a', version(0));
  const tags = new Map([[etag, 0]]);
  let writing = true;
  const writes = (async () => {
    for (let one = 1; one <= 12; one += 1) {
      etag = await app.wrote(id, 'a', version(one));
      tags.set(etag, one);
    }
    writing = false;
  })();
  const read: Reading[] = [];
  const bytes: Buffer[] = [];
  while (writing) {
    const reading = await beginReading(path);
    assert.equal(reading.status, 200);
    read.push(reading);
    bytes.push(await reading.rest());
  }
  await writes;
  for (const [place, reading] of read.entries()) {
    const of = tags.get(reading.etag);
    assert.ok(of !== undefined && bytes[place]?.equals(version(of)), `version ${of}`);
  }
});

const bytesOf = async ({ content }: AccountFile) =>
  Buffer.isBuffer(content) ? content : Buffer.concat(await content.open().toArray());

test('an export has each item as it is at its turn, whole', async () => {
  const { id } = await app.made('list', 'Exported');
  for (const key of ['a', 'b', 'c', 'd']) await app.wrote(id, key, Buffer.alloc(MiB, 1));
  const found = new Map<string, Buffer>();
  const { rows } = await world.core.context.pool.query<{ key: string }>(
    "SELECT key FROM accounts WHERE name = 'reads-slowly'",
  );
  for await (const file of contentFiles(world.core.context, rows[0]?.key ?? '')) {
    if (!file.path.includes(id)) continue;
    if (file.path.endsWith('/00001')) {
      // What was announced, what comes next, and what is gone by then.
      await app.wrote(id, 'a', Buffer.alloc(2 * MiB, 2));
      await app.wrote(id, 'b', Buffer.alloc(2 * MiB, 2));
      await app.call(`/${id}/items/c`, { method: 'DELETE' });
    }
    const bytes = await bytesOf(file);
    if (!Buffer.isBuffer(file.content)) assert.equal(bytes.length, file.content.bytes);
    found.set(file.path.split('/').slice(2).join('/'), bytes);
  }
  const sizes = [...found]
    .filter(([name]) => name.startsWith('items/'))
    .map(([, { length, 0: first }]) => [length, first]);
  assert.deepEqual(sizes, [
    [MiB, 1],
    [2 * MiB, 2],
    [MiB, 1],
  ]);
  const lines = found
    .get('items-0001.jsonl')
    ?.toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines?.map(({ key, file, size }) => [key, file, size]),
    [
      ['a', 'items/00001', MiB],
      ['b', 'items/00002', 2 * MiB],
      ['d', 'items/00003', MiB],
    ],
  );
});
