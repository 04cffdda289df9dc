// Certificates from a real ACME server: by HTTP-01 for a public name at its first request, by DNS-01 through a command for a
// wildcard; kept, renewed, and still in service while the authority is down.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { type OrderedCertificates, openPublicSide, type PublicSide } from '@platform/ingress/public-side';
import { keyFromSeed, linkCertificate } from '@platform/link';
import { lacksPebble, type Pebble, startPebble } from '../support/pebble.ts';
import { until } from '../support/wait.ts';

const HOST = 'notes--abc.public.example.org';
let pebble: Pebble;

before(async () => {
  if (lacksPebble === null) pebble = await startPebble();
});
after(() => pebble?.close());

interface World {
  readonly side: PublicSide;
  readonly lines: string[];
  readonly known: Set<string>;
  clock: Date;
  /** Orders what is due now. */
  look(): Promise<void>;
}

const nonEmpty = <Item>(items: readonly Item[]) => (items.length === 0 ? null : items);

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-acme-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function opened(t: TestContext, certificates: Partial<OrderedCertificates> & { folder: string }): Promise<World> {
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const known = new Set([HOST]);
  const world = { lines, known, clock: new Date() };
  const side = await openPublicSide({
    tls: {
      domain: 'public.example.org',
      certificates: {
        ...{ kind: 'acme', directory: pebble.directory, email: 'operator@example.org', dnsHook: null, ca: pebble.ca },
        ...certificates,
      },
      plain: { host: '127.0.0.1', port: certificates.dnsHook ? 0 : pebble.httpPort },
    },
    listen: { host: '127.0.0.1', port: 0 },
    server: {
      isOwnHost: (host) => known.has(host.replace(/:\d+$/, '')),
      onRequest: ({ res }) => {
        res.end('good');
        return null;
      },
      onFault: (error) => lines.push(String(error)),
    },
    isKnown: (host) => known.has(host),
    doctor: { pair: await linkCertificate(keyFromSeed(Buffer.alloc(32, 9))), covers: () => false },
    log: { debug: write, info: write, warn: write, error: write },
    clock: () => world.clock,
  });
  t.after(async () => {
    void side.drain();
    side.end();
    await side.close();
  });
  return Object.assign(world, { side, look: () => lookOf(side.certificates) });
}

async function lookOf(source: PublicSide['certificates']): Promise<void> {
  assert.ok('look' in source && typeof source.look === 'function');
  await source.look();
}

async function handshake({ side }: World, servername: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: side.port, servername, ca: await pebble.root() });
  await once(socket, 'secureConnect');
  return socket;
}

test('a public name gets its certificate in the handshake of its first client, and keeps it across a restart', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const folder = await folderOf(t);
  const first = await opened(t, { folder });
  assert.deepEqual(first.side.certificates.served(), []);
  const [one, other] = await Promise.all([handshake(first, HOST), handshake(first, HOST)]);
  assert.equal(one.authorized, true);
  const { fingerprint256 } = one.getPeerCertificate();
  assert.equal(other.getPeerCertificate().fingerprint256, fingerprint256, 'one order for both');
  assert.deepEqual(first.side.certificates.problems(), []);

  const [place = ''] = await readdir(folder);
  const files = await readdir(path.join(folder, place));
  assert.deepEqual(files.sort(), ['account.key', 'account.url', `${HOST}.pem`]);
  for (const file of files) assert.equal((await stat(path.join(folder, place, file))).mode & 0o777, 0o600);
  assert.equal((await stat(path.join(folder, place))).mode & 0o777, 0o700);
  assert.doesNotMatch(first.lines.join('\n'), /PRIVATE KEY/);

  for (const socket of [one, other]) socket.destroy();
  await first.side.drain();
  await first.side.close();
  const second = await opened(t, { folder });
  assert.equal((await handshake(second, HOST)).getPeerCertificate().fingerprint256, fingerprint256);
});

test('a name that core does not know is not ordered, whoever asks for it', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const folder = await folderOf(t);
  const world = await opened(t, { folder });
  for (const name of ['stranger.public.example.org', 'elsewhere.test', 'public.example.org'])
    await assert.rejects(handshake(world, name));
  const [place = ''] = await readdir(folder);
  assert.deepEqual(await readdir(path.join(folder, place)), ['account.key']);
  assert.deepEqual(world.lines, []);
});

test('the plain port answers challenges, leads known hosts to https with their method, and refuses others', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const world = await opened(t, { folder: await folderOf(t) });
  const ask = async (host: string, target: string) => {
    const { request } = await import('node:http');
    const asked = request({ host: '127.0.0.1', port: world.side.plainPort, path: target, headers: { host } }).end();
    const [answer] = await once(asked, 'response');
    answer.resume();
    return [answer.statusCode, answer.headers.location];
  };
  assert.deepEqual(await ask(HOST, '/a/b?c=d'), [308, `https://${HOST}:${world.side.port}/a/b?c=d`]);
  assert.deepEqual(await ask(HOST, '/.well-known/acme-challenge/never-ordered'), [404, undefined]);
  assert.deepEqual(await ask('stranger.public.example.org', '/'), [421, undefined]);
  assert.deepEqual(await ask(HOST, '/a/../b'), [400, undefined]);
});

