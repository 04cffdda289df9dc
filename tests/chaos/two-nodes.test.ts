// Two machines, each a network namespace: a backend is placed, its machine dies, is cut off and comes back, and at no
// moment do two of them write to its volume. The story itself runs inside the first machine (two-nodes-story.ts).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectTwoNetworks, namespacesUnavailable, type TwoNetworks } from '../support/network-namespaces.ts';

const STORY = fileURLToPath(new URL('./two-nodes-story.ts', import.meta.url));

let networks: TwoNetworks | undefined;
const skip = namespacesUnavailable();

before(() => {
  if (skip === false) networks = connectTwoNetworks();
});
after(() => networks?.remove());

test('a backend follows its volume from machine to machine, and two never write to it', {
  skip,
  timeout: 600_000,
}, async (context) => {
  const { a, b, cut, join } = networks ?? assert.fail();
  const story = spawn('nsenter', [`--net=${a.file}`, '--', process.execPath, STORY, a.address, b.file, b.address], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [story.stdout, story.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  story.on('message', (event) => {
    if (event === 'cut') cut();
    if (event === 'join') join();
    story.send('done');
  });
  const [code, signal] = await once(story, 'close');
  for (const line of output.split('\n').filter((text) => text.startsWith('STORY '))) context.diagnostic(line);
  assert.equal(code ?? signal, 0, output);
});
