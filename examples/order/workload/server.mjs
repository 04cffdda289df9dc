// The backend of Order: takes orders, runs their workflows, and goes on with those that a crash interrupted.
import { effectsIn } from './effects.mjs';
import { orderWorkflow } from './order.mjs';
import { PlatformError, PlatformServicesClient } from './platform-sdk.mjs';

const { createServer } = process.getBuiltinModule('node:http');
const { PORT, PLATFORM_VOLUME_DIR, STEP_MILLISECONDS } = process.env;

const PRICES = { tulips: 1_200, roses: 1_800, sunflowers: 900 };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EMAIL = /^[^@\s]{1,60}@[^@\s]{1,60}$/;
const WEEK = 604_800;

const platform = PlatformServicesClient.fromEnv();
const { ledgers, decide, ...effects } = effectsIn(PLATFORM_VOLUME_DIR, {
  stripe: platform.outbound('stripe'),
  stepMilliseconds: Number(STEP_MILLISECONDS),
});
const workflow = orderWorkflow(effects);
/** Ends what runs here, not the runs: steps under way are given back, so that the next process can take them at once. */
const stopping = new AbortController();
/** What runs here, until it has ended. */
const underWay = new Set();

// The one line that lets orders survive a crash.
track(platform.resumeWorkflows([workflow], { signal: stopping.signal }));

const server = createServer(async (request, response) => {
  const { status, body } = await handle(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request) {
  const [, collection, id, decision] = request.url.split('/');
  if (collection !== 'orders') return refused(404, 'not_found', 'There is nothing here.');
  if (request.method === 'GET') return { status: 200, body: { orders: await orders() } };
  if (request.method !== 'POST') return refused(405, 'method_not_allowed', 'This method is not offered.');
  if (id === undefined) return place(JSON.parse(await bodyOf(request)) ?? {});
  if (ledgers.reserved.of(id) === undefined) return refused(404, 'not_found', 'There is no such order.');
  await decide(id, decision === 'approve');
  return { status: 200, body: {} };
}

/** The page chooses the id. When its answer is lost and it asks again, this is the same order. */
async function place({ id, item, email }) {
  const isText = [id, item, email].every((value) => typeof value === 'string');
  if (!isText || !UUID.test(id) || !Object.hasOwn(PRICES, item) || !EMAIL.test(email))
    return refused(400, 'invalid_request', 'An order has an id, an item and an email address.');
  const known = ledgers.reserved.of(id);
  if (known !== undefined) {
    const isSame = known.item === item && known.email === email;
    return isSame ? { status: 202, body: {} } : refused(409, 'workflow_conflict', 'This id has another order.');
  }
  const { definition, version } = workflow;
  const input = { id, item, cents: PRICES[item], email };
  const run = { definition, version, input, idempotencyKey: id, durationSeconds: WEEK, signal: stopping.signal };
  const running = track(platform.runWorkflow(run, workflow.run));
  // Once its first step is done, the order is sure to go on. Nobody needs to wait for its end.
  await Promise.race([ledgers.reserved.until(id, stopping.signal), running]);
  return { status: 202, body: {} };
}

function track(work) {
  const ended = work.catch(console.error).then(() => underWay.delete(ended));
  underWay.add(ended);
  return work;
}

/** Newest first: what the ledgers say of each order, and how its run stands as long as the platform keeps it. */
async function orders() {
  const { items } = await platform.workflows.list({ definition: workflow.definition, limit: 200 });
  const runs = new Map(items.map(({ idempotencyKey, status }) => [idempotencyKey, status]));
  return ledgers.reserved
    .all()
    .slice(-50)
    .reverse()
    .map(({ order: id, item, cents, email }) => {
      const entries = Object.entries(ledgers).map(([name, ledger]) => [name, ledger.of(id) ?? null]);
      return { id, item, cents, email, run: runs.get(id) ?? 'completed', ...Object.fromEntries(entries) };
    });
}

// The SDK of the page turns this shape into an error with `code` and `message`.
function refused(status, code, detail) {
  return { status, body: { code, detail } };
}

function failed(error) {
  if (error instanceof PlatformError) return refused(error.status || 503, error.code, error.detail);
  console.error(error);
  if (error instanceof SyntaxError) return refused(400, 'invalid_request', 'The request is not valid JSON.');
  return refused(500, 'internal_error', 'The backend failed on this request. See the app’s log.');
}

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 10_000) throw new SyntaxError('The body is too large.');
  }
  return body;
}

server.listen(PORT, () => console.log(`Order listens on port ${PORT}.`));
process.on('SIGTERM', async () => {
  stopping.abort();
  await Promise.all(underWay);
  process.exit();
});
