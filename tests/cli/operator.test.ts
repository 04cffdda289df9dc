// The commands of an operator against a platform as a user starts it: ps, logs, stop and start of single backends.
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { InstalledApp } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Some forty commands, each a process of its own. */
const STORY_MS = 400_000;
const LIMIT_MS = 60_000;
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((req, res) => res.end('ok')).listen(Number(process.env.PORT), () => console.log('ready to serve'));
`;

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

function spawned(args: readonly string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
    cwd: ROOT,
    env: { ...place.environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Said> {
  const child = spawned(args, more);
  let [out, error] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk.toString('utf8');
  });
  const [code] = await once(child, 'close');
  return { code, out, error };
}

/** Fails with one line on standard error. */
async function refused(args: readonly string[], pattern: RegExp, exit = 1): Promise<void> {
  const { code, out, error } = await run(args);
  assert.deepEqual([code, out], [exit, ''], error);
  assert.match(error, pattern);
  assert.equal(error.trimEnd().split('\n').length, 1, error);
}

async function withApp(account: TestAccount, appId: string, main: string): Promise<InstalledApp> {
  const manifest = testManifest(appId, { workload: { runtime: 'node', entry: 'main.mjs' } });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': main };
  const published = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest, files }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(published.status, 201, published.text);
  const { app } = await account.browser.take<{ app: InstalledApp }>('/v1/apps', { body: { appId } });
  return app;
}

interface Row {
  readonly id: string;
  readonly account: string;
  readonly appId: string;
  readonly state: string | null;
  readonly reason: string | null;
  readonly usage: { readonly memory: { readonly bytes: number | null } } | null;
}

async function rows(): Promise<Row[]> {
  const { code, out, error } = await run(['ps', '--json']);
  assert.equal(code, 0, error);
  return (JSON.parse(out) as { items: Row[] }).items;
}

test('where nothing runs, each command says so in one line', async () => {
  await refused(['ps'], /No platform answers at http:\/\/shell\.platform\.localhost:\d+ .*npm start/);
  await refused(['start', 'anna/notes'], /No platform answers/);
});

test('a wrong setting has an exit code of its own, by which a service manager does not try again', async () => {
  const wrong = await run(['ps'], { PLATFORM_LISTEN_PORT: 'x' });
  assert.equal(wrong.code, 78, wrong.error);
  assert.match(wrong.error, /PLATFORM_LISTEN_PORT is "x"/);
  const contradictory = await run(['start'], { PLATFORM_LISTEN_PORT: '9787', PLATFORM_NODE_LISTEN_PORT: '9787' });
  assert.equal(contradictory.code, 78, contradictory.error);
});

test('help and version are found as people write them', async () => {
  const [help, version, ps] = await Promise.all([run(['--help']), run(['--version']), run(['ps', '--help'])]);
  for (const args of [['-h'], ['help']]) assert.deepEqual(await run(args), help);
  for (const args of [['-v'], ['version']]) assert.deepEqual(await run(args), version);
  for (const args of [
    ['ps', '-h'],
    ['help', 'ps'],
  ])
    assert.deepEqual(await run(args), ps);
  await refused(['help', 'sp'], /Unknown command "sp" \(did you mean "ps"\?\)/, 2);
});

test('a call that cannot be understood is told in one line', async () => {
  await refused(['logs', 'anna/notes', '-n', 'all'], /number of lines/, 2);
  await refused(['stop'], /Name one backend/, 2);
});

test('an operator lists, starts, reads and stops the backends of every account', { timeout: STORY_MS }, async (t) => {
  platform = await startPlatform(place);
  const empty = await run(['ps']);
  assert.equal(empty.code, 0, empty.error);
  assert.match(
    empty.out,
    /^PostgreSQL +running for \d+ s\nCore +running for \d+ s\nNode +running for \d+ s\nIngress +running for \d+ s\n\nNo installed app has a backend\.\n$/,
  );
  const [anna, bert] = [await registerAccount(place, 'anna'), await registerAccount(place, 'bert')];
  // Of the backends that every account has, this is about none.
  for (const account of [anna, bert])
    assert.equal((await account.fetch('/v1/apps/agent', { method: 'DELETE' })).status, 204);
  await withApp(anna, 'server-one', SERVER);
  await withApp(bert, 'broken-one', 'console.error("no way");');

  await t.test('every table is there for programs too', async () => {
    const tables = [
      [['node', 'list'], 'items'],
      [['node', 'rules'], 'required'],
      [['ingress', 'list'], 'items'],
      [['account', 'invitations'], 'items'],
      [['disk'], 'volumes'],
      [['doctor'], 'items'],
    ] as const;
    for (const [args, member] of tables) {
      const { code, out, error } = await run([...args, '--json']);
      assert.equal(code, 0, error);
      assert.ok(Array.isArray(JSON.parse(out)[member]), `${args.join(' ')}: ${out}`);
      await refused([...args, '--jsno'], /./, 2);
    }
    assert.deepEqual(JSON.parse((await run(['search', 'status', '--json'])).out), { index: null });
  });

  await t.test('ps shows those of one account, one app, one node, one state', async () => {
    const shown = async (...args: string[]) => {
      const { items } = JSON.parse((await run(['ps', ...args, '--json'])).out) as { items: Row[] };
      return items.map(({ appId }) => appId);
    };
    assert.deepEqual(await shown('Anna'), ['server-one']);
    assert.deepEqual(await shown('bert/broken-one'), ['broken-one']);
    assert.deepEqual(await shown('bert/server-one'), []);
    assert.deepEqual(await shown('--node', 'elsewhere'), []);
    assert.deepEqual(await shown('--state', 'running'), []);
    const { out } = await run(['ps', 'anna']);
    assert.doesNotMatch(out, /PostgreSQL|broken-one/);
  });

  await t.test('ps lists them before they ever ran', async () => {
    const found = await rows();
    assert.deepEqual(
      found.map(({ account, appId, usage }) => [account, appId, usage]),
      [
        ['anna', 'server-one', null],
        ['bert', 'broken-one', null],
      ],
    );
  });

  await t.test('start waits until the backend listens, by name or by id', async () => {
    const { code, out } = await run(['start', 'Anna/server-one']);
    assert.deepEqual([code, out], [0, '✓ anna/server-one runs.\n']);
    const [row] = await rows();
    assert.equal(row?.state, 'running');
    assert.ok((row?.usage?.memory.bytes ?? 0) > 1_000_000, JSON.stringify(row));
    assert.equal((await run(['start', row?.id ?? ''])).code, 0);
  });

  await t.test('one that does not come up is told with its reason, and fails', async () => {
    const { code, out, error } = await run(['start', 'bert/broken-one']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(error, /^✗ bert\/broken-one is stopped\. Exited with code 0\.\n$/);
  });

  await t.test('ps has a line for each on a wide terminal and short ones on a narrow one', async () => {
    const wide = await run(['ps'], { COLUMNS: '160' });
    assert.match(wide.out, /\n\nBACKEND +VERSION +NODE +STATE +SINCE +CPU +MEMORY +RESTARTS +REASON\n/);
    assert.match(wide.out, /\nanna\/server-one +1\.0\.0 +\S+ +running +\d+ s +\d+ % +\d+ MiB +0\n/);
    assert.match(wide.out, /\nbert\/broken-one +1\.0\.0 +\S+ +\w+ .*Exited with code 0\./);
    const narrow = await run(['ps'], { COLUMNS: '40' });
    assert.match(narrow.out, /\n\nanna\/server-one 1\.0\.0\n {2}running \d+ s, \d+ % cpu, \d+ MiB\n/);
    assert.ok(
      narrow.out.split('\n').every((line) => line.length <= 40),
      narrow.out,
    );
  });

  await t.test('logs prints the newest lines, for people and for programs', async () => {
    const { code, out } = await run(['logs', 'bert/broken-one']);
    assert.equal(code, 0);
    assert.match(out, /\d\d:\d\d:\d\d\.\d{3} no way\n/);
    const json = await run(['logs', 'anna/server-one', '-n', '1', '--json']);
    const { at: _, ...entry } = JSON.parse(json.out) as Record<string, unknown>;
    assert.deepEqual(entry, { stream: 'stdout', line: 'ready to serve' });
  });

  await t.test('logs -f goes on with what is written, and ends with Ctrl-C', async () => {
    const following = spawned(['logs', 'anna/server-one', '-f', '-n', '1']);
    t.after(() => following.kill('SIGKILL'));
    const { stdout } = following;
    assert.ok(stdout !== null);
    let heard = '';
    stdout.on('data', (chunk: Buffer) => {
      heard += chunk.toString('utf8');
    });
    const hears = async (times: number) => {
      const limit = AbortSignal.timeout(LIMIT_MS);
      while (heard.split('ready to serve').length - 1 < times) await once(stdout, 'data', { signal: limit });
    };
    await hears(1);
    const stopped = await run(['stop', 'anna/server-one']);
    assert.deepEqual([stopped.code, stopped.out], [0, '✓ anna/server-one is stopped.\n']);
    assert.equal((await run(['start', 'anna/server-one'])).code, 0);
    await hears(2);
    assert.match(heard, /ready to serve\n.*Exited with code|ready to serve\n.*Killed by/);
    const ended = once(following, 'exit');
    following.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
  });

  await t.test('stop keeps a backend down, and its owner sees it', async () => {
    assert.equal((await run(['stop', 'bert/broken-one'])).code, 0);
    const { state } = await bert.browser.take<{ state: string }>('/v1/apps/broken-one/status');
    assert.equal(state, 'stopped');
  });

  await t.test('ps says paused, and no command of an operator ends a pause', async () => {
    await anna.browser.take('/v1/runtime/pause', { body: {} });
    const limit = AbortSignal.timeout(LIMIT_MS);
    const states = async () => (await rows()).map(({ account, state }) => [account, state]);
    // The backend that ran is asked to stop first.
    while ((await states())[0]?.[1] !== 'paused') assert.ok(!limit.aborted, String(await states()));
    assert.deepEqual(await states(), [
      ['anna', 'paused'],
      ['bert', 'stopped'],
    ]);
    assert.match((await run(['ps'])).out, /anna\/server-one .* paused .* paused page of the shell/);
    await refused(['start', 'anna/server-one'], /paused/);
    assert.equal((await states())[0]?.[1], 'paused');
    await anna.browser.take('/v1/runtime/resume', { body: {} });
    assert.equal((await states())[0]?.[1], 'stopped');
  });

  await t.test('an account that is suspended is signed out, and its backend stops, until it is resumed', async () => {
    await run(['start', 'anna/server-one']);
    const suspended = await run(['account', 'suspend', 'Anna']);
    assert.deepEqual([suspended.code, suspended.error], [0, '']);
    assert.equal((await anna.fetch('/v1/apps')).status, 401);
    const limit = AbortSignal.timeout(LIMIT_MS);
    const state = async () => (await rows()).find(({ account }) => account === 'anna')?.state;
    while ((await state()) !== 'stopped') assert.ok(!limit.aborted, String(await state()));
    await refused(['start', 'anna/server-one'], /suspended/);
    assert.match((await run(['account', 'list'])).out, /^anna +suspended .*\nbert +active /m);
    assert.match((await run(['account', 'suspend', 'anna'])).out, /suspended already/);
    await refused(['recover', 'anna'], /anna is suspended\. .*account resume anna/);
    await refused(['uninstall', 'anna/nowhere'], /anna has no app nowhere\./);
    assert.equal((await run(['account', 'plan', 'anna', 'paid'])).out, '✓ anna has the paid plan.\n');
    assert.equal((await run(['account', 'resume', 'anna'])).code, 0);
    assert.deepEqual([(await run(['start', 'anna/server-one'])).code, await state()], [0, 'running']);
    await refused(['account', 'suspend', 'nobody'], /There is no account named nobody\./);
    await refused(['account', 'suspend'], /Name one account/, 2);
  });

  await t.test('what is not there, or has no backend, is told in one line', async () => {
    await refused(['logs', 'anna/launcher'], /No backend named anna\/launcher is installed\. .*platform ps/);
    await refused(['stop', 'nobody/server-one'], /No backend named nobody\/server-one is installed/);
    await refused(['uninstall', 'anna/nowhere'], /platform: anna has no app nowhere\./);
    await refused(['disk', 'delete-volume', 'anna/nowhere'], /platform: (?!not_found)/);
  });
});
