// The stock clients of two AI providers and the Vercel AI SDK, unmodified, with nothing but the variables that a workload gets: through a real
// Gateway and a real core to a scripted provider over TLS.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { APICallError, embed, generateText, isStepCount, type LanguageModel, streamText, tool } from 'ai';
import OpenAI from 'openai';
import * as z from 'zod';
import {
  type IntelligenceApp,
  type IntelligenceWorld,
  PROVIDER_KEY,
  startIntelligenceWorld,
} from '../support/intelligence-world.ts';
import { until } from '../support/wait.ts';

const TEXT = 'Hello from the scripted provider';
const VARIABLES = ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'] as const;
const MESSAGES = [{ role: 'user' as const, content: 'Say hello.' }];

let world: IntelligenceWorld;
let asker: IntelligenceApp;

before(async () => {
  world = await startIntelligenceWorld();
  asker = await world.openApp('asker', ['openai:*', 'anthropic:*']);
  use(asker);
});
after(async () => {
  for (const name of VARIABLES) delete process.env[name];
  await world?.close();
});

/** The environment is all that the clients get. */
function use({ environment }: IntelligenceApp): void {
  for (const name of VARIABLES) process.env[name] = environment[name];
}

/** What one piece of work added to the use of the app. */
async function usedBy(work: () => Promise<unknown>): Promise<[requests: number, tokens: number]> {
  const former = await asker.settled();
  await work();
  const now = await asker.settled();
  return [now.requests - former.requests, now.tokens - former.tokens];
}

test('openai: a chat, whole and streamed, with the usage that the provider reports', async () => {
  const client = new OpenAI();
  const used = await usedBy(async () => {
    const whole = await client.chat.completions.create({ model: 'small', messages: MESSAGES });
    assert.equal(whole.choices[0]?.message.content, TEXT);
    assert.equal(whole.usage?.total_tokens, 16);
  });
  assert.deepEqual(used, [1, 16]);
  const streamed = await usedBy(async () => {
    let text = '';
    let withUsage = 0;
    const stream = await client.chat.completions.create({ model: 'small', messages: MESSAGES, stream: true });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices.length === 0) withUsage += 1;
    }
    assert.deepEqual([text, withUsage], [TEXT, 0], 'who did not ask for usage gets no event of it');
  });
  assert.deepEqual(streamed, [1, 16]);
  const stream = await client.chat.completions.create({
    model: 'tools',
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
  });
  let usage = 0;
  let call = '';
  for await (const chunk of stream) {
    usage += chunk.usage?.total_tokens ?? 0;
    call += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
  }
  assert.deepEqual([usage, call], [16, '{"at":"it"}']);
});

test('openai: responses, embeddings, an upload of audio and the list of models', async () => {
  const client = new OpenAI();
  const whole = await client.responses.create({ model: 'small', input: 'Say hello.' });
  assert.equal(whole.output_text, TEXT);
  let text = '';
  const used = await usedBy(async () => {
    for await (const event of await client.responses.create({ model: 'small', input: 'Say hello.', stream: true }))
      if (event.type === 'response.output_text.delta') text += event.delta;
  });
  assert.deepEqual([text, ...used], [TEXT, 1, 16]);
  const embedded = await client.embeddings.create({ model: 'embed', input: 'hello', encoding_format: 'float' });
  assert.deepEqual(embedded.data[0]?.embedding, [0.25, 0.5]);
  const file = new File([Buffer.alloc(3_000, 'RIFF')], 'speech.wav', { type: 'audio/wav' });
  const heard = await client.audio.transcriptions.create({ model: 'hears', file });
  assert.equal(heard.text, TEXT);
  const { models } = await asker.settled();
  assert.ok(models.some(({ model, requests }) => model === 'hears' && requests === 1));
  const listed = await client.models.list();
  assert.deepEqual(
    listed.data.map(({ id }) => id),
    ['small', 'large', 'gpt-1'],
  );
});

test('anthropic: messages, whole and streamed, and the count of tokens', async () => {
  const client = new Anthropic();
  const used = await usedBy(async () => {
    const whole = await client.messages.create({ model: 'small', max_tokens: 100, messages: MESSAGES });
    assert.equal(whole.content[0]?.type === 'text' ? whole.content[0].text : '', TEXT);
  });
  assert.deepEqual(used, [1, 16]);
  const streamed = await usedBy(async () => {
    const stream = client.messages.stream({ model: 'small', max_tokens: 100, messages: MESSAGES });
    assert.equal(await stream.finalText(), TEXT);
  });
  assert.deepEqual(streamed, [1, 16]);
  const counted = await usedBy(async () => {
    assert.equal((await client.messages.countTokens({ model: 'small', messages: MESSAGES })).input_tokens, 11);
  });
  assert.deepEqual(counted, [1, 0]);
});

