// What comes out of a sandbox before its workload runs is taken as hostile: one listener, once, in time, or no start.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type net from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makePlace } from '../../../test-support/place.ts';
import { shakeHands } from './handshake.ts';
import { openInbound } from './inbound-socket.ts';

/** The code of a compromised bootstrap, which may use `listener` and `send`. */
interface Attempt {
  readonly what: string;
  readonly code: string;
  /** Whether a Gateway may have been opened: only for a listener that came as it should. */
  readonly gatewayOpens: boolean;
  readonly fails: RegExp;
}

const attempts: readonly Attempt[] = [
  {
    what: 'sends a message without a listener',
    code: `send({ kind: 'gateway-listener' });`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  {
    what: 'sends a listener under another name',
    code: `send({ kind: 'go' }, listener);`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  {
    what: 'sends a string',
    code: `send('gateway-listener', listener);`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  {
    what: 'sends null',
    code: `send(null, listener);`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  {
    what: 'sends a connection instead of a listener',
    code: `const socket = net.connect(listener.address().port, '127.0.0.1', () => send({ kind: 'gateway-listener' }, socket));`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  {
    what: 'sends two listeners',
    code: `send({ kind: 'gateway-listener' }, listener); send({ kind: 'gateway-listener' }, listener);`,
    gatewayOpens: true,
    fails: /ended before the workload ran/,
  },
  {
    what: 'sends a great deal',
    code: `send({ kind: 'x', much: 'x'.repeat(8 * 1024 * 1024) });`,
    gatewayOpens: false,
    fails: /something other than its listener/,
  },
  { what: 'says nothing', code: '', gatewayOpens: false, fails: /was not ready in time/ },
  {
    what: 'hangs up',
    code: `process.disconnect(); setTimeout(() => process.exit(0), 10);`,
    gatewayOpens: false,
    fails: /ended before the workload ran/,
  },
  { what: 'ends with success', code: 'process.exit(0);', gatewayOpens: false, fails: /ended before the workload ran/ },
];

describe('a hostile bootstrap', () => {
  const place = makePlace();
  const run = join(place.folder, 'run');
  mkdirSync(run);
  after(() => place.remove());

  for (const [index, { what, code, gatewayOpens, fails }] of attempts.entries()) {
    test(`that ${what} does not get to run a workload`, async (t) => {
      const script = join(place.folder, `hostile-${index}.mjs`);
      writeFileSync(
        script,
        `import net from 'node:net';
        const send = (message, handle) => process.send(message, handle, () => {});
        process.once('message', () => {
          const listener = net.createServer().listen(0, '127.0.0.1', () => { ${code} });
        });
        setInterval(() => {}, 1000);`,
      );
      const child = start(script);
      t.after(() => child.kill('SIGKILL'));
      const exit = once(child, 'exit');
      const inbound = await openInbound(join(run, `${index}.sock`));
      t.after(() => inbound.discard());
      let opened = false;
      const options = {
        key: 'hostile',
        app: place.folder,
        entry: { path: 'index.mjs', runtime: 'node' as const },
        resources: { memoryMiB: 64, cpus: 1, pids: 16 },
        port: 8080,
        environment: { SECRET: 'pgw_secret' },
        gatewayUrls: {},
        async attachGateway(listener: net.Server) {
          opened = true;
          listener.close();
          // The second message is on its way: the start must end by it and not by luck.
          await exit;
        },
        deadline: what === 'says nothing' ? 300 : 15_000,
      };
      await assert.rejects(shakeHands('bubblewrap', options, inbound, child, exit), fails);
      assert.equal(opened, gatewayOpens);
    });
  }
});

function start(script: string): ChildProcess {
  return spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
}
