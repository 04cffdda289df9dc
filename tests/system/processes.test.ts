// The platform is processes of their own under a supervisor: what each knows, and that none is left alone or out of order.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import * as path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { processTree } from '../../bench/platform/process-memory.ts';
import { publish } from '../chaos/lifecycle-operations.ts';
import { openBackend } from '../support/backend.ts';
import { registerAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import {
  killPart,
  PARTS,
  type PlatformPlace,
  type PlatformProcess,
  partOf,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { writtenMemory } from '../support/sweep.ts';
import { until } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
});
afterEach(async () => {
  await platform?.stop();
  platform = undefined;
});
after(() => place.remove());

function health(): Promise<{ readonly status: number }> {
  const headers = { host: new URL(place.origin).host };
  return rawRequest({ port: place.port, path: '/v1/health', headers });
}

/** Its output comes over a pipe, after the state it describes. */
function saysSoon(line: RegExp): Promise<true> {
  return until(`${line} in the output`, () => line.test(platform?.output() ?? ''));
}

async function pidOf(name: (typeof PARTS)[number]): Promise<number> {
  const { pid } = await partOf(place, name);
  assert.ok(pid !== null);
  return pid;
}

function untilGone(pids: readonly number[]): Promise<true> {
  const alive = (pid: number) => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  return until('every process to be gone', () => !pids.some(alive));
}

test('no secret is in the arguments or the environment of a part, and the node knows neither database nor master key', async () => {
  platform = await startPlatform(place);
  const masterKey = readFileSync(path.join(place.dataDirectory, 'master.key'), 'utf8').trim();
  const password = readFileSync(path.join(place.dataDirectory, 'postgres', 'password'), 'utf8').trim();
  const secrets = { masterKey, password };
  for (const pid of processTree(platform.pid)) {
    for (const file of ['cmdline', 'environ']) {
      const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
      for (const [name, secret] of Object.entries(secrets))
        assert.ok(!text.includes(secret), `the ${name} is in ${file} of process ${pid}`);
    }
  }
  for (const name of ['Core', 'Node'] as const) {
    const environment = readFileSync(`/proc/${await pidOf(name)}/environ`, 'utf8');
    assert.ok(environment.includes('PATH='));
    assert.doesNotMatch(environment, /PLATFORM_/, `${name} is configured over its channel`);
  }
  const memory = await writtenMemory(await pidOf('Node'));
  assert.ok(memory.includes(Buffer.from('/v1/node/assignments')), 'the memory of the node can be searched');
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(!memory.includes(Buffer.from(secret)), `the ${name} is in the memory of the node`);
  }
  assert.ok(!memory.includes(Buffer.from(masterKey, 'base64url')), 'the bytes of the master key are in the node');
});

test('each part that is killed is restarted and said, the others go on, and an app serves afterwards', async () => {
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'steady');
  const { appId } = await publish(account, 'steady-app');
  await account.browser.take('/v1/apps', { body: { appId } });
  for (const name of PARTS) {
    const others = await Promise.all(PARTS.filter((one) => one !== name).map(pidOf));
    await killPart(place, name);
    await saysSoon(new RegExp(`^${name} was killed by SIGKILL\\. It is being restarted\\.$`, 'm'));
    await saysSoon(new RegExp(`^${name} runs again after \\d+\\.\\d s\\.$`, 'm'));
    assert.deepEqual(await Promise.all(PARTS.filter((one) => one !== name).map(pidOf)), others);
    await until(`the app to serve after ${name} was killed`, async () => {
      if ((await account.fetch('/v1/apps')).status !== 200) return false;
      const ask = await openBackend(place, account, appId);
      return (await ask('/')).status === 200;
    });
  }
});

test('a signal to every process at once, as a terminal or a service manager sends it, ends the platform in order', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    platform = await startPlatform(place);
    const tree = processTree(platform.pid);
    // Ctrl-C does not reach PostgreSQL, which would end its sessions at once.
    const parts = await Promise.all(PARTS.filter((name) => signal !== 'SIGINT' || name !== 'PostgreSQL').map(pidOf));
    for (const pid of parts) process.kill(pid, signal);
    await platform.kill(signal);
    await untilGone(tree);
    assert.equal(await platform.stop(), 0);
    assert.doesNotMatch(platform.output(), /was killed by|ended with|while stopping|took too long/);
    assert.match(platform.output(), new RegExp(`Stopping \\(${signal}\\)`));
  }
});

test('when the supervisor is killed everything ends, and a later start serves', async () => {
  platform = await startPlatform(place);
  const tree = processTree(platform.pid);
  await platform.kill('SIGKILL');
  await untilGone(tree);
  platform = await startPlatform(place);
  assert.equal((await health()).status, 200);
});

test('a part that cannot be restarted ends the platform with a sentence and exit code 1', async () => {
  // The supervisor keeps the port for browsers; that for other machines core opens by itself.
  const port = await freePort();
  const environment = { ...place.environment, PLATFORM_LINK_LISTEN: `127.0.0.1:${port}` };
  platform = await startPlatform({ ...place, environment });
  const tree = processTree(platform.pid);
  const held = net.createServer().unref();
  process.kill(await pidOf('Core'), 'SIGKILL');
  // Another program takes its port before core is back.
  await until('the port to be free', async () => {
    held.listen(port, '127.0.0.1');
    return once(held, 'listening').then(
      () => true,
      () => false,
    );
  });
  try {
    const running = platform;
    await until('the supervisor to give up', () => /in 5 attempts/.test(running.output()), 90_000);
    await untilGone(tree);
    assert.match(
      running.output(),
      /platform: Core could not be restarted in 5 attempts\..*Port \d+ on 127\.0\.0\.1 is used by another program\./,
    );
    assert.equal(await running.stop(), 1);
    assert.equal(existsSync(path.join(place.dataDirectory, 'run', 'instance.json')), false);
  } finally {
    held.close();
  }
});
