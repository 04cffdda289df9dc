// The limit that is reserved for a call is written into it, however the call leaves it out, and into no call that has one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anthropic } from './anthropic.ts';
import { endpointOf } from './endpoints.ts';
import { openai } from './openai.ts';
import { bodyToSend, readAsked } from './request-body.ts';

const places = [
  [openai, 'chat/completions'],
  [openai, 'completions'],
  [openai, 'responses'],
  [openai, 'deployments/d/chat/completions'],
  [anthropic, 'messages'],
  [anthropic, 'complete'],
] as const;
const NAMES = ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_tokens_to_sample', 'max_new_tokens'];

async function sent(
  [dialect, path]: (typeof places)[number],
  request: object,
  reserved: number,
  streamUsage = true,
): Promise<{ readonly wanted: number | null; readonly body: Record<string, unknown> }> {
  const endpoint = endpointOf(dialect.endpoints, 'POST', path);
  const body = Buffer.from(JSON.stringify({ model: 'm', ...request }));
  const asked = await readAsked({ method: 'POST', contentType: 'application/json', body }, endpoint);
  const reservedOutput = asked.outputLimit ?? reserved;
  const out = bodyToSend(body, { asked, endpoint, reservedOutput, streamUsage });
  return { wanted: asked.outputLimit, body: JSON.parse(String(out)) };
}

test('every call that generates has a limit that its endpoint reads, and none has more than is reserved', async () => {
  const value = fc.constantFrom(undefined, null, 0, 1, 7, 50_000);
  const request = fc.record({
    ...Object.fromEntries(NAMES.map((name) => [name, value])),
    n: fc.constantFrom(undefined, 1, 3),
  });
  const left = fc.integer({ min: 3, max: 20_000 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), request, left, async (place, given, reserved) => {
      const { wanted, body } = await sent(place, given, reserved);
      const [dialect, path] = place;
      const { limits } = endpointOf(dialect.endpoints, 'POST', path);
      const copies = Number(body.n ?? 1);
      assert.ok(
        limits.some((name) => Number(body[name] ?? 0) > 0),
        JSON.stringify(body),
      );
      for (const name of NAMES) {
        assert.notEqual(body[name], 0);
        assert.ok(Number(body[name] ?? 0) * copies <= (wanted ?? reserved), JSON.stringify(body));
      }
    }),
  );
});

test('a limit of its own stays as it is, and one that is null is not joined by another', async () => {
  const [chat] = places;
  assert.deepEqual((await sent(chat, { max_tokens: 5 }, 900)).body, { model: 'm', max_tokens: 5 });
  assert.deepEqual((await sent(chat, { max_tokens: null }, 900)).body, { model: 'm', max_tokens: 900 });
  assert.deepEqual((await sent(chat, {}, 900)).body, { max_completion_tokens: 900, model: 'm' });
});

test('a provider that does not take stream_options gets none', async () => {
  const [chat] = places;
  assert.ok('stream_options' in (await sent(chat, { stream: true }, 900)).body);
  assert.ok(!('stream_options' in (await sent(chat, { stream: true }, 900, false)).body));
});
