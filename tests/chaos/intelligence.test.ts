// Budgets of AI calls under random interleavings: calls at the same time, clients that leave, a core whose answers are
// lost or that is not reached, Gateways that die. Towards core a Gateway that died is one that is never heard of again,
// and a core that died at any moment is one whose connection broke before or after its statement.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { chargeOne } from '../../packages/core/test-support/intelligence.ts';
import { fc } from '../support/fast-check.ts';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';
import { thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';

type Fault = 'none' | 'request lost' | 'answer lost';

interface FaultyWay {
  readonly origin: string;
  /** What happens to the next requests, one each; the rest arrive. */
  expect(faults: readonly Fault[]): void;
  /** For good. */
  cut(): void;
  close(): Promise<void>;
}

let world: IntelligenceWorld;
let apps = 0;

before(async () => {
  world = await startIntelligenceWorld();
});
after(() => world?.close());

/** A way to core on which requests and answers get lost. */
async function faultyWay(): Promise<FaultyWay> {
  let waiting: Fault[] = [];
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const core = connect(world.core.port, '127.0.0.1');
    let losesAnswer = false;
    const end = () => {
      client.destroy();
      core.destroy();
    };
    for (const socket of [client, core]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      const fault = waiting.shift() ?? 'none';
      if (fault === 'request lost') return void end();
      losesAnswer ||= fault === 'answer lost';
      core.write(bytes);
    });
    core.on('data', (bytes) => {
      if (losesAnswer) end();
      else client.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    expect(faults) {
      waiting = [...faults];
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

interface Call {
  readonly after: number;
  readonly stream: boolean;
  readonly limit: number | null;
  /** Milliseconds after which the client leaves. */
  readonly leaves: number | null;
}

/** Resolves when the exchange is over, however it ends. */
function make(port: number, token: string, { after: pause, stream, limit, leaves }: Call): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      const body = { model: 'small', messages: [{ role: 'user', content: 'x'.repeat(60) }], stream };
      const request = httpRequest({
        ...{ host: '127.0.0.1', port, method: 'POST', agent: false },
        path: '/v1/services/intelligence/openai/chat/completions',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
      request.on('error', () => resolve());
      request.on('response', (response) =>
        response
          .resume()
          .on('error', () => undefined)
          .on('close', resolve),
      );
      request.end(JSON.stringify(limit === null ? body : { ...body, max_tokens: limit }));
      if (leaves !== null) setTimeout(() => request.destroy(), leaves);
    }, pause);
  });
}

const faults = fc.array(fc.constantFrom<Fault>('none', 'none', 'request lost', 'answer lost'), { maxLength: 20 });
const limit = fc.option(fc.integer({ min: 5, max: 300 }), { nil: null, freq: 4 });
const calls = (leaves: fc.Arbitrary<number | null>) =>
  fc.array(fc.record({ after: fc.integer({ min: 0, max: 30 }), stream: fc.boolean(), limit, leaves }), {
    minLength: 1,
    maxLength: 14,
  });
const budget = fc.integer({ min: 100, max: 3_000 });

/** With a way of its own to core, closed in any case. */
async function withWay(work: (way: FaultyWay) => Promise<void>): Promise<void> {
  const way = await faultyWay();
  try {
    await work(way);
  } finally {
    await way.close();
  }
}

async function newApp(way: FaultyWay, monthlyTokens: number): Promise<IntelligenceApp> {
  // An account has only so many apps, published or installed: the former one is done with.
  if (apps > 0) {
    const former = `chaotic-${apps}`;
    for (const path of [`/v1/apps/${former}`, `/v1/catalog/${former}/versions/1.0.0`]) {
      const answer = await world.account.fetch(path, { method: 'DELETE' });
      assert.equal(answer.status, 204, answer.text);
    }
  }
  apps += 1;
  const appId = `chaotic-${apps}`;
  const opened = await world.openApp(appId, ['openai:*']);
  await opened.gateway.close();
  const body = { monthlyTokens };
  const answer = await world.account.fetch(`/v1/apps/${appId}/intelligence`, { method: 'PUT', body });
  assert.equal(answer.status, 200, answer.text);
  return world.reopen(opened.app, { coreOrigin: way.origin });
}

/** Watches what is used and held, which together are never more than the budget. */
async function neverOver(asker: IntelligenceApp, monthlyTokens: number, work: Promise<unknown>): Promise<void> {
  let over = false;
  void work.finally(() => {
    over = true;
  });
  while (!over) {
    const { tokens, reserved } = await asker.usage();
    assert.ok(tokens + reserved <= monthlyTokens, `${tokens} + ${reserved} of ${monthlyTokens}`);
    assert.ok(tokens >= 0 && reserved >= 0);
    await delay(3);
  }
  await work;
}

/** A Gateway that cannot reach core gives up after some seconds, so these take their time. Each is an app, and a publisher has 200. */
const settings = { numRuns: thorough(6, 90), endOnFailure: true };

test('whatever core loses, the counters of an app end as the provider counted itself', async () => {
  await fc.assert(
    fc.asyncProperty(calls(fc.constant(null)), faults, budget, async (made, lost, monthlyTokens) =>
      withWay(async (way) => {
        const asker = await newApp(way, monthlyTokens);
        const billed = { ...world.provider.billed };
        way.expect(lost);
        await neverOver(asker, monthlyTokens, Promise.all(made.map((call) => make(asker.port, asker.token, call))));
        await asker.gateway.close();
        const { tokens, requests, reserved, models } = await asker.usage();
        const { inputTokens, outputTokens, requests: answered } = world.provider.billed;
        const own = {
          requests: answered - billed.requests,
          inputTokens: inputTokens - billed.inputTokens,
          outputTokens: outputTokens - billed.outputTokens,
        };
        assert.deepEqual(
          { requests, tokens, reserved },
          { requests: own.requests, tokens: own.inputTokens + own.outputTokens, reserved: 0 },
        );
        const counted = requests === 0 ? [] : [{ provider: 'openai', model: 'small', ...own, cost: null }];
        assert.deepEqual(models, counted);
      }),
    ),
    settings,
  );
});

test('whoever leaves or dies, the budget is never exceeded and nothing stays reserved', async () => {
  const leaves = fc.option(fc.integer({ min: 0, max: 25 }), { nil: null });
  const death = fc.option(fc.integer({ min: 0, max: 40 }), { nil: null });
  await fc.assert(
    fc.asyncProperty(calls(leaves), faults, budget, death, async (made, lost, monthlyTokens, dies) =>
      withWay(async (way) => {
        const asker = await newApp(way, monthlyTokens);
        const billed = { ...world.provider.billed };
        way.expect(lost);
        const dying = dies === null ? Promise.resolve() : delay(dies).then(() => way.cut());
        const work = Promise.all([...made.map((call) => make(asker.port, asker.token, call)), dying]);
        await neverOver(asker, monthlyTokens, work);
        await asker.gateway.close();
        // Core may still be about to reserve for a call whose Gateway is gone.
        await until('the end of all reservations', async () => {
          // Ten minutes later, as far as they are concerned.
          await world.core.core.context.pool.query('UPDATE intelligence_reservations SET due_at = $1', [new Date(0)]);
          while (await chargeOne(world.core.core.context, world.core.core.context.time.proven()));
          return (await asker.usage()).reserved === 0;
        });
        const { tokens, requests } = await asker.usage();
        const own =
          world.provider.billed.inputTokens -
          billed.inputTokens +
          world.provider.billed.outputTokens -
          billed.outputTokens;
        assert.ok(tokens <= monthlyTokens, `${tokens} of ${monthlyTokens}`);
        assert.ok(tokens >= own, `${tokens} counted, ${own} billed`);
        assert.ok(requests <= made.length);
      }),
    ),
    settings,
  );
});
