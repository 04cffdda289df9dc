// Proposals over time: what nobody decided on expires, what a core began and did not end is failed and never begun again, and old
// ones go.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, limits, type Proposal, type ShownProposal } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { connectHub } from '../../../../../tests/support/mcp-client.ts';
import { sweepProposals } from './retention.ts';

const GRANTS: Grant[] = [
  { id: 'mcp.tools.propose', resources: ['platform-*'] },
  { id: 'notifications.publish', resources: ['daily'] },
];

let world: Constellation;
let ada: TestAccount;
let app: InstalledTestApp;
/** By which the clock of core is ahead. */
let ahead = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + ahead) });
  ada = await registerAccount(world, 'ada');
  app = await installTestApp(world, ada, 'helper', GRANTS);
});
after(() => world?.close());

async function propose(): Promise<Proposal> {
  await using hub = await connectHub(world, app.credential);
  const note = { topic: 'daily', title: 'Water the plants', body: '' };
  const result = await hub.client.callTool({ name: 'platform-notifications.publish', arguments: note });
  return (result.structuredContent as { proposal: Proposal }).proposal;
}

const shown = async (id: string): Promise<ShownProposal> =>
  (await ada.browser.take<{ proposal: ShownProposal }>(`/v1/account/proposals/${id}`)).proposal;

/** The time passes, and is proven. */
async function pass(seconds: number): Promise<void> {
  ahead += seconds * 1_000;
  await world.core.context.time.sweep();
  while (await sweepProposals(world.core.context, world.core.context.time.proven()));
}

test('after a quarter of an hour it has expired, and cannot be approved', async () => {
  const { id } = await propose();
  await pass(limits.proposalSeconds.value);
  const { state, argumentsHash } = await shown(id);
  assert.equal(state, 'expired');
  const late = await ada.fetch(`/v1/account/proposals/${id}/approve`, { body: { argumentsHash } });
  assert.equal((late.json as { code: string }).code, 'proposal_conflict');
  for (const [name, count] of [
    ['expired', 1],
    ['pending', 0],
  ] as const) {
    const { items } = await ada.browser.take<{ items: ShownProposal[] }>(`/v1/account/proposals?state=${name}`);
    assert.equal(items.length, count, name);
  }
});

test('one that a core began and did not end has failed, once nobody can be at it any more', async () => {
  const { id } = await propose();
  const { context } = world.core;
  await context.pool.query("UPDATE tool_proposals SET state = 'running', decided_at = $2 WHERE id = $1", [
    ...[id, context.clock()],
  ]);
  await pass(limits.toolSeconds.value);
  assert.equal((await shown(id)).state, 'pending', 'a core may still be at it');
  const { argumentsHash } = await shown(id);
  const again = await ada.fetch(`/v1/account/proposals/${id}/approve`, { body: { argumentsHash } });
  assert.equal((again.json as { code: string }).code, 'proposal_conflict');
  await pass(121);
  const { state, result } = await shown(id);
  assert.equal(state, 'failed');
  assert.match(JSON.stringify(result), /not known whether the tool did it/);
});

test('they go a day after they expired', async () => {
  const { id } = await propose();
  await pass(limits.proposalSeconds.value + limits.proposalKeptSeconds.value - 60);
  assert.equal((await shown(id)).state, 'expired');
  await pass(120);
  assert.equal((await ada.fetch(`/v1/account/proposals/${id}`)).status, 404);
});
