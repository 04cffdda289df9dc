// Why no sandbox can be made, for the settings that distributions and containers have.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { causesOf } from './causes.ts';

const NO_TOOLS = { bubblewrap: undefined, unshare: undefined, setpriv: undefined };
const TOOLS = { ...NO_TOOLS, unshare: '/usr/bin/unshare', setpriv: '/usr/bin/setpriv' };
const REFUSED = [
  'unshare: The launcher ended before the workload ran. unshare: unshare failed: Operation not permitted',
];

interface Machine {
  readonly files: Readonly<Record<string, string>>;
  readonly failures?: readonly string[];
  readonly tools?: Parameters<typeof causesOf>[1]['tools'];
  readonly root?: boolean;
}

function causesAt({ files, failures = REFUSED, tools = TOOLS, root = false }: Machine): readonly string[] {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(proc, name)), { recursive: true });
      writeFileSync(join(proc, name), text);
    }
    // The root of the file system can be entered by everybody.
    return causesOf(failures, { dataDirectory: '/', tools, root, proc });
  } finally {
    rmSync(proc, { recursive: true });
  }
}

test('a setting of the kernel is named with its cure', () => {
  const off = causesAt({ files: { 'sys/user/max_user_namespaces': '0\n', 'self/status': 'Seccomp:\t2\n' } });
  assert.match(off.join('\n'), /^User namespaces are turned off: sysctl -w user\.max_user_namespaces=15000$/);
  const debian = causesAt({ files: { 'sys/kernel/unprivileged_userns_clone': '0\n' } });
  assert.match(debian.join('\n'), /^User namespaces are only for root: sysctl -w kernel\.unprivileged_userns_clone=1/);
});

test('AppArmor of Ubuntu holds up ordinary users alone', () => {
  const files = { 'sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' };
  assert.match(causesAt({ files }).join('\n'), /^AppArmor prevents ordinary users/);
  assert.doesNotMatch(causesAt({ files, root: true }).join('\n'), /AppArmor/);
});

test('the filter of a container is named with what lets the container make sandboxes', () => {
  const filtered = { 'sys/user/max_user_namespaces': '15000\n', 'self/status': 'Name:\tnode\nSeccomp:\t2\n' };
  assert.match(
    causesAt({ files: filtered }).join('\n'),
    /^A seccomp filter refuses it, .*--security-opt seccomp=unconfined/,
  );
  const other = ['bubblewrap: the network cannot be configured'];
  assert.deepEqual(causesAt({ files: filtered, failures: other }), [], 'something else fails');
});

test('what is refused for no known reason has a next step too', () => {
  assert.match(
    causesAt({ files: { 'self/status': 'Seccomp:\t0\n' } }).join('\n'),
    /\(dmesg\), or run the platform as root\.$/,
  );
});

test('where the programs are missing, they are named and nothing else', () => {
  const [cause, ...none] = causesAt({ files: {}, tools: NO_TOOLS });
  assert.match(cause ?? '', /^Neither bubblewrap 0\.8 nor unshare and setpriv/);
  assert.deepEqual(none, []);
});
