// Tools of a real backend, proposed by another app: approved they reach it as a call of that app, and as the tool that was shown.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Grant, Proposal, ShownProposal } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type Constellation, startConstellation } from '../../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../support/installed-app.ts';
import { connectHub } from '../../support/mcp-client.ts';
import { publishTestApp } from '../../support/publish.ts';
import { type RealNode, startRealNode } from '../../support/real-node.ts';
import { bundleWorkload } from './bundle-workload.ts';

const SERVE: Grant = { id: 'mcp.tools.serve', resources: ['self'] };
const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let asker: InstalledTestApp;
let files: Record<string, string>;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  files = { 'workload/main.mjs': await bundleWorkload('notes-workload.ts'), 'frontend/index.html': '' };
  await publishTestApp(ada, 'notes', { workload, permissions: [SERVE] }, files);
  await ada.browser.take('/v1/apps', { body: { appId: 'notes' } });
  asker = await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.propose', resources: ['notes.*'] }]);
});
after(async () => {
  await node?.stop();
  await world?.close();
});

const shown = async (id: string): Promise<ShownProposal> =>
  (await ada.browser.take<{ proposal: ShownProposal }>(`/v1/account/proposals/${id}`)).proposal;

/** By the names of the app itself, too: the same holds at its own address. */
async function propose(name: string, given: Record<string, unknown>, path?: string): Promise<ShownProposal> {
  await using hub = await connectHub(world, asker.credential, path === undefined ? {} : { path });
  const result = await hub.client.callTool({ name, arguments: given });
  assert.equal(result.isError, undefined, JSON.stringify(result));
  return shown((result.structuredContent as { proposal: Proposal }).proposal.id);
}

function approve({ id, argumentsHash }: ShownProposal) {
  return ada.fetch(`/v1/account/proposals/${id}/approve`, { body: { argumentsHash } });
}

test('an approved call reaches the backend as one of the app that proposed it', async () => {
  const one = await propose('notes.add', { note: 'milk' });
  assert.deepEqual(
    [one.app, one.title, one.description],
    [{ id: 'notes', name: 'notes' }, 'Add a note', 'Keeps a note. hidden '],
  );
  assert.equal(one.confirms, false);
  const done = (await approve(one)).json as { proposal: ShownProposal };
  assert.equal(done.proposal.state, 'executed');
  assert.deepEqual((done.proposal.result as { structuredContent: object }).structuredContent, { count: 1 });
  const alone = await propose('caller', {}, '/v1/services/mcp/notes');
  assert.equal(alone.tool, 'notes.caller', 'by its full name');
  const { proposal } = (await approve(alone)).json as { proposal: ShownProposal };
  assert.match(JSON.stringify(proposal.result), /\\"caller\\":\\"asker\\"/);
});

test('what does not match the schema is not proposed', async () => {
  await using hub = await connectHub(world, asker.credential);
  await assert.rejects(hub.client.callTool({ name: 'notes.add', arguments: { note: 3 } }), /Invalid arguments/);
});

test('a tool of another version than was shown is not called', async () => {
  const { count: before } = await kept();
  const one = await propose('notes.add', { note: 'bread' });
  await publishTestApp(ada, 'notes', { version: '1.1.0', workload, permissions: [SERVE] }, files);
  await ada.browser.take('/v1/apps/notes/upgrade', { body: { version: '1.1.0' } });
  const answer = await approve(one);
  assert.equal((answer.json as { code: string }).code, 'proposal_conflict', answer.text);
  assert.equal((await shown(one.id)).state, 'failed');
  const { count } = await kept();
  assert.ok(count <= before, 'the new version keeps nothing of it');
});

async function kept(): Promise<{ count: number }> {
  const one = await propose('notes.count', {});
  const { proposal } = (await approve(one)).json as { proposal: ShownProposal };
  const [{ text }] = (proposal.result as { content: [{ text: string }] }).content;
  return { count: (JSON.parse(text) as { calls: number }).calls };
}
