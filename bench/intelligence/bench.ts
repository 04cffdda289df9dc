// What an AI call takes beside the same call made directly to the same scripted provider: grant, rate and a durable budget
// are decided by core, the key is sealed and opened, the use is settled. 100 calls a second of each, in turn, everything
// in one process: core, Gateway, provider and clients share its time.
import { request } from 'undici';
import { startIntelligenceWorld } from '../../tests/support/intelligence-world.ts';
import { median, printRow, reported } from '../machine.ts';

const PER_SECOND = 100;
const WARM_UP = 200;
const CALLS = 1_000;

const world = await startIntelligenceWorld({ requestsPerMinute: 1_000_000, monthlyTokens: 1e12 });
const asker = await world.openApp('asker', ['openai:*']);
const direct = { base: `${world.provider.origin}/v1`, key: 'sk-direct' };
const through = { base: asker.environment.OPENAI_BASE_URL ?? '', key: asker.token };

interface Times {
  readonly first: number;
  readonly whole: number;
}

async function call({ base, key }: typeof direct, stream: boolean): Promise<Times> {
  const begun = performance.now();
  const answer = await request(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'small',
      messages: [{ role: 'user', content: 'Say hello.' }],
      max_completion_tokens: 100,
      stream,
    }),
  });
  if (answer.statusCode !== 200) throw new Error(`${base} answered ${answer.statusCode}: ${await answer.body.text()}`);
  let first = 0;
  for await (const _ of answer.body) first ||= performance.now() - begun;
  return { first, whole: performance.now() - begun };
}

/** At a steady pace, whether or not the former ones have ended; direct and through the Gateway in turn. */
async function measure(stream: boolean): Promise<{ direct: Times[]; through: Times[] }> {
  const times = { direct: [] as Promise<Times>[], through: [] as Promise<Times>[] };
  const begun = performance.now();
  for (let index = 0; index < 2 * (WARM_UP + CALLS); index += 1) {
    const due = begun + (index * 1_000) / (2 * PER_SECOND);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    if (index % 2 === 0) times.direct.push(call(direct, stream));
    else times.through.push(call(through, stream));
  }
  const ended = { direct: await Promise.all(times.direct), through: await Promise.all(times.through) };
  world.provider.seen.length = 0;
  return { direct: ended.direct.slice(WARM_UP), through: ended.through.slice(WARM_UP) };
}

const part = (all: readonly number[], share: number) =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length * share)] ?? 0;

try {
  const whole = await measure(false);
  const [one, other] = [whole.direct, whole.through].map((times) => times.map((time) => time.whole));
  if (one === undefined || other === undefined) throw new Error('nothing was measured');
  printRow(reported('AI call at 100/s, added to the direct call over TLS, p50', median(other) - median(one), 'ms'));
  printRow(reported('the same, p99', part(other, 0.99) - part(one, 0.99), 'ms'));
  printRow(reported('the direct call, p50', median(one), 'ms'));
  const streamed = await measure(true);
  const [direct50, through50] = [streamed.direct, streamed.through].map((times) =>
    median(times.map(({ first }) => first)),
  );
  printRow(reported('first streamed bytes, added, p50', (through50 ?? 0) - (direct50 ?? 0), 'ms'));
  const { requests, reserved } = await asker.settled();
  if (requests !== 2 * (WARM_UP + CALLS) || reserved !== 0) throw new Error(`${requests} calls were counted`);
} finally {
  await world.close();
}
