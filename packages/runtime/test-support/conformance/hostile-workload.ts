// One package that serves and does everything else wrong: its boots are shared, since some drivers take seconds for
// one. Each test asks for what it needs, and a start follows where another test has ended it.
import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import type { BadNode } from './bad-node.ts';

const SOURCE = readFileSync(new URL('workloads/hostile.mjs', import.meta.url), 'utf8');
const MiB = 1024 * 1024;

/** @param connecting processes of the workload that open 2,500 connections each; one has more than it gets already */
export function hostileBehaviour(bad: () => BadNode, connecting: 1 | 4): void {
  let one: Assignment;
  const ask = (path: string) => bad().call(one, path);
  const isUp = () => until('it to be up', async () => (await ask('/')).text === 'up', bad().limit);
  const descriptors = () => readdirSync('/proc/self/fd').length;

  before(async () => {
    one = await bad().assign(SOURCE, { volume: true, resources: { memoryMiB: 512, diskMiB: 24 } });
  });

  test('that fills its scratch and its volume is stopped by their sizes', async (t) => {
    await isUp();
    assert.match((await ask('/scratch')).text, /^(ENOSPC|EDQUOT) \d+$/);
    const unenforced = (await bad().statusOf(one)).unenforced.some((text) => text.includes('volume'));
    if (unenforced) t.diagnostic('the size of a volume is not enforced here, and the status says so');
    else assert.match((await ask('/volume')).text, /^(ENOSPC|EDQUOT) \d+$/);
    await bad().unharmed();
  });

  test('that floods its log is read no faster than is cheap, and what is left out is counted', async () => {
    await isUp();
    const before = process.memoryUsage().rss;
    assert.equal((await ask('/flood')).text, 'begun');
    await bad().unharmed();
    // On another stream, which may be let through before the last of the flood or counted out with it.
    const said = await bad().line(one, /lines were dropped/);
    assert.match(said.line, /^[1-9]\d* lines were dropped: more than 1000 lines in one second\.$/);
    assert.equal(said.stream, 'system');
    await isUp();
    assert.ok(process.memoryUsage().rss - before < 128 * MiB, 'the memory of the Runtime');
    const folder = join(bad().place.folder, 'logs');
    for (const file of readdirSync(folder)) assert.ok(statSync(join(folder, file)).size < 10 * MiB, file);
    await bad().unharmed();
  });

  test(`that opens ${connecting * 2_500} connections to its Gateway gets some, and harms no other`, async () => {
    await isUp();
    const before = descriptors();
    assert.equal((await ask(`/connections/${connecting}`)).text, 'begun');
    await bad().unharmed();
    // Its own Gateway may refuse callers while it holds so many.
    const tried = async () => {
      const { status, text } = await ask('/tried');
      return status === 429 ? 'refused' : text;
    };
    await until('it to hold what it gets', async () => (await tried()) !== 'not yet', bad().limit);
    await bad().unharmed();
    const held = descriptors() - before;
    // None where its Gateway is a process of its own.
    assert.ok(held < 1_200, `${held} descriptors are held for it`);
    await until('it to let go', async () => (await tried()) === 'let go', bad().limit);
    await until('its connections to be given back', () => descriptors() - before < 100, bad().limit);
  });

  test('that answers with something that is not HTTP is answered for, and its log says so once', async () => {
    await isUp();
    const answer = await ask('/not-http');
    assert.equal(answer.status, 502);
    assert.equal(JSON.parse(answer.text).code, 'upstream_failed');
    const said = await bad().line(one, /no valid HTTP answer/);
    assert.match(said.line, /^A request to it got no valid HTTP answer \(\w+\)\.$/);
    for (let n = 0; n < 20; n += 1) await ask('/not-http');
    const { items } = await bad().core.logs(one.installationId);
    assert.equal(items.filter((item) => /valid HTTP/.test(item.line)).length, 1);
    await bad().unharmed();
  });

  test('that tampers with the root of its volume and ignores SIGTERM is killed, harms nothing, and finds its volume', async () => {
    await isUp();
    const { folder } = bad().place;
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'outside');
    const seen = JSON.parse((await ask(`/tamper/${Buffer.from(outside).toString('base64url')}`)).text);
    assert.notEqual(seen.device, 0);
    assert.notEqual(seen.renamed, 'done');
    assert.notEqual(seen.removed, 'done');

    const stopping = bad().stop(one);
    await bad().unharmed();
    await stopping;
    const said = await bad().reason(one, /killed/);
    assert.equal(said, 'It did not exit within 5 s of SIGTERM and was killed.');

    await isUp();
    assert.equal((await ask('/kept')).text, 'kept');
    assert.equal(readFileSync(outside, 'utf8'), 'outside');
    noDeviceBelow(join(folder, 'volumes'));
    await bad().unharmed();
  });
}

function noDeviceBelow(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(folder, entry));
    assert.equal(stat.isBlockDevice() || stat.isCharacterDevice(), false, entry);
  }
}
