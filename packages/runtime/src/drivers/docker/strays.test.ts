// Processes that an engine has lost are ended with their cell, and no others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
  const script = 'mount --bind "$0/resolv.conf" /etc/hostname; trap "" TERM; echo there; while :; do sleep 60; done';
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