test('a wildcard comes by DNS-01 through the command of the operator, before any client', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const folder = await folderOf(t);
  const calls = path.join(folder, 'calls');
  const hook = path.join(folder, 'hook');
  await writeFile(
    hook,
    `#!/bin/sh
echo "$# $1 $2 $PLATFORM_SECRET" >>${calls}
case "$1" in
  add) curl -sf -d "{\\"host\\":\\"$2.\\",\\"value\\":\\"$3\\"}" ${pebble.dnsManagement}/set-txt ;;
  remove) curl -sf -d "{\\"host\\":\\"$2.\\"}" ${pebble.dnsManagement}/clear-txt ;;
esac
`,
    { mode: 0o700 },
  );
  process.env.PLATFORM_SECRET = 'secret';
  t.after(() => delete process.env.PLATFORM_SECRET);
  const world = await opened(t, { folder: path.join(folder, 'acme'), dnsHook: hook });
  const [certificate] = await until('the wildcard', () => nonEmpty(world.side.certificates.served()));
  assert.equal(certificate?.name, '*.public.example.org');
  const record = '_acme-challenge.public.example.org';
  assert.equal(await readFile(calls, 'utf8'), `3 add ${record} \n3 remove ${record} \n`);
  for (const name of [HOST, 'other--abc.public.example.org'])
    assert.equal((await handshake(world, name)).authorized, true);
  await assert.rejects(handshake(world, 'a.b.public.example.org'));
});

/** A DNS hook of these lines; it has the management of the authority's DNS server as `$DNS`. */
async function hookOf(t: TestContext, lines: string): Promise<{ hook: string; folder: string }> {
  const folder = await folderOf(t);
  const hook = path.join(folder, 'hook');
  await writeFile(hook, `#!/bin/sh\nDNS=${pebble.dnsManagement}\n${lines}\n`, { mode: 0o700 });
  return { hook, folder: path.join(folder, 'acme') };
}

const ADD = 'curl -sf -d "{\\"host\\":\\"$2.\\",\\"value\\":\\"$3\\"}" $DNS/set-txt';
const RECORD = '_acme-challenge.public.example.org';

test('a command that fails is reported, and its order pauses', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const { hook, folder } = await hookOf(t, '[ "$1" = remove ] || exit 3');
  const world = await opened(t, { folder, dnsHook: hook });
  const [problem] = await until('the problem', () => nonEmpty(world.side.certificates.problems()));
  assert.deepEqual(
    [problem?.name, problem?.kind, problem?.what],
    ['*.public.example.org', 'hook', `the DNS hook failed to add the record ${RECORD}: exit code 3`],
  );
  assert.ok(problem?.retryAt !== undefined && problem.retryAt > world.clock);
  await assert.rejects(handshake(world, HOST), 'and no order follows before its pause is over');
  assert.equal(world.lines.length, 1);
});

test('a record that the command cannot remove is reported once, and the certificate is served', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const { hook, folder } = await hookOf(t, `[ "$1" = add ] || exit 4\n${ADD}`);
  const world = await opened(t, { folder, dnsHook: hook });
  const [certificate] = await until('the wildcard', () => nonEmpty(world.side.certificates.served()));
  assert.ok(certificate);
  const reason = `the DNS hook failed to remove the record ${RECORD}: exit code 4`;
  const warning = `a DNS record of a challenge may be left: remove it ${JSON.stringify({ name: '*.public.example.org', reason })}`;
  const warnings = () => world.lines.filter((line) => line === warning).length;
  assert.equal(warnings(), 1);
  // Its renewal leaves another one.
  const { notBefore, notAfter } = certificate;
  world.clock = new Date(notBefore.getTime() + (notAfter.getTime() - notBefore.getTime()) * 0.7);
  await world.look();
  assert.notEqual(world.side.certificates.served()[0], certificate);
  assert.equal(warnings(), 1);
  assert.deepEqual(world.side.certificates.problems(), []);
});

test('a name that the authority cannot check is reported, with its reason', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const world = await opened(t, { folder: await folderOf(t), dnsHook: '/bin/true' });
  const [problem] = await until('the problem', () => nonEmpty(world.side.certificates.problems()));
  assert.equal(problem?.kind, 'challenge');
  assert.match(problem.what, /^the authority could not check/);
});

test('while the authority is down the certificate stays in service, and its failed renewal is reported', async (t) => {
  if (lacksPebble !== null) return t.skip(lacksPebble);
  const own = await startPebble();
  t.after(() => own.close());
  const folder = await folderOf(t);
  const usual = pebble;
  pebble = own;
  t.after(() => {
    pebble = usual;
  });
  const world = await opened(t, { folder });
  const root = await own.root();
  (await handshake(world, HOST)).destroy();
  await own.close();
  const [served] = world.side.certificates.served();
  assert.ok(served);
  const life = served.notAfter.getTime() - served.notBefore.getTime();
  world.clock = new Date(served.notBefore.getTime() + life * 0.7);
  await world.look();
  const [problem] = world.side.certificates.problems();
  assert.deepEqual([problem?.kind, problem?.what], ['unreachable', 'the authority cannot be reached: ECONNREFUSED']);
  const socket = connect({ host: '127.0.0.1', port: world.side.port, servername: HOST, ca: root });
  await once(socket, 'secureConnect');
  socket.destroy();
});
