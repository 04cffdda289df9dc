// What a workload is given (specification 2.2), Node as its author knows it, and that it is given nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Suite } from './suite.ts';

/** In the Runtime's own environment during the suite; must never be seen inside. */
export const ENVIRONMENT_CANARY = 'canary-of-the-runtime-environment';

export function environmentBehaviour({ subject, neighbour }: Suite): void {
  test('a workload gets exactly the environment of the specification, and what its manifest may add', async () => {
    const { assignment, gatewayCredential, appCapability } = subject();
    const seen = await subject().run(() => ({ ...process.env }));
    const { HOME, PATH, PLATFORM_API_URL, PLATFORM_VOLUME_DIR, PORT, ...rest } = seen;
    assert.deepEqual(rest, {
      COLOUR: 'blue',
      LANG: 'C.UTF-8',
      PLATFORM_APP_CAPABILITY: appCapability,
      PLATFORM_APP_ORIGIN: assignment.appOrigin,
      PLATFORM_GATEWAY_TOKEN: gatewayCredential,
      TZ: 'UTC',
    });
    assert.match(PLATFORM_API_URL ?? '', /^http:\/\/[\w.-]+:\d+$/);
    assert.equal(HOME, PLATFORM_VOLUME_DIR);
    assert.match(PLATFORM_VOLUME_DIR ?? '', /^\//);
    assert.match(PATH ?? '', /^(\/[\w/-]+)(:\/[\w/-]+)*$/);
    assert.ok(Number(PORT) > 0);
  });

  test('no secret of the platform is in any process, file or mount that a workload can see', async () => {
    const secrets = [
      ENVIRONMENT_CANARY,
      subject().coreServiceCredential,
      neighbour().gatewayCredential,
      neighbour().coreServiceCredential,
      neighbour().appCapability,
    ];
    const found = await subject().run(({ fs }, words) => {
      const texts = fs
        .readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((pid) => ['environ', 'cmdline', 'mountinfo', 'cgroup'].map((file) => `/proc/${pid}/${file}`))
        .concat('/proc/mounts', '/proc/net/unix', '/proc/cmdline', '/proc/keys')
        .flatMap((file) => {
          try {
            return [{ file, text: fs.readFileSync(file, 'latin1') }];
          } catch {
            return [];
          }
        });
      return {
        read: texts.map(({ file }) => file),
        with: texts.flatMap(({ file, text }) => (words.some((word) => text.includes(word)) ? [file] : [])),
        // Proves that the search finds what is there: its own program.
        works: texts.some(({ file, text }) => file.endsWith('/cmdline') && text.includes('node')),
      };
    }, secrets);
    assert.ok(found.works, `read ${found.read.join(', ')}`);
    assert.deepEqual(found.with, []);
  });

  test('a workload is Node as its author knows it: children, workers, memory shared among them', async () => {
    const seen = await subject().run(async ({ childProcess, workerThreads, os, fs }) => {
      fs.writeFileSync(`${os.tmpdir()}/child.mjs`, `process.send('child lives'); process.disconnect();`);
      return {
        forked: await new Promise((resolve) => {
          const child = childProcess.fork(`${os.tmpdir()}/child.mjs`);
          child.once('message', resolve);
          child.once('error', (error) => resolve(String(error)));
        }),
        worker: await new Promise((resolve) => {
          const code = 'require("node:worker_threads").parentPort.postMessage("worker lives")';
          const worker = new workerThreads.Worker(code, { eval: true });
          worker.once('message', resolve);
          worker.once('error', (error) => resolve(String(error)));
        }),
        version: Number(process.versions.node.split('.')[0]),
        channel: typeof process.send,
        execArgv: process.execArgv.filter((argument) => argument.includes('bootstrap')),
      };
    });
    assert.deepEqual(seen, {
      forked: 'child lives',
      worker: 'worker lives',
      version: 24,
      channel: 'undefined',
      execArgv: [],
    });
  });
}
