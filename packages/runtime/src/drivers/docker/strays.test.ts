// Processes that an engine has lost are ended with their cell, its own shims too, and no others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findProgram } from '../../find-program.ts';
import { endShims, noteContainer } from './shims.ts';
import { endStrays } from './strays.ts';

const skip = process.getuid?.() !== 0 && 'mounting needs root: run the tests as root';

function makeCell(base: string, id: string): string {
  const folder = join(base, 'platform-docker', 'own1', 'cells', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'resolv.conf'), '');
  return folder;
}

/** A process that sees a file of the cell in place of another, as its container would; it ignores being asked to end. */
async function straying(context: TestContext, folder: string) {
  const script = 'mount --bind "$0/resolv.conf" /etc/hostname; trap "" TERM; echo there; while :; do sleep 0.05; done';
  const child = spawn('unshare', ['--mount', '--', 'sh', '-euc', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('what still runs in a cell is ended, and what runs in another is not', { skip }, async (context) => {
  const base = mkdtempSync(join(tmpdir(), 'strays-'));
  context.after(() => rmSync(base, { recursive: true, force: true }));
  const [lost, other] = [makeCell(base, 'aaaaaaaa'), makeCell(base, 'bbbbbbbb')];
  const [stray, neighbour] = [await straying(context, lost), await straying(context, other)];
  const ended = once(stray, 'exit');
  await endStrays(lost);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(neighbour.exitCode ?? neighbour.signalCode, null);
  await endStrays(lost);
});

test('a cell whose folder is gone is known all the same', { skip }, async (context) => {
  const base = mkdtempSync(join(tmpdir(), 'strays-'));
  const folder = makeCell(base, 'cccccccc');
  const stray = await straying(context, folder);
  rmSync(base, { recursive: true, force: true });
  const ended = once(stray, 'exit');
  await endStrays(folder);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
});

test('what runs in a cell may first end in its own way, if there is time', { skip }, async (context) => {
  const base = mkdtempSync(join(tmpdir(), 'strays-'));
  context.after(() => rmSync(base, { recursive: true, force: true }));
  const folder = makeCell(base, 'dddddddd');
  const script = `mount --bind "$0/resolv.conf" /etc/hostname
    trap 'exit 3' TERM; echo there; while :; do sleep 0.02; done`;
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--', 'sh', '-euc', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const ended = once(child, 'exit');
  await endStrays(folder, { grace: 20_000 });
  assert.deepEqual(await ended, [3, null]);
});

test('a shim of the cell is ended, and neither another nor who pretends to be one', { skip }, async (context) => {
  const base = mkdtempSync(join(tmpdir(), 'shims-'));
  context.after(() => rmSync(base, { recursive: true, force: true }));
  const shim = join(base, 'containerd-shim-runc-v2');
  const shell = findProgram('sh');
  assert.ok(shell !== undefined);
  copyFileSync(shell, shim);
  const beside = async (cell: string, program: string) => {
    const container = `${cell}0123`;
    noteContainer(makeCell(base, cell), container);
    const words = ['-c', 'read line', shim, '-namespace', 'moby', '-id', container];
    const child = spawn(program, words, { argv0: shim, stdio: ['pipe', 'ignore', 'ignore'] });
    context.after(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    return child;
  };
  const [lost, other, pretender] = [
    await beside('eeeeeeee', shim),
    await beside('ffffffff', shim),
    await beside('eeeeeeee', shell),
  ];
  const ended = once(lost, 'exit');
  await endShims(makeCell(base, 'eeeeeeee'));
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  for (const { exitCode, signalCode } of [other, pretender]) assert.equal(exitCode ?? signalCode, null);
});
