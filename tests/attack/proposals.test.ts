// Hostile proposers and approvals (proposal-cases.json): arguments and names that mislead, decisions that come twice, late, from others, or
// after the app changed. Against a real core with PostgreSQL.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ShownProposal } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import cases from './proposal-cases.json' with { type: 'json' };
import { callRaw, outcomeOf, PROPOSES, PUBLISH, type Step, stageOf } from './proposal-steps.ts';

let world: Constellation;
let people: Readonly<Record<'ada' | 'ben', TestAccount>>;
let app: InstalledTestApp;
const time = { ahead: 0 };
before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + time.ahead) });
  people = { ada: await registerAccount(world, 'ada'), ben: await registerAccount(world, 'ben') };
  app = await installTestApp(world, people.ada, 'trickster', PROPOSES);
});
after(() => world?.close());

interface ArgumentCase {
  readonly what: string;
  readonly tool?: string;
  readonly text?: string;
  readonly nested?: number;
  /** `invalid`: the tool does not take it; `refused`: the platform does not; `pending`: it waits for its person. */
  readonly outcome: string;
  /** Default: as it was sent. */
  readonly shown?: string;
  readonly approved?: string;
}

for (const one of cases.arguments as readonly ArgumentCase[])
  test(`arguments: ${one.what}`, async () => {
    const { nested = 0, text = `${'{"a":'.repeat(nested)}1${'}'.repeat(nested)}`, tool = PUBLISH } = one;
    const answer = await callRaw(
      app,
      tool,
      text.replaceAll(/\$(\d{3,})/g, (_, count) => 'x'.repeat(Number(count))),
    );
    assert.equal(outcomeOf(answer), one.outcome, JSON.stringify(answer).slice(0, 500));
    if (answer.proposal === undefined) return;
    const path = `/v1/account/proposals/${answer.proposal.id}`;
    const { proposal } = await people.ada.browser.take<{ proposal: ShownProposal }>(path);
    assert.deepEqual(proposal.arguments, JSON.parse(one.shown ?? text), 'what is shown is what would be done');
    if (one.approved === undefined) return;
    const body = { argumentsHash: proposal.argumentsHash };
    const approved = await people.ada.browser.take<{ proposal: ShownProposal }>(`${path}/approve`, { body });
    assert.equal(approved.proposal.state, one.approved);
  });

for (const { what, name } of cases.names)
  test(`a tool named like ${what}`, async () => {
    const answer = await callRaw(app, name, '{}');
    assert.ok(['invalid', 'refused'].includes(outcomeOf(answer)), JSON.stringify(answer));
  });

for (const [number, { what, steps }] of cases.stories.entries())
  test(what, async () => {
    const stage = stageOf({ world, people, time, id: `proposer-${number}` });
    for (const [verb, given, outcome] of steps as unknown as readonly Step[])
      assert.equal(await stage.take(verb, given), outcome, `${verb} ${JSON.stringify(given)}`);
    time.ahead = 0;
  });
