// Promises of parsing large bodies in a thread: the outcome is that of parse-body.ts, and what takes too long is refused.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type JsonBody, RefusalError, routes } from '@platform/contract';
import { BodyPool } from './body-pool.ts';
import { parseBody } from './parse-body.ts';

const ROUTE = 'services.search.replace';
const SPEC: JsonBody = routes[ROUTE].body;
const pool = new BodyPool();
after(() => pool.close());

function bodyOf(more: object = {}): Buffer {
  const entries = Array.from({ length: 1_000 }, (_, at) => ({
    id: `n-${at}`,
    title: 'Größe',
    kind: 'note',
    url: '/n',
    text: 'Дом',
  }));
  return Buffer.from(JSON.stringify({ entries, ...more }));
}

/** The value, or the refusal. */
async function outcomeOf(parse: () => unknown): Promise<unknown> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal;
    throw error;
  }
}

test('a body, and every kind of faulty one, has the same outcome in a thread as here', async () => {
  const bodies = {
    right: bodyOf(),
    'with a member too many': bodyOf({ more: true }),
    'not JSON': Buffer.from('{"entries":'),
    'not UTF-8': Buffer.from([0x7b, 0xff, 0x7d]),
    'too deep': Buffer.from('['.repeat(10_000)),
    'with NUL': Buffer.from(JSON.stringify({ entries: [], more: '\0' })),
  };
  for (const [name, bytes] of Object.entries(bodies)) {
    const here = await outcomeOf(() => parseBody(Buffer.from(bytes), SPEC));
    assert.deepEqual(await outcomeOf(() => pool.parse(ROUTE, bytes)), here, name);
  }
  assert.equal(pool.threads, 1);
});

test('a body that is a part of a larger buffer leaves the rest of that as it was', async () => {
  const body = bodyOf();
  const larger = Buffer.concat([Buffer.from('before'), body]);
  await pool.parse(ROUTE, larger.subarray(6));
  assert.equal(larger.subarray(0, 6).toString(), 'before');
});

test('a body whose caller leaves while it waits is not parsed', async () => {
  const left = new AbortController();
  const [first, ...waiting] = Array.from({ length: 5 }, () => pool.parse(ROUTE, bodyOf(), left.signal));
  const stranger = pool.parse(ROUTE, bodyOf());
  left.abort(new Error('left'));
  for (const parse of waiting) await assert.rejects(parse, { message: 'left' });
  await assert.rejects(pool.items(ROUTE, 'no file', 'no file', left.signal), { message: 'left' });
  for (const parse of [first, stranger]) assert.notEqual(await parse, undefined);
});

test('a body that takes too long to parse is refused, with what to do', async () => {
  const hasty = new BodyPool({ milliseconds: 1 });
  const refused = await outcomeOf(() => hasty.parse(ROUTE, bodyOf()));
  assert.deepEqual(refused, {
    code: 'unavailable',
    detail: 'The body could not be read: it took longer than 0.001 s. Send less at once.',
  });
  await hasty.close();
});