test('Vercel AI SDK: text, whole and streamed, embeddings and tools, with both of its providers', async () => {
  const openai = createOpenAI();
  const models: readonly (readonly [name: string, of: (model: string) => LanguageModel])[] = [
    ['chat completions', openai.chat],
    ['responses', openai.responses],
    ['anthropic', createAnthropic()],
  ];
  for (const [name, of] of models) {
    const whole = await usedBy(async () => {
      const { text, usage } = await generateText({ model: of('small'), prompt: 'Say hello.', maxOutputTokens: 100 });
      assert.deepEqual([text, usage.inputTokens, usage.outputTokens], [TEXT, 11, 5], name);
    });
    assert.deepEqual(whole, [1, 16], name);
    const streamed = await usedBy(async () => {
      const pieces: string[] = [];
      const { textStream } = streamText({
        model: of('small'),
        prompt: 'Say hello.',
        maxOutputTokens: 100,
        onError: ({ error }) => assert.fail(String(error)),
      });
      for await (const piece of textStream) pieces.push(piece);
      assert.deepEqual([pieces.length, pieces.join('')], [5, TEXT], name);
    });
    assert.deepEqual(streamed, [1, 16], name);
  }
  const { embedding } = await embed({ model: openai.embedding('embed'), value: 'hello' });
  assert.deepEqual(embedding, [0.25, 0.5]);
  for (const [name, of] of models.filter(([name]) => name !== 'responses')) {
    const seen: string[] = [];
    const look = tool({
      inputSchema: z.object({ at: z.string() }),
      execute: ({ at }) => {
        seen.push(at);
        return 'It is green.';
      },
    });
    const used = await usedBy(async () => {
      const { steps } = streamText({
        model: of('tools'),
        prompt: 'Look.',
        maxOutputTokens: 100,
        tools: { look },
        stopWhen: isStepCount(2),
      });
      assert.deepEqual(
        (await steps).map(({ finishReason }) => finishReason),
        ['tool-calls', 'stop'],
        name,
      );
    });
    assert.deepEqual([seen, ...used], [['it'], 2, 32], name);
  }
});

test('errors of a provider reach its client as they are, in the middle of a stream too', async () => {
  const openai = new OpenAI({ maxRetries: 0 });
  const anthropic = new Anthropic({ maxRetries: 0 });
  for (const [status, Kind] of [
    ['401', OpenAI.AuthenticationError],
    ['429', OpenAI.RateLimitError],
    ['500', OpenAI.InternalServerError],
  ] as const) {
    const used = await usedBy(() =>
      assert.rejects(openai.chat.completions.create({ model: status, messages: MESSAGES }), (error: Error) => {
        assert.ok(error instanceof Kind, String(error));
        assert.match(error.message, new RegExp(`scripted ${status}`));
        return true;
      }),
    );
    assert.deepEqual(used, [1, 0]);
  }
  await assert.rejects(anthropic.messages.create({ model: '529', max_tokens: 10, messages: MESSAGES }), /scripted 529/);
  const used = await usedBy(() =>
    assert.rejects(
      anthropic.messages.stream({ model: 'error-inside', max_tokens: 10, messages: MESSAGES }).finalText(),
      /Overloaded/,
    ),
  );
  assert.ok(used[1] > 0, 'what was streamed counts');
});

