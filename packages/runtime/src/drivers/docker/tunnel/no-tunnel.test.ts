// Where a machine can give no tunnel, the status or the refusal says why and what to do.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LaunchError, StartRefused } from '../../driver.ts';
import type { Container } from '../engine.ts';
import { enterNetwork } from './enter-network.ts';
import { noTunnel } from './tunnel-files.ts';

test('each reason for which there is no tunnel is one sentence with what to do', (t) => {
  const sysctls = mkdtempSync(join(tmpdir(), 'ps-'));
  t.after(() => rmSync(sysctls, { recursive: true }));
  const means = { device: '/dev/null', sysctls, processor: 'x64', find: (name: string) => `/usr/bin/${name}` };
  assert.equal(noTunnel(means), undefined);
  assert.match(noTunnel({ ...means, device: '/dev/nothing' }) ?? '', /has no \/dev\/nothing\. Load the kernel module/);
  assert.match(noTunnel({ ...means, processor: 's390x' }) ?? '', /not supported on s390x/);
  const find = (name: string) => (name === 'ip' ? undefined : name);
  assert.equal(noTunnel({ ...means, find }), 'ip is not installed. Debian: apt-get install iproute2.');
  for (const folder of ['user', 'kernel']) mkdirSync(join(sysctls, folder));
  writeFileSync(join(sysctls, 'user', 'max_user_namespaces'), '15000\n');
  writeFileSync(join(sysctls, 'kernel', 'unprivileged_userns_clone'), '1\n');
  assert.equal(noTunnel(means), undefined);
  writeFileSync(join(sysctls, 'kernel', 'unprivileged_userns_clone'), '0\n');
  assert.match(noTunnel(means) ?? '', /Set the sysctl kernel\.unprivileged_userns_clone to more than 0\.$/);
});

test('a container whose first step was refused is not started again, and one that ended otherwise may be', async () => {
  let closed = 0;
  const start = (ExitCode: number) => {
    // Only what is asked of it.
    const container = { inspect: async () => ({ Id: 'x', State: { Running: false, Status: 'exited', ExitCode } }) };
    const files = { folder: '', device: '', waiting: new Promise<never>(() => undefined), close: () => void closed++ };
    const firewall = { pin: () => Promise.reject(new Error('It has no interface.')) };
    return enterNetwork(container as unknown as Container, firewall, { files, uid: 1 });
  };
  await assert.rejects(start(1), (error) => error instanceof StartRefused && /user namespace/.test(error.message));
  await assert.rejects(start(4), (error) => error instanceof LaunchError && /ended with 4: wait/.test(error.detail));
  assert.equal(closed, 2);
});
