// Calls that call on, through real backends that the SDK serves: each app knows who called it, no chain comes back to one of its links or has
// more than four, and at each link the grants of the one who calls count.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ToolAnswer } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { installTestApp } from '../../support/installed-app.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { bundleWorkload } from './bundle-workload.ts';

/** Which apps each may call. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  first: ['second', 'third'],
  second: ['third'],
  third: ['first', 'fourth'],
  fourth: ['second', 'fifth'],
  fifth: [],
};

let world: Constellation;
let node: RealNode;
let ada: TestAccount;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const main = await bundleWorkload('relay-workload.ts');
  const files = { 'workload/main.mjs': main, 'frontend/index.html': '' };
  for (const [appId, others] of Object.entries(MAY)) {
    const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 192 } };
    const permissions = [
      { id: 'mcp.tools.serve', resources: ['self'] },
      ...(others.length === 0 ? [] : [{ id: 'mcp.tools.call', resources: others.map((other) => `${other}.*`) }]),
    ];
    await publishTestApp(ada, appId, { workload, permissions }, files);
    await ada.browser.take('/v1/apps', { body: { appId } });
  }
  await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.call', resources: ['first.*', 'second.*'] }]);
});
after(async () => {
  await node?.stop();
  await world?.close();
});

/** As the page of the asker calls it, over the bridge. */
const call = (name: string, given: object = {}) =>
  ada.browser.take<ToolAnswer>('/v1/apps/asker/mcp/calls', { body: { name, arguments: given } });

async function relay([first, ...through]: readonly [string, ...string[]], forgets = false): Promise<string> {
  const answer = await call(`${first}.relay`, { through, forgets });
  assert.equal(answer.kind, 'result', JSON.stringify(answer));
  return String(answer.content[0]?.text);
}

test('each app of a chain knows the one before it', async () => {
  assert.equal(await relay(['first']), 'asker');
  assert.equal(await relay(['first', 'second', 'third']), 'asker > first > second');
});

test('a chain that comes back to one of its links ends there', async () => {
  assert.match(
    await relay(['first', 'second', 'third', 'first']),
    /^asker > first > second > not_authorized: .*already/,
  );
  assert.match(await relay(['first', 'third', 'first', 'second']), /^asker > first > not_authorized: .*already/);
});

test('a chain has four links', async () => {
  const four = await relay(['second', 'third', 'fourth', 'fifth']);
  assert.equal(four, 'asker > second > third > fourth');
  const five = await relay(['first', 'second', 'third', 'fourth', 'fifth']);
  assert.match(five, /^asker > first > second > third > not_authorized: At most 4/);
});

test('an app lends its grants to nobody, and a caller its own to no app', async () => {
  // The asker may call the first and the second one, and nothing else by itself.
  const alone = await ada.fetch('/v1/apps/asker/mcp/calls', { method: 'POST', body: { name: 'third.relay' } });
  assert.match(alone.text, /Unknown tool: third\.relay/);
  // The second one may not call the first, though the asker may.
  assert.equal(await relay(['second', 'first']), 'asker > Unknown tool: first.relay');
});

test('who does not pass the chain on begins another one, within its own grants', async () => {
  assert.equal(await relay(['first', 'second', 'third', 'first'], true), 'asker > first > second > third');
});

test('an app cannot make a page believe that the person was asked', async () => {
  const answer = await call('first.pretend');
  assert.equal(answer.kind, 'result');
});
