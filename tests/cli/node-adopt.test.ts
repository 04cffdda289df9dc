// A machine that lost its key as a node, as its operator finds it: it says so, and gets a new key by a token that names it, with
// everything that was its own.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { joinNode, type NodePlace, nodePlace, startNode } from '../support/node-process.ts';
import {
  type LongCommand,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startCommand,
  startPlatform,
} from '../support/platform-process.ts';

let core: PlatformPlace;
let machine: NodePlace;
let platform: PlatformProcess | undefined;
let node: LongCommand | undefined;

before(async () => {
  core = await platformPlace();
  machine = await nodePlace();
  platform = await startPlatform(core);
  node = await joinNode(core, machine, { name: 'second', labels: ['platform-hosted', 'gpu'] });
});
after(async () => {
  await node?.stop();
  await platform?.stop();
  await machine.remove();
  await core.remove();
});

const operator = (...args: string[]) => runCommand(['node', ...args], core.environment);
const nodes = () => operator('list');

test('a node that answers is not given away', async () => {
  await assert.rejects(operator('adopt', 'second'), /second answers, or did a moment ago/);
  assert.match(await nodes(), /^second +ready .*gpu/m);
});

test('one that is stopped returns its lease before it ends', async () => {
  assert.equal(await node?.stop(), 0);
  node = undefined;
  assert.match(await nodes(), /^second +lost /m);
});

test('without its key it does not start as another node, and says what to do', async () => {
  rmSync(path.join(machine.dataDirectory, 'node', 'node.key'));
  await assert.rejects(startNode(machine), /its key, .*node\.key, is missing.*node adopt <name>/);
  assert.match(await nodes(), /^second +lost /m);
});

test('with a token that names it, it is the node that it was', async () => {
  const said = await operator('adopt', 'second');
  const [, token = ''] = /join \S+ (pne_\S+) --name second/.exec(said) ?? assert.fail(said);
  const url = `http://127.0.0.1:${core.port}`;
  node = await startCommand(
    ['node', 'join', url, token, '--name', 'second'],
    machine.environment,
    'Core knows this node.',
  );
  const list = await nodes();
  assert.match(list, /^second +ready .*gpu/m);
  assert.equal(list.split('\n').filter((line) => line.startsWith('second')).length, 1);
  assert.equal(await node.stop(), 0);
  node = await startNode(machine);
});
