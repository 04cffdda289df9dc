// Runs a story about two machines in the network namespace of the first one, and cuts and joins the wire when it asks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { namespacesUnavailable, type TwoNetworks } from '../support/network-namespaces.ts';

export interface Story<Networks extends TwoNetworks> {
  readonly connect: () => Networks;
  /** The program beside this file that runs it. It gets what {@link onTwoMachines} reads. */
  readonly file: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Judges the networks after it. */
  readonly after?: (networks: Networks) => void;
}

/** Declares the test of a story. Each line that it told is a diagnostic of the test. */
export function testStory<Networks extends TwoNetworks>(what: string, story: Story<Networks>): void {
  let networks: Networks | undefined;
  const skip = namespacesUnavailable();
  before(() => {
    if (skip === false) networks = story.connect();
  });
  after(() => networks?.remove());
  test(what, { skip, timeout: story.timeout }, async (context) => {
    if (networks === undefined) assert.fail();
    await tellStory(context, networks, story.file);
    story.after?.(networks);
  });
}

async function tellStory(context: TestContext, networks: TwoNetworks, file: string): Promise<void> {
  const { a, b, router, cut, join } = networks;
  const places = [a.address, b.file, b.address, ...(router === undefined ? [] : [router.address])];
  const told = [fileURLToPath(new URL(file, import.meta.url)), ...places];
  const story = spawn('nsenter', [`--net=${a.file}`, '--', process.execPath, ...told], {
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
}
