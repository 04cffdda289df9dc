// The example Order with a secret in its slot, on a whole platform, Stripe a scripted FAKE on loopback: what goes out has the
// step's key, the same for each attempt; a declined card ends an order, and a refused one is refunded.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { SecretBinding, WorkflowSummary, WorkflowTimeline } from '@platform/contract';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishExample } from '../support/publish.ts';
import { type ArrivedRequest, startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import { until } from '../support/wait.ts';

const APP = 'order-here';
const KEY = 'sk-canary-order-51d0';

let stripe: TlsUpstream;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
/** As its page asks it. */
let ask: AskBackend;

before(async () => {
  stripe = await startTlsUpstream();
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: stripe.origin,
    PLATFORM_OUTBOUND_CA_FILE: stripe.caFile,
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'florist');
  await publishExample(account, APP, {
    example: 'order',
    change: (manifest) => {
      const here = JSON.parse(JSON.stringify(manifest).replaceAll('https://api.stripe.com', stripe.origin));
      return { ...here, workload: { ...here.workload, environment: { STEP_MILLISECONDS: '0' } } };
    },
  });
  await account.browser.take('/v1/apps', { body: { appId: APP } });
  await account.fetch('/v1/account/secrets/stripe', { method: 'PUT', body: { value: KEY } });
  const list = `/v1/apps/${APP}/secret-bindings`;
  const [slot] = (await account.browser.take<{ items: SecretBinding[] }>(list)).items;
  const body = { secret: 'stripe', declarationHash: slot?.declarationHash };
  await account.browser.take(`${list}/stripe`, { method: 'PUT', body });
  ask = await openBackend(place, account, APP);
});
after(async () => {
  await platform?.stop();
  await stripe?.close();
  await place?.remove();
});

async function timelineOf(order: string): Promise<WorkflowTimeline | undefined> {
  const path = `/v1/apps/${APP}/workflows`;
  const { items } = await account.browser.take<{ items: WorkflowSummary[] }>(path);
  const run = items.find(({ idempotencyKey }) => idempotencyKey === order);
  return run && account.browser.take<WorkflowTimeline>(`${path}/${run.id}`);
}

const ended = (order: string) =>
  until('the order to end', async () => {
    const timeline = await timelineOf(order);
    return timeline !== undefined && timeline.run.status !== 'running' ? timeline : undefined;
  });

const headerOf = ({ rawHeaders }: ArrivedRequest, name: string) =>
  rawHeaders.find((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);

test('a charge that fails is tried again with the same key, and a refused order is refunded', async () => {
  let failures = 1;
  stripe.answer = (_req, res, { target }) => {
    failures -= 1;
    const status = failures >= 0 ? 503 : 200;
    const id = target.endsWith('/refunds') ? 're_1' : 'pi_1';
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status: 'succeeded' }));
  };
  const id = randomUUID();
  const order = { id, item: 'roses', email: 'ada@example.com' };
  assert.equal((await ask('/orders', order)).status, 202);
  assert.equal((await ask('/orders', order)).status, 202, 'asked again it stays one order');
  assert.equal((await ask('/orders', { ...order, item: 'tulips' })).status, 409);
  assert.equal((await ask(`/orders/${id}/refuse`, {})).status, 200);
  assert.equal((await ask(`/orders/${id}/approve`, {})).status, 200, 'the first decision counts');
  const { run, activities } = await ended(id);
  assert.equal(run.status, 'completed');
  const keyOf = (step: string) => activities.find((activity) => activity.step === step)?.id;
  assert.deepEqual(
    stripe.arrived.map((request) => [request.target, headerOf(request, 'idempotency-key')]),
    [
      ['/v1/payment_intents', keyOf('pay')],
      ['/v1/payment_intents', keyOf('pay')],
      ['/v1/refunds', keyOf('refund')],
    ],
  );
  assert.ok(stripe.arrived.every((request) => headerOf(request, 'authorization') === `Bearer ${KEY}`));
  assert.equal(stripe.arrived.at(-1)?.body, 'payment_intent=pi_1');
});

test('a declined card ends the order with a mail, and is not tried again', async () => {
  stripe.arrived.length = 0;
  stripe.answer = (_req, res) =>
    void res
      .writeHead(402, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { code: 'card_declined', message: 'Your card was declined.' } }));
  const id = randomUUID();
  assert.equal((await ask('/orders', { id, item: 'tulips', email: 'ada@example.com' })).status, 202);
  const { run, activities } = await ended(id);
  assert.equal(run.status, 'completed');
  assert.deepEqual(
    activities.map(({ step }) => step),
    ['reserve', 'pay', 'mail'],
  );
  assert.equal(stripe.arrived.length, 1);
  const { orders } = (await ask('/orders')).json as { orders: { paid: { why: string } }[] };
  assert.equal(orders[0]?.paid.why, 'Your card was declined.');
});

test('a backend that is stopped gives its step back, and goes on as soon as it starts', async () => {
  stripe.answer = (_req, res) =>
    void res.setHeader('content-type', 'application/json').end('{"id":"pi_3","status":"succeeded"}');
  const id = randomUUID();
  assert.equal((await ask('/orders', { id, item: 'sunflowers', email: 'ada@example.com' })).status, 202);
  const waiting = (attempt: number, state: string) =>
    until(`attempt ${attempt} to be ${state}`, async () => {
      const found = (await timelineOf(id))?.activities.find(({ step }) => step === 'approve');
      return found?.attempt === attempt && found.state === state;
    });
  await waiting(1, 'claimed');
  await account.browser.take(`/v1/apps/${APP}/stop`, { body: {} });
  await waiting(1, 'failed');
  await account.browser.take(`/v1/apps/${APP}/start`, { body: {} });
  await waiting(2, 'claimed');
  assert.equal((await ask(`/orders/${id}/approve`, {})).status, 200);
  assert.equal((await ended(id)).run.status, 'completed');
});

test('what is no order is refused', async () => {
  for (const body of [null, {}, { id: 'x' }, { id: randomUUID(), item: 'constructor', email: 'a@b' }]) {
    const answer = await ask('/orders', body);
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
  }
  assert.equal((await ask(`/orders/${randomUUID()}/approve`, {})).status, 404);
});
