// Promises of the embedded PostgreSQL: durable, private, and clear about what it cannot use.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import {
  ask,
  asRoot,
  clusterData,
  copied,
  refusal,
  scratch,
  start,
  throwaway,
} from '../../../../tests/support/embedded-postgres.ts';
import { makeClusterFolder } from '../../../../tests/support/postgres.ts';
import { systemCode } from '../config/start-error.ts';
import { serverProcesses } from './embedded/leftovers.ts';
import { chooseServerUser, type UserMachine } from './embedded/server-user.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

/** One server with the default settings for the promises that only look. */
let common: Promise<{ dataDir: string; server: EmbeddedPostgres }> | undefined;
function commonServer() {
  common ??= (async () => {
    const dataDir = makeClusterFolder();
    const server = await startEmbeddedPostgres({ dataDir, log: () => {} });
    return { dataDir, server };
  })();
  return common;
}
after(async () => {
  const started = await common;
  await started?.server.stop();
  if (started !== undefined) fs.rmSync(started.dataDir, { recursive: true, force: true });
});

test('by default it keeps every acknowledged write and opens no TCP port', async () => {
  const { url } = (await commonServer()).server;
  const rows = await ask(
    url,
    `SELECT name, setting FROM pg_settings WHERE name IN
     ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'listen_addresses', 'server_encoding')`,
  );
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.setting])), {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    listen_addresses: '',
    server_encoding: 'UTF8',
  });
});

test('search extensions load, and letters outside ASCII are folded and compared', async () => {
  const { url } = (await commonServer()).server;
  await ask(url, 'CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent; CREATE EXTENSION btree_gin');
  const [row] = await ask(
    url,
    `SELECT lower('GRÖẞE ÉCOLE ДОМ') AS lower, unaccent('école') AS plain,
            to_tsvector('simple', 'GRÖSSE Дом')::text AS words, similarity('größe', 'GRÖßE') AS same,
            (SELECT datlocprovider::text FROM pg_database WHERE datname = current_database()) AS provider`,
  );
  assert.deepEqual(row, {
    lower: 'größe école дом',
    plain: 'ecole',
    words: "'grösse':1 'дом':2",
    same: 1,
    provider: 'b',
  });
});

test('only its own user and root reach the socket, and only with the password', async () => {
  const { dataDir, server } = await commonServer();
  const { url } = server;
  const socketFolder = new URL(url).searchParams.get('host') ?? '';
  assert.equal(fs.statSync(socketFolder).mode & 0o777, 0o700);
  const password = path.join(dataDir, 'postgres', 'password');
  assert.equal(fs.statSync(password).mode & 0o777, 0o600);
  assert.equal(fs.statSync(password).uid, process.getuid?.());
  const guessed = new URL(url);
  guessed.password = 'guessed';
  await assert.rejects(ask(guessed.href, 'SELECT 1'), { code: '28P01' });
});

test('the password is on no command line', async () => {
  const { dataDir, server } = await commonServer();
  const { password } = new URL(server.url);
  assert.ok(password.length >= 32);
  const lines = serverProcesses(clusterData(dataDir)).flatMap((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch (error) {
      // A worker that ended while we looked.
      assert.ok(['ENOENT', 'ESRCH'].includes(systemCode(error) ?? ''), String(error));
      return [];
    }
  });
  assert.ok(lines.length > 0);
  assert.equal(lines.filter((line) => line.includes(password)).length, 0);
});

test('as root the server runs as another user, from a copy that this user cannot change', {
  skip: !asRoot && 'needs root',
}, async () => {
  const { dataDir, server } = await commonServer();
  const uids = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$/m.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'));
  assert.ok(uids);
  assert.ok(!uids.slice(1).includes('0'));
  const program = fs.readlinkSync(`/proc/${server.pid}/exe`);
  assert.ok(program.startsWith(path.join(dataDir, 'postgres', 'bin-')), program);
  // The server's user must not be able to change what it runs.
  assert.equal(fs.statSync(program).uid, 0);
});

test('a closed folder above the data is named with the cure', { skip: !asRoot && 'needs root' }, async (t) => {
  const closed = scratch(t);
  fs.chmodSync(closed, 0o700);
  const dataDir = path.join(closed, 'data');
  fs.mkdirSync(dataDir);
  const refused = await refusal(dataDir);
  assert.equal(refused.code, 'folder_not_enterable');
  assert.ok(refused.message.includes(`cannot enter ${closed}. `), refused.message);
  assert.match(refused.message, /PLATFORM_DATA_DIR/);
});

