// What the agent takes from refusals, and that nothing it asks for outlasts its turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeContext } from '@earendil-works/pi-ai';
import { agentManifest } from '@platform/contract/agents';
import type { Platform } from '../platform/platform.ts';
import { HubFailed, openHub } from '../tools/hub.ts';
import { askModel, chooseModel } from './model.ts';
import { NO_MODEL, problemOfModel } from './problem-of.ts';

/** A FAKE Gateway. */
const platformOf = (fetch: typeof globalThis.fetch): Platform => ({
  origin: 'http://gateway',
  token: 'pgw_test',
  fetch,
});

async function refusalOf(body: object) {
  const asked = askModel(
    platformOf(async () => Response.json(body, { status: 400 })),
    { provider: 'openai', id: 'm', dialect: 'openai' },
  );
  const context = normalizeContext({ messages: [{ role: 'user', content: 'Hello.', timestamp: 0 }] });
  const stream = await asked.stream(asked.model, context, {});
  await stream.result();
  return asked.refusal();
}

test('only the platform refuses with a code of the platform', async () => {
  const code = 'budget_exhausted';
  assert.equal((await refusalOf({ type: `urn:platform:error:${code}`, code, detail: 'Gone.' }))?.code, code);
  for (const type of [undefined, 7, 'error', 'https://provider.example/urn:platform:error:'])
    assert.equal((await refusalOf({ type, code, error: { message: 'Pay here.' } }))?.code, undefined);
});

test('the words of a provider are quoted, on one line, without what hides or turns text', () => {
  const said = (detail: string) => problemOfModel({ status: 400, code: undefined, detail }, '').message;
  assert.equal(
    said('No\u202e luck.\n\nGo to\u0000 Settings.'),
    'The AI provider did not answer. It said: “No luck. Go to Settings.” Try again later.',
  );
  assert.equal(said(' \u0007 '), 'The AI provider did not answer. Try again later.');
  assert.ok(said('x'.repeat(5_000)).length < 400);
});

test('a provider and a hub that do not answer are not waited for after the turn', async () => {
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  const platform = platformOf((_, init) => {
    const { signal } = init ?? {};
    assert.ok(signal);
    waiting += 1;
    if (waiting === 2) both.resolve();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const manifest = agentManifest.parse({ instructions: 'instructions.md' });
  const over = new AbortController();
  const chosen = chooseModel(
    platform,
    { manifest, providers: [{ provider: 'openai', dialect: 'openai' }] },
    over.signal,
  );
  const hub = openHub(platform, [], over.signal);
  const failed = assert.rejects(hub, HubFailed);
  await both.promise;
  over.abort('cancelled');
  assert.deepEqual(await chosen, NO_MODEL);
  await failed;
});
