// What the sandbox of util-linux needs of the machine: nothing of iproute2, busybox or net-tools.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../find-program.ts';
import { unshareArguments } from './unshare.ts';

const NOBODY = 65_534;

test('brings up the loopback device of an ordinary user on a machine without ip, ifconfig and busybox', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-unshare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  const programs = join(folder, 'bin');
  const stage = join(folder, 'stage');
  for (const made of [programs, stage]) mkdirSync(made);
  for (const name of ['setpriv', 'unshare', 'mount', 'mkdir', 'cat']) {
    symlinkSync(findProgram(name) ?? assert.fail(`${name} is missing`), join(programs, name));
  }
  const [program = '', ...rest] = unshareArguments({
    mounts: [{ kind: 'tmpfs', target: '/tmp', bytes: 65_536, mode: '1777' }],
    stage,
    privilege: { kind: 'user-namespace' },
    prepare: ['cat /sys/class/net/lo/flags', 'exit'],
    filterLoader: [],
    command: [],
  });
  // As root the file would be the caller's in any case.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const ended = spawnSync(program, rest, { cwd: '/', env: { PATH: programs }, encoding: 'utf8', ...user });
  assert.deepEqual([ended.stdout, ended.stderr, ended.status], ['0x9\n', '', 0]);
});