test('a cluster that an ordinary user made is run as that user by root', {
  skip: !asRoot && 'needs root',
}, async (t) => {
  const dataDir = await copied(t);
  const uid = 54_321;
  giveAll(clusterData(dataDir), uid);
  const server = await start(t, dataDir);
  assert.equal(fs.statSync(`/proc/${server.pid}`).uid, uid);
  await server.stop();
});

test('a cluster that an earlier version made as nobody gets a user that runs nothing else, with all its files', {
  skip: !asRoot && 'needs root',
}, async (t) => {
  const dataDir = await copied(t);
  const data = clusterData(dataDir);
  giveAll(data, 65_534);
  // What nobody's processes could have left there leads nowhere.
  const outside = path.join(scratch(t), 'outside');
  fs.writeFileSync(outside, 'root only', { mode: 0o600 });
  fs.symlinkSync(outside, path.join(data, 'link'));
  fs.lchownSync(path.join(data, 'link'), 65_534, 65_534);
  fs.linkSync(outside, path.join(data, 'hard-link'));
  const server = await start(t, dataDir);
  const { uid } = fs.statSync(`/proc/${server.pid}`);
  assert.ok(uid !== 65_534 && uid !== 0);
  const names = fs.readdirSync(data, { recursive: true }).map(String);
  assert.ok(names.length > 100);
  for (const name of names.filter((name) => name !== 'hard-link'))
    assert.equal(fs.lstatSync(path.join(data, name)).uid, uid, name);
  assert.equal(fs.statSync(outside).uid, 0);
  // Nobody but root and the server comes to the files or the socket; the password is root's.
  for (const attempt of [data, path.join(dataDir, 'postgres', 'run'), path.join(dataDir, 'postgres', 'password')])
    assert.notEqual(spawnSync('cat', [attempt], { uid: 65_534, gid: 65_534 }).status, 0, attempt);
  const reached = spawnSync('ls', [data], { uid: 65_534, gid: 65_534, encoding: 'utf8' });
  assert.match(reached.stderr, /Permission denied/);
  assert.equal(spawnSync('kill', ['-0', String(server.pid)], { uid: 65_534, gid: 65_534 }).status, 1);
  await server.stop();
});

