// docs/workflows.md says what the code does: what it shows of the example is there, everything else in it runs, and its
// limits and codes are the platform's.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { errors, limits } from '@platform/contract';
import type { Flow, WorkflowFunction } from '@platform/sdk';
import { type AppGateway, openAppGateway } from '../support/app-gateway.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { installTestApp } from '../support/installed-app.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const SDK_CODES = ['workflow_failed', 'network_failed', 'timed_out'];

let text = '';
let blocks: readonly string[] = [];
let world: Constellation;
let gateway: AppGateway;

before(async () => {
  text = await readFile(path.join(ROOT, 'docs/workflows.md'), 'utf8');
  blocks = [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  world = await startConstellation();
  const account = await registerAccount(world, 'reader');
  gateway = await openAppGateway(world, await installTestApp(world, account, 'first-workflow', []));
});
after(async () => {
  await gateway?.close();
  await world?.close();
});

const lines = (code: string) =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

const blockWith = (words: string) => {
  const found = blocks.filter((block) => block.includes(words));
  assert.equal(found.length, 1, words);
  return found[0] ?? '';
};

/** Runs a block of the page with these names in scope. @returns the value of `result` */
async function evaluate(block: string, names: Readonly<Record<string, unknown>>, result: string): Promise<unknown> {
  const body = `return (async () => { ${block}; return ${result}; })();`;
  return new Function(...Object.keys(names), body)(...Object.values(names));
}

test('what it shows of the example stands there', async () => {
  const shown = blocks.filter((block) => block.startsWith('// examples/'));
  assert.equal(shown.length, 6);
  for (const block of shown) {
    const [first = '', ...rest] = block.split('\n');
    const file = lines(await readFile(path.join(ROOT, first.slice('// '.length)), 'utf8'));
    assert.ok(file.includes(lines(rest.join('\n'))), `${first} has other lines`);
  }
});

test('the whole workflow runs', async () => {
  const { client: platform } = gateway;
  const greeting = await evaluate(blockWith('read-the-clock'), { platform }, 'greeting');
  assert.match(String(greeting), /^Hello Ada, it is \d{4}-/);
  const events = await evaluate(blockWith('workflows.history'), { platform }, 'events.map(({ event }) => event)');
  assert.deepEqual(events, [
    'created',
    'activity-claimed',
    'activity-completed',
    'activity-claimed',
    'activity-completed',
    'completed',
  ]);
  assert.deepEqual((await platform.workflows.list({ definition: 'greet' })).items, [], 'it was removed');
});

test('the wrong function is refused when it is run again', async (t) => {
  const wrong = (await evaluate(blockWith('async function wrong'), {}, 'wrong')) as WorkflowFunction<null, number>;
  const { client } = gateway;
  const run = { definition: 'wrong', version: 1, idempotencyKey: 'wrong', durationSeconds: 60 };
  const crash = new AbortController();
  const first = client.runWorkflow({ ...run, signal: crash.signal }, async (flow) => {
    await wrong(flow, null);
    crash.abort(new Error('died'));
  });
  await assert.rejects(first, { message: 'died' });
  t.mock.method(Date, 'now', () => 0);
  await assert.rejects(client.runWorkflow(run, wrong), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'activity_conflict');
    assert.match(error.message, /note/);
    return true;
  });
});

test('the retry policy tries again, and not after a code that says so', async () => {
  const pay = blockWith('nonRetryable');
  for (const [code, attempts] of [
    ['card_declined', 1],
    ['busy', 2],
  ] as const) {
    let calls = 0;
    const charge = () => {
      calls += 1;
      if (calls === 1) throw Object.assign(new Error('no'), { code });
      return 'receipt';
    };
    const run = { definition: 'pay', version: 1, idempotencyKey: code, durationSeconds: 60 };
    const running = gateway.client.runWorkflow(run, (flow: Flow) => evaluate(pay, { flow, charge }, 'receipt'));
    if (attempts === 1) await assert.rejects(running, { code });
    else assert.equal(await running, 'receipt');
    assert.equal(calls, attempts);
  }
});

test('an execution that waits for a decision ends, and the next one goes on', async () => {
  const decisions = new Map<string, string>();
  const names = { platform: gateway.client, decisions };
  const execute = (await evaluate(blockWith('function execute'), names, 'execute')) as (
    order: string,
  ) => Promise<string>;
  await assert.rejects(execute('o-1'), { message: 'It waits for a decision.' });
  const { items } = await gateway.client.workflows.list({ definition: 'approval', status: 'running' });
  assert.equal(items.length, 1);
  decisions.set('o-1', 'approved');
  assert.equal(await execute('o-1'), 'approved');
});

test('limits and codes are those of the platform', () => {
  const rows = [...text.matchAll(/^\| [^|]+ \| ([\d,]+)( KiB)?[^|]* \| `(\w+)` \|$/gm)];
  assert.ok(rows.length >= 8);
  const known: Readonly<Record<string, { readonly value: number } | undefined>> = limits;
  for (const [, amount = '', unit, name = ''] of rows)
    assert.equal(Number(amount.replaceAll(',', '')) * (unit === undefined ? 1 : 1_024), known[name]?.value, name);
  const [, table = ''] = text.split('| code |');
  const codes = [...(table.split('\n\n', 1)[0] ?? '').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code),
  );
  assert.ok(codes.length >= 10);
  for (const code of codes) assert.ok(code in errors || SDK_CODES.includes(code), code);
});
