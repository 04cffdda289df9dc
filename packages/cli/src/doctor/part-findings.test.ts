// Promises of the doctor about parts: those that run are named, and one that is being restarted is a fault, though core answers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { PlatformConfig } from '@platform/core/config';
import { announceInstance } from '../local/instance.ts';
import { partFindings } from './part-findings.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'parts-'));
const core = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
before(() => once(core, 'listening'));
after(() => {
  core.close();
  rmSync(dataDirectory, { recursive: true });
});

function look(pids: Readonly<Record<string, number | null>>) {
  const parts = Object.entries(pids).map(([name, pid]) => ({
    name,
    pid,
    since: '2026-11-28T12:00:00.000Z',
    restarts: 1,
    lastExit: `${name} was killed by SIGKILL.`,
  }));
  announceInstance(dataDirectory, { pid: process.pid, databaseUrl: '', origin: 'http://shell.test', parts });
  const { port } = core.address() as AddressInfo;
  const place = { origin: 'http://shell.test', listenHost: '127.0.0.1', listenPort: port, dataDirectory };
  return partFindings(place as PlatformConfig);
}

test('parts that run are named in one line', async () => {
  const { pid } = process;
  assert.deepEqual(await look({ Core: pid, Node: pid }), [
    { check: 'parts', verdict: 'good', found: 'Core, Node run' },
  ]);
});

test('one that is being restarted is a fault beside a core that answers', async () => {
  const [finding, ...others] = await look({ Core: process.pid, Node: null });
  assert.deepEqual([finding?.verdict, others], ['bad', []]);
  assert.match(finding?.found ?? '', /^Node is being restarted\. Last exit: .*SIGKILL/);
});
