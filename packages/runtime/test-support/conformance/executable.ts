// A workload of runtime "binary": an executable of the package has what a script has, ends as a script does, and what
// cannot be one is refused in words. The executable is a static one of ours that becomes busybox, which runs a script.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { becoming, elf, staticBusybox } from '../../../../tests/support/elf.ts';
import { until } from '../../../../tests/support/wait.ts';
import { StartRefused } from '../../src/drivers/driver.ts';
import { type ConformanceBench, openBench, type Started, type StartRequest } from './bench.ts';
import { ENVIRONMENT_CANARY } from './environment.ts';
import { type Leftovers, openLeftovers } from './leftovers.ts';
import type { DriverUnderTest } from './under-test.ts';

const PROGRAM = becoming('/app/busybox', ['sh', '/app/main.sh']);
const BINARY = { runtime: 'binary', entry: 'bin/the server', volume: true };
const CGI = `#!/app/busybox sh\nprintf 'content-type: text/plain\\r\\n\\r\\n'\n`;

export function executableBehaviour(under: DriverUnderTest): void {
  const busybox = staticBusybox();
  const skip =
    busybox === undefined || process.arch !== 'x64' ? 'needs busybox-static, and a processor of x86-64' : undefined;
  let bench: ConformanceBench;
  let installation: Assignment;
  let leftovers: Leftovers;
  before(async () => {
    if (skip !== undefined) return;
    process.env.PLATFORM_CANARY = ENVIRONMENT_CANARY;
    bench = await openBench(under);
    installation = bench.installation(BINARY);
    // Its volume is there from now on.
    await (await bench.start(request('exit 0'))).ended();
    leftovers = openLeftovers(under, bench, installation.installationId);
  });
  after(async () => {
    await bench?.close();
    bench?.place.remove();
    delete process.env.PLATFORM_CANARY;
  });

  const request = (script: string, files: Readonly<Record<string, Buffer>> = {}): StartRequest => ({
    installation,
    files: {
      'bin/the server': PROGRAM,
      busybox: busybox ?? Buffer.alloc(0),
      'main.sh': Buffer.from(`alias busybox=/app/busybox\n${script}\n`),
      ...files,
    },
  });

  /** What a failed test leaves running is ended after it. */
  async function start(t: TestContext, ...given: Parameters<typeof request>): Promise<Started> {
    const started = await bench.start(request(...given));
    let over = false;
    const ending = <Result>(end: Promise<Result>): Promise<Result> => {
      over = true;
      return end;
    };
    t.after(() => (over ? undefined : started.stop(0)));
    return { ...started, stop: (grace) => ending(started.stop(grace)), ended: () => ending(started.ended()) };
  }
  const says = (started: Started, word: string) =>
    until(`“${word}” of it`, () => started.output().includes(word), bench.limit(20_000));

  test('an executable has the environment, folders, volume and Gateway of a script, and is asked to end like one', {
    skip,
  }, async (t) => {
    const started = await start(
      t,
      `busybox ls -l /proc/$$/fd
       trap 'echo bye; exit 3' TERM
       busybox httpd -f -p "$PORT" -h /app/www & wait`,
      {
        'www/cgi-bin/look': Buffer.from(
          `${CGI}pwd; busybox tr '\\0' '\\n' </proc/$PPID/environ; busybox id -u; busybox grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
           echo stays >"$PLATFORM_VOLUME_DIR/file" && busybox cat "$PLATFORM_VOLUME_DIR/file" && busybox rm "$PLATFORM_VOLUME_DIR/file"
           echo no 2>/dev/null >/app/file || echo sealed`,
        ),
        // Everything that it sees of other processes, that beside it included.
        'www/cgi-bin/others': Buffer.from(
          `${CGI}for one in /proc/[0-9]*; do busybox cat $one/environ $one/cmdline; busybox readlink $one/fd/*; done 2>/dev/null`,
        ),
        'www/cgi-bin/core': Buffer.from(
          `${CGI}busybox wget -q -O - --header "authorization: Bearer $PLATFORM_GATEWAY_TOKEN" "$PLATFORM_API_URL/v1/services/apps"`,
        ),
      },
    );
    await started.listens();
    const seen = (await started.ask('/cgi-bin/look')).split('\n');
    const variables = new Map(seen.map((line) => line.split('=', 2) as [string, string]));
    assert.equal(variables.get('PLATFORM_GATEWAY_TOKEN'), started.gatewayCredential);
    assert.equal(variables.get('PLATFORM_APP_ORIGIN'), started.assignment.appOrigin);
    assert.equal(variables.get('PORT'), String(started.assignment.workload.port));
    assert.deepEqual(
      [...variables.keys()].filter((name) => /BOOTSTRAP|NODE_/.test(name)),
      [],
    );
    for (const line of [
      '/app/www/cgi-bin',
      'stays',
      'sealed',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
      'CapBnd:\t0000000000000000',
    ])
      assert.ok(
        seen.includes(line) || (under.can.ownKernel === true && line.startsWith('Seccomp')),
        `${line}: ${seen}`,
      );
    assert.equal(await started.ask('/cgi-bin/core'), 'core answered');
    assert.equal(bench.core.seen.at(-1)?.authorization, `Bearer ${started.coreServiceCredential}`);
    const others = await started.ask('/cgi-bin/others');
    assert.ok(others.includes('httpd'), others);
    for (const secret of [started.coreServiceCredential, ENVIRONMENT_CANARY])
      assert.equal(others.includes(secret), false, secret);
    // Besides its input and outputs, the script that the shell reads, and what the platform itself inherited.
    const open = [...started.output().matchAll(/ (\d+) -> (\S+)/g)].filter(([, descriptor]) => Number(descriptor) > 2);
    assert.deepEqual(open.filter(([, , to]) => to !== '/dev/null' && to !== '/app/main.sh').map(String), []);
    await leftovers.findsWhatRuns();
    const exit = await started.stop();
    assert.deepEqual([exit.code, exit.reason], [3, 'Exited with code 3.']);
    assert.match(started.output(), /bye/);
    await leftovers.nothingLeft();
  });

  test('an executable that refuses to end is killed, with everything it has started', { skip }, async (t) => {
    const started = await start(
      t,
      `trap 'echo no' TERM; (trap '' TERM; busybox setsid busybox sleep 1000) & echo up
       while :; do busybox sleep 1000 & wait; done`,
    );
    await says(started, 'up');
    // A grace that outlasts any stall of this machine, until it has refused; then a short one.
    const asked = started.instance.stop(bench.limit(120_000));
    await says(started, 'no');
    assert.equal((await started.stop(bench.limit(1_000))).signal, 'SIGKILL');
    await asked;
    await leftovers.nothingLeft();
  });

  test('an executable that goes into the background has ended, and so has what it left there', { skip }, async (t) => {
    const started = await start(t, `busybox setsid busybox sleep 1000 & echo out; echo err >&2; exit 4`);
    const exit = await started.ended();
    assert.deepEqual([exit.code, exit.reason], [4, 'Exited with code 4.']);
    assert.deepEqual([started.output(), started.errors()], ['out\n', 'err\n']);
    await leftovers.nothingLeft();
  });

  test('an executable that ends what runs beside it ends itself', { skip }, async (t) => {
    const exit = await (await start(t, 'busybox kill -KILL $PPID; busybox kill -STOP $PPID; exit 5')).ended();
    // The first process of a container cannot be ended or stopped from inside.
    assert.ok(exit.code === 5 || exit.signal === 'SIGKILL', exit.reason);
    await leftovers.nothingLeft();
  });

  test('an executable that takes too much memory is killed, and said to be', { skip }, async (t) => {
    if (bench.driver.report.limits.memory === false) return t.skip('not enforced here, and the status says so');
    const exit = await (await start(t, 'exec /app/busybox tail /dev/zero')).ended();
    assert.equal(exit.reason, 'Exceeded its memory limit of 128 MiB and was killed.');
    await leftovers.nothingLeft();
  });

  test('an executable that a signal ends is said to be, whatever the signal', { skip }, async (t) => {
    const exit = await (await start(t, 'kill -ABRT $$')).ended();
    assert.deepEqual([exit.signal, exit.reason], ['SIGABRT', 'Killed by SIGABRT.']);
    await leftovers.nothingLeft();
  });

  const foreign = process.arch === 'x64' ? 'arm64' : 'x64';
  const refused: [string, Buffer, RegExp][] = [
    [
      'for another processor',
      elf({ machine: foreign }),
      /compiled for aarch64, and the processor of this machine is x86-64/,
    ],
    ['that is a script', Buffer.from('#!/bin/sh\nexit 0\n'), /is a script/],
    ['that needs a loader', elf({ loader: '/app/ld.so' }), /is linked dynamically, by \/app\/ld\.so/],
    ['that is damaged', elf().subarray(0, 80), /is damaged/],
  ];
  for (const [what, file, reason] of refused) {
    test(`an executable ${what} is refused in one sentence`, { skip }, async (t) => {
      await assert.rejects(start(t, '', { 'bin/the server': file }), (error) => {
        assert.ok(error instanceof StartRefused);
        assert.match(error.message, /^workload\/bin\/the server is [^\n]*\.$/);
        assert.match(error.message, reason);
        return true;
      });
    });
  }
}
