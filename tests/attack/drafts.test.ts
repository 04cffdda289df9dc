// Hostile apps and pages around apps that apps make (draft-cases.json): what is handed in, who decides on it and when, what its maker sees
// of it, and what a preview gives away. Against a real core with PostgreSQL.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { appFiles, DRAFTS, handIn, makerApp, waiting } from '../../packages/core/test-support/made-apps.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import type { InstalledTestApp } from '../support/installed-app.ts';
import { problemCode } from '../support/raw-http.ts';
import cases from './draft-cases.json' with { type: 'json' };
import { type DraftStage, type Step, stageOf } from './draft-steps.ts';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let maker: InstalledTestApp;
const time = { ahead: 0 };
before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + time.ahead) });
  ada = await registerAccount(world, 'ada');
  ben = await registerAccount(world, 'ben');
  maker = await makerApp(world, ada, 'namer');
});
after(() => world?.close());

/** `$300` stands for that many letters. */
const written = (text: string) => text.replaceAll(/\$(\d{3,})/g, (_, count) => 'x'.repeat(Number(count)));

for (const { what, name, kept = false } of cases.names as readonly { what: string; name: string; kept?: boolean }[])
  test(`a file named like ${what}`, async () => {
    // As JSON has it: a literal would set the prototype.
    const files = JSON.parse(`{${JSON.stringify(written(name))}:"x"}`);
    const all = Object.defineProperties(appFiles('named'), Object.getOwnPropertyDescriptors(files));
    const answer = await handIn(maker, 'named', all);
    if (kept) assert.equal(answer.status, 201, answer.text);
    else assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
  });

for (const { what, names } of cases.pairs)
  test(`two files named as ${what}`, async () => {
    const files = { ...appFiles('pair'), ...Object.fromEntries(names.map((name) => [name, ''])) };
    assert.equal(problemCode(await handIn(maker, 'pair', files)), 'invalid_request');
  });

for (const one of cases.manifests)
  test(`a manifest ${one.what}`, async () => {
    const files =
      one.text === undefined
        ? appFiles('odd', one.manifest)
        : { ...appFiles('odd'), 'manifest.json': one.text.replaceAll('APP', 'odd') };
    const answer = await handIn(maker, 'odd', files);
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
  });

test('10,000 files', async () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`frontend/${n}.js`, '']));
  assert.equal(problemCode(await handIn(maker, 'crowd', { ...appFiles('crowd'), ...many })), 'invalid_request');
});

test('a change that makes of an app more than an app may be', async () => {
  const half = 'x'.repeat(limits.draftBody.value * 0.6);
  assert.equal((await handIn(maker, 'grown', { ...appFiles('grown'), 'frontend/a.js': half })).status, 201);
  const more = await maker.call('/v1/services/apps/grown', {
    method: 'PATCH',
    body: { files: { 'frontend/b.js': half } },
  });
  assert.equal(problemCode(more), 'payload_too_large');
});

for (const [number, { what, steps }] of cases.stories.entries())
  test(what, async () => {
    const stage: DraftStage = stageOf({ world, people: { ada, ben }, time, id: `story-${number}` });
    for (const [verb, given, outcome] of steps as unknown as readonly Step[])
      assert.equal(await stage.take(verb, given), outcome, `${verb} ${JSON.stringify(given)}`);
    time.ahead = 0;
    // What waits for a person is bounded.
    for (const { id } of await waiting(ada)) await ada.fetch(`${DRAFTS}/${id}/decline`, { body: {} });
  });