test('refusals are the typed errors of each client', async () => {
  const narrow = await world.openApp('narrow', ['openai:small', 'anthropic:small']);
  use(narrow);
  try {
    const openai = new OpenAI({ maxRetries: 0 });
    const anthropic = new Anthropic({ maxRetries: 0 });
    await assert.rejects(openai.chat.completions.create({ model: 'large', messages: MESSAGES }), (error) => {
      assert.ok(error instanceof OpenAI.PermissionDeniedError);
      assert.equal(error.code, 'grant_missing');
      assert.match(error.message, /does not request it: its author can add it/);
      return true;
    });
    await assert.rejects(anthropic.messages.create({ model: 'large', max_tokens: 1, messages: MESSAGES }), (error) => {
      assert.ok(error instanceof Anthropic.PermissionDeniedError);
      assert.equal(error.type, 'permission_error');
      return true;
    });
    const listed = await openai.models.list();
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      ['small'],
      'only granted models are shown',
    );
    await world.account.fetch('/v1/apps/narrow/intelligence', { method: 'PUT', body: { monthlyTokens: 100 } });
    let requests = 0;
    const counted: typeof fetch = (...request) => {
      requests += 1;
      return fetch(...request);
    };
    await assert.rejects(
      new OpenAI({ fetch: counted }).chat.completions.create({
        model: 'small',
        max_completion_tokens: 200,
        messages: MESSAGES,
      }),
      (error) => {
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.equal(error.code, 'budget_exhausted');
        return true;
      },
    );
    assert.equal(requests, 1, 'its client does not repeat what cannot succeed');
    await assert.rejects(
      new OpenAI({ apiKey: 'sk-wrong', maxRetries: 0 }).chat.completions.create({ model: 'small', messages: MESSAGES }),
      OpenAI.AuthenticationError,
    );
    await assert.rejects(
      new Anthropic({ apiKey: 'wrong', maxRetries: 0 }).messages.create({
        model: 'small',
        max_tokens: 1,
        messages: MESSAGES,
      }),
      Anthropic.AuthenticationError,
    );
  } finally {
    use(asker);
  }
});

test('refusals are the typed errors of the Vercel AI SDK', async () => {
  const modest = await world.openApp('modest', ['openai:small', 'anthropic:small']);
  use(modest);
  try {
    const models = [createOpenAI().responses, createOpenAI().chat, createAnthropic()] as const;
    for (const of of models) {
      await assert.rejects(
        generateText({ model: of('large'), prompt: 'Say hello.', maxOutputTokens: 100 }),
        (error) => {
          assert.ok(APICallError.isInstance(error), String(error));
          assert.deepEqual([error.statusCode, error.isRetryable], [403, false]);
          assert.match(error.message, /does not request it: its author can add it/);
          assert.match(error.responseBody ?? '', /"code":"grant_missing"/);
          return true;
        },
      );
    }
    await world.account.fetch('/v1/apps/modest/intelligence', { method: 'PUT', body: { monthlyTokens: 100 } });
    for (const of of models) {
      const asked = { model: of('small'), prompt: 'Say hello.', maxOutputTokens: 200, maxRetries: 0 };
      await assert.rejects(generateText(asked), (error) => {
        assert.ok(APICallError.isInstance(error), String(error));
        assert.equal(error.statusCode, 429);
        assert.match(error.message, /tokens/);
        assert.match(error.responseBody ?? '', /"code":"budget_exhausted"/);
        return true;
      });
    }
  } finally {
    use(asker);
  }
});

test('a client that leaves in the middle of a stream ends it at the provider, and pays for what it got', async () => {
  const client = new OpenAI();
  const aborted = world.provider.aborted();
  const [requests, tokens] = await usedBy(async () => {
    const stream = await client.chat.completions.create({ model: 'slow', messages: MESSAGES, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === ' from') stream.controller.abort();
    await until('the end at the provider', () => world.provider.aborted() > aborted);
  });
  const sent = world.provider.seen.at(-1)?.body.length ?? 0;
  assert.equal(requests, 1);
  // The estimate of the body as the client sent it, which had no stream_options, and ten bytes of text.
  assert.ok(tokens > 4 && tokens <= Math.ceil(sent / 3) + 4, `${tokens}`);
});

test('the provider sees its own key and nothing of the platform; nothing else ever shows the key', async () => {
  const client = new OpenAI();
  await client.chat.completions.create({ model: 'echo', messages: MESSAGES });
  for (const { headers } of world.provider.seen) {
    const presented = [headers.authorization, headers['x-api-key']].filter((value) => value !== undefined);
    assert.equal(presented.length, 1);
    assert.match(String(presented[0]), new RegExp(`${PROVIDER_KEY}$`));
    assert.doesNotMatch(JSON.stringify(headers), /pgw_|pcs_|cookie|x-forwarded/i);
  }
  const answer = await fetch(`${asker.environment.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${asker.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: MESSAGES }),
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-echo'), null);
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.equal(answer.headers.get('x-ratelimit-remaining-tokens'), '1234');
  assert.match(answer.headers.get('x-request-id') ?? '', /^req-of-provider/);
  assert.match(answer.headers.get('platform-gateway-overhead-ms') ?? '', /^\d+\.\d$/);
  await answer.text();
  assert.doesNotMatch(JSON.stringify([world.core.log, asker.events, asker.environment]), /sk-canary/);
});
