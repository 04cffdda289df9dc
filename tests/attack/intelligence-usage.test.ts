// What is booked for answers as real providers sent them, each through a Gateway and core: the public reports of wrong
// accounting, in packages/gateway/test-vectors/ai-usage.json.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { askModel } from '../support/ask-model.ts';
import { type IntelligenceApp, startIntelligenceWorldOf } from '../support/intelligence-world.ts';

interface Vector {
  readonly name: string;
  readonly dialect: string;
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunksBase64: readonly string[];
  };
  readonly expect: {
    readonly input?: number;
    readonly output?: number;
    readonly total?: number;
    readonly inputAtLeast?: number;
    readonly outputAtLeast?: number;
    readonly passes?: string;
    readonly absent?: string;
  };
}

const file = new URL('../../packages/gateway/test-vectors/ai-usage.json', import.meta.url);
const { cases }: { readonly cases: readonly Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

async function startReplayingProvider() {
  let answer: Vector['answer'] | null = null;
  let body = '';
  const server = createServer(async (req, res) => {
    body = '';
    for await (const part of req) body += part;
    assert.ok(answer !== null);
    res.writeHead(answer.status, answer.headers);
    for (const chunk of answer.chunksBase64) res.write(Buffer.from(chunk, 'base64'));
    res.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    /** Of the last request. */
    body: () => body,
    answerWith(next: Vector['answer']) {
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let world: Awaited<ReturnType<typeof openWorld>>;
let app: IntelligenceApp;

async function openWorld() {
  return startIntelligenceWorldOf(await startReplayingProvider());
}

before(async () => {
  world = await openWorld();
  app = await world.openApp('counted', ['openai:*', 'anthropic:*']);
});
after(() => world.close());

async function booked(): Promise<{ input: number; output: number }> {
  const { models } = await app.settled();
  const sum = (of: 'inputTokens' | 'outputTokens') => models.reduce((total, model) => total + model[of], 0);
  return { input: sum('inputTokens'), output: sum('outputTokens') };
}

for (const { name, dialect, path, request, answer, expect } of cases) {
  test(`booked as it should be: ${name}`, async () => {
    const former = await booked();
    world.provider.answerWith(answer);
    const got = await askModel(app, {
      path: `/v1/services/intelligence/${dialect}/${path}`,
      body: JSON.stringify(request),
    });
    assert.equal(got.status, answer.status, got.text);
    const now = await booked();
    const [input, output] = [now.input - former.input, now.output - former.output];
    const said = `${input} + ${output}`;
    if (expect.input !== undefined) assert.equal(input, expect.input, said);
    if (expect.output !== undefined) assert.equal(output, expect.output, said);
    if (expect.total !== undefined) assert.equal(input + output, expect.total, said);
    assert.ok(input >= (expect.inputAtLeast ?? 0) && output >= (expect.outputAtLeast ?? 0), said);
    if (expect.passes !== undefined) assert.ok(got.text.includes(expect.passes), got.text);
    if (expect.absent !== undefined) assert.ok(!got.text.includes(expect.absent), got.text);
  });
}

test('the limit that is reserved is written into a call that has none, also where enough is left', async () => {
  const [answered] = cases.filter(({ name }) => name === 'thoughts-outside-completion-whole');
  assert.ok(answered !== undefined);
  world.provider.answerWith(answered.answer);
  for (const [member, given] of [
    ['max_completion_tokens', {}],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: null }],
  ] as const) {
    const body = JSON.stringify({ model: 'm', messages: [], ...given });
    assert.equal((await askModel(app, { body })).status, 200);
    assert.equal(JSON.parse(world.provider.body())[member], 16_384);
  }
  await app.settled();
});
