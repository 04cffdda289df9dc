// A command that needs the platform says whether it does not run, or is just restarting a part.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PlatformConfig } from '@platform/core/config';
import { announceInstance } from './instance.ts';
import { requireRunning } from './require-running.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'instance-'));
after(() => rmSync(dataDirectory, { recursive: true }));

// Nothing listens on the discard port.
const place = { origin: 'http://shell.test:9', listenHost: '127.0.0.1', listenPort: 9, dataDirectory };
const required = () => requireRunning(place as PlatformConfig);

function announce(pid: number, corePid: number | null = null): void {
  const since = '2026-11-21T12:00:00.000Z';
  const core = { name: 'Core', pid: corePid, since, restarts: 1, lastExit: 'Core was killed by SIGKILL.' };
  announceInstance(dataDirectory, { pid, databaseUrl: '', origin: place.origin, parts: [core] });
}

test('without a platform the command says how to start it', async () => {
  await assert.rejects(required(), { code: 'platform_not_running' });
});

test('while a part is being restarted the command says which, and to try again', async () => {
  announce(process.pid);
  await assert.rejects(required(), {
    code: 'platform_restarting',
    message: /^Core is being restarted\. .*SIGKILL.*Try again/,
  });
});

test('when core runs and does not answer, the command does not say to start another', async () => {
  announce(process.pid, process.pid);
  await assert.rejects(required(), { code: 'platform_not_answering' });
});

test('what a killed platform left behind is not believed', async () => {
  announce(2 ** 22 + 1);
  await assert.rejects(required(), { code: 'platform_not_running' });
});
