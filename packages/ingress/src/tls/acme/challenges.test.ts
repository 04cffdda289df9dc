// The operator's DNS hook: what it gets, and what becomes of one that hangs, with everything that it started.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../../tests/support/wait.ts';
import { AcmeError } from './authority.ts';
import { dnsHook } from './challenges.ts';

const NAME = '*.example.org';
const RECORD = '_acme-challenge.example.org';
const never = () => new AbortController().signal;

interface World {
  readonly command: string;
  /** @returns what the hook has written */
  said(): Promise<string>;
}

/** A hook of these lines of a shell; `$SAID` is a file for what it has to say. */
async function hookOf(t: TestContext, lines: string): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dns-hook-'));
  t.after(() => rm(folder, { recursive: true }));
  const [command, said] = [path.join(folder, 'hook'), path.join(folder, 'said')];
  await writeFile(command, `#!/bin/sh\nSAID=${said}\n${lines}\n`, { mode: 0o700 });
  return { command, said: () => readFile(said, 'utf8').catch(() => '') };
}

/** Hangs, with a child that hangs too, and says who both are. */
const HANGING = 'sleep 1000 &\necho $$ $! >$SAID.new\nmv $SAID.new $SAID\nwait';

/** Resolves when what the hook said of itself and its child is no process any more. */
async function bothGone({ said }: World): Promise<void> {
  const pids = (await until('the hook to begin', said)).trim().split(' ').map(Number);
  assert.equal(pids.length, 2);
  for (const pid of pids) await until(`process ${pid} to end`, () => isGone(pid));
}

async function isGone(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // Whoever inherits it may take its time to notice.
  return state === null || /\) Z /.test(state);
}

const failsAs = (message: string) => (error: unknown) => {
  assert.ok(error instanceof AcmeError, String(error));
  assert.deepEqual([error.step, error.message], ['hook', message]);
  return true;
};

test('a hook that hangs is killed with its children, and the error names what it was to do', async (t) => {
  const world = await hookOf(t, HANGING);
  const limit = 2_000;
  const { add, remove } = dnsHook({ command: world.command, milliseconds: limit });
  const failed = (action: string) =>
    failsAs(`the DNS hook failed to ${action} the record ${RECORD}: it did not end within 2 s`);
  await assert.rejects(add(NAME, 'token', 'value', never()), failed('add'));
  await bothGone(world);
  await assert.rejects(remove(NAME, 'token', 'value'), failed('remove'));
  await bothGone(world);
});

test('a hook ends with its order, and none begins after it', async (t) => {
  const world = await hookOf(t, HANGING);
  const ending = new AbortController();
  const { add } = dnsHook({ command: world.command });
  const adding = add(NAME, 'token', 'value', ending.signal);
  const rejected = assert.rejects(
    adding,
    failsAs(`the DNS hook failed to add the record ${RECORD}: the order is over`),
  );
  await until('the hook to begin', world.said);
  ending.abort();
  await rejected;
  await bothGone(world);
  await assert.rejects(add(NAME, 'token', 'value', ending.signal), { name: 'AbortError' });
});

test('a hook that still removes a record when the Ingress has ended is killed', async (t) => {
  const world = await hookOf(t, HANGING);
  const { remove, end } = dnsHook({ command: world.command });
  const how = `the DNS hook failed to remove the record ${RECORD}: the Ingress ended`;
  const rejected = assert.rejects(remove(NAME, 'token', 'value'), failsAs(how));
  await until('the hook to begin', world.said);
  end();
  await rejected;
  await bothGone(world);
});

test('a hook that cannot be run, fails, or is killed says so', async (t) => {
  const addBy = (command: string) => dnsHook({ command }).add(NAME, 'token', 'value', never());
  await assert.rejects(addBy('/nowhere/hook'), failsAs('the DNS hook cannot be run: ENOENT'));
  const failing = await hookOf(t, 'exit 7');
  await assert.rejects(addBy(failing.command), failsAs(`the DNS hook failed to add the record ${RECORD}: exit code 7`));
  const killed = await hookOf(t, 'kill -9 $$');
  await assert.rejects(
    addBy(killed.command),
    failsAs(`the DNS hook failed to add the record ${RECORD}: signal SIGKILL`),
  );
});