test('processes of the server’s own user have no password: the socket alone opens nothing', {
  skip: !asRoot && 'needs root',
}, async () => {
  const { dataDir, server } = await commonServer();
  const { uid } = fs.statSync(`/proc/${server.pid}`);
  const read = spawnSync('cat', [path.join(dataDir, 'postgres', 'password')], { uid, gid: uid, encoding: 'utf8' });
  assert.match(read.stderr, /Permission denied/);
  const rules = fs.readFileSync(path.join(clusterData(dataDir), 'pg_hba.conf'), 'utf8');
  assert.doesNotMatch(rules.replaceAll(/^#.*/gm, ''), /trust|peer|ident/);
});

const machine = (passwd: string, more: Partial<UserMachine> = {}): UserMachine => ({
  passwd: () => passwd,
  create: () => undefined,
  running: () => new Set<number>(),
  ...more,
});

test('root’s server gets the user made for it, or one that is created, or an id that nobody has', {
  skip: !asRoot && 'needs root',
}, () => {
  const nobody = 'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n';
  const own = 'platform-postgres:x:991:990::/nonexistent:/usr/sbin/nologin\n';
  const absent = '/nonexistent/data';
  assert.deepEqual(chooseServerUser(absent, machine(nobody + own)), { name: 'platform-postgres', uid: 991, gid: 990 });
  let passwd = nobody;
  const creating = {
    passwd: () => passwd,
    create(name: string) {
      passwd += own.replace(/^[^:]+/, name);
    },
  };
  assert.equal(chooseServerUser(absent, machine('', creating))?.uid, 991);
  assert.deepEqual(chooseServerUser(absent, machine(nobody)), { name: null, uid: 61_000, gid: 61_000 });
  const busy = machine(`${nobody}other:x:61000:61000::/:/bin/sh\n`, { running: () => new Set([61_001]) });
  assert.equal(chooseServerUser(absent, busy)?.uid, 61_002);
  const full = new Set(Array.from({ length: 1_000 }, (_, index) => 61_000 + index));
  assert.throws(() => chooseServerUser(absent, machine(nobody, { running: () => full })), /useradd --system/);
});

test('where no user can be created, a cluster is made and served by an id without a name', {
  skip: !asRoot && 'needs root',
}, async (t) => {
  const dataDir = scratch(t);
  const server = await start(t, dataDir, { users: machine('nobody:x:65534:65534::/:/bin/false\n') });
  assert.ok(fs.statSync(`/proc/${server.pid}`).uid >= 61_000);
  assert.deepEqual(await ask(server.url, 'SELECT 1 AS n'), [{ n: 1 }]);
});

function giveAll(folder: string, uid: number): void {
  fs.chownSync(folder, uid, uid);
  for (const name of fs.readdirSync(folder, { recursive: true }))
    fs.lchownSync(path.join(folder, String(name)), uid, uid);
}

test('a second start finds the data and the same password', async (t) => {
  const dataDir = scratch(t);
  const first = await start(t, dataDir);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS n');
  await first.stop();
  const second = await start(t, dataDir);
  assert.equal(second.url, first.url);
  assert.deepEqual(await ask(second.url, 'SELECT n FROM kept'), [{ n: 42 }]);
});

test('stopping ends open sessions and leaves no process', async (t) => {
  const dataDir = await copied(t);
  const server = await start(t, dataDir);
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN; CREATE TABLE unfinished (n int)');
  await Promise.all([server.stop(), server.stop()]);
  assert.deepEqual(serverProcesses(clusterData(dataDir)), []);
  assert.match(await server.exited, /ended with code 0/);
});

test('the folder may have spaces, commas and per cent signs in its name', async (t) => {
  const { url } = await start(t, scratch(t, "pg a, b %41 'd ü-"));
  assert.deepEqual(await ask(url, 'SELECT 1 AS n'), [{ n: 1 }]);
});

test('a folder name that a shell would read as a command is refused', async (t) => {
  const refused = await refusal(scratch(t, 'pg $(exit 1)-'));
  assert.equal(refused.code, 'folder_name_unusable');
});

test('a path too long for a socket works, through a private folder elsewhere', async (t) => {
  const dataDir = path.join(scratch(t), 'long'.repeat(30));
  fs.mkdirSync(dataDir);
  if (asRoot) fs.chmodSync(dataDir, 0o711);
  const first = await start(t, dataDir);
  const socketFolder = new URL(first.url).searchParams.get('host') ?? '';
  t.after(() => fs.rmSync(socketFolder, { recursive: true, force: true }));
  assert.equal(fs.statSync(socketFolder).mode & 0o777, 0o700);
  await first.stop();
  assert.equal((await start(t, dataDir)).url, first.url);
});

test('a foreign folder in the place of the short socket path is refused', async (t) => {
  const dataDir = path.join(scratch(t), 'long'.repeat(30));
  fs.mkdirSync(dataDir);
  await copied(t, dataDir);
  const first = await start(t, dataDir);
  await first.stop();
  const socketFolder = new URL(first.url).searchParams.get('host') ?? '';
  fs.rmSync(socketFolder, { recursive: true });
  fs.symlinkSync(scratch(t), socketFolder);
  t.after(() => fs.rmSync(socketFolder));
  assert.equal((await refusal(dataDir)).code, 'socket_folder_taken');
});

test('a start that PostgreSQL refuses ends with its last output on one line', async (t) => {
  const refused = await refusal(await copied(t), { settings: { ...throwaway, shared_buffers: 'plenty' } });
  assert.equal(refused.code, 'postgres_failed');
  assert.match(refused.message, /ended with code 1\..*shared_buffers.*plenty/);
});

test('data of another major version is refused before it is touched', async (t) => {
  const dataDir = await copied(t);
  fs.writeFileSync(path.join(clusterData(dataDir), 'PG_VERSION'), '17\n');
  const refused = await refusal(dataDir);
  assert.equal(refused.code, 'postgres_version');
  assert.match(refused.message, /written by PostgreSQL 17/);
});

test('Ctrl-C in the terminal does not reach the server, which is not in our process group', async () => {
  const { pid } = (await commonServer()).server;
  const [group, session] = fields(pid);
  assert.equal(group, String(pid));
  assert.equal(session, String(pid));
});

/** Process group and session, from `/proc/<pid>/stat`. */
function fields(pid: number): (string | undefined)[] {
  const [, , group, session] = fs
    .readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return [group, session];
}

test('its log does not grow without end, and shows no statement or value of a user', async (t) => {
  const dataDir = await copied(t);
  const first = await start(t, dataDir);
  await assert.rejects(ask(first.url, "SELECT 'canary-value'::int"));
  await first.stop();
  const log = path.join(dataDir, 'postgres', 'postgres.log');
  assert.match(fs.readFileSync(log, 'utf8'), /ready to accept connections/);
  assert.doesNotMatch(fs.readFileSync(log, 'utf8'), /canary/);
  fs.truncateSync(log, 11 * 1024 * 1024);
  await (await start(t, dataDir)).stop();
  assert.ok(fs.statSync(log).size < 100_000);
});
