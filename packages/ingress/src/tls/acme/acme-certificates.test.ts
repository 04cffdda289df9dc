// What is ordered, and when: only known names, one order at a time for each, renewed at two thirds of their life, and pauses
// after failures that an authority can live with. The authority and the clock are the test's own.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { newAuthority, type TestAuthority } from '../../../test-support/certificates.ts';
import { type AcmeCertificates, openAcmeCertificates } from './acme-certificates.ts';
import { AcmeError, type CertificateAuthority } from './authority.ts';
import { AcmeStore } from './store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DIRECTORY = 'https://authority.test/dir';
let signing: TestAuthority;
before(async () => {
  signing = await newAuthority();
});

/** A stand-in for the authority: signs for 90 days from the test's now, unless it is to fail. */
class AuthorityStandIn implements CertificateAuthority {
  readonly orders: string[] = [];
  failure: AcmeError | null = null;
  /** Orders wait for it. */
  gate: Promise<void> = Promise.resolve();
  readonly #world: { readonly now: Date };

  constructor(world: { readonly now: Date }) {
    this.#world = world;
  }

  async order(name: string) {
    this.orders.push(name);
    await this.gate;
    if (this.failure !== null) throw this.failure;
    const ahead = this.#world.now.getTime() - Date.now();
    return signing.issue([name], { from: ahead, to: ahead + 90 * DAY });
  }
}

interface World {
  readonly authority: AuthorityStandIn;
  readonly known: Set<string>;
  readonly told: string[];
  readonly folder: string;
  now: Date;
  open(wildcardOf?: string): Promise<AcmeCertificates>;
}

async function newWorld(t: TestContext): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ingress-orders-'));
  t.after(() => rm(folder, { recursive: true }));
  const told: string[] = [];
  const known = new Set(['a.example.org', 'b.example.org']);
  const clock = { now: new Date() };
  const authority = new AuthorityStandIn(clock);
  return Object.assign(clock, {
    ...{ authority, known, told, folder },
    async open(wildcardOf?: string) {
      const certificates = await openAcmeCertificates({
        authority,
        store: await AcmeStore.open(folder, DIRECTORY),
        wildcardOf: wildcardOf ?? null,
        isKnown: (host) => known.has(host),
        now: () => clock.now,
        interval: 1_000_000,
        onServed: ({ name }) => told.push(`served ${name}`),
        onProblem: ({ name, what }) => told.push(`problem ${name}: ${what}`),
        onSolved: (name) => told.push(`solved ${name}`),
      });
      t.after(() => certificates.close());
      return certificates;
    },
  });
}

const later = (world: World, milliseconds: number): void => {
  world.now = new Date(world.now.getTime() + milliseconds);
};
const refusing = () => new AcmeError('the authority refuses: no');

test('only a known name is ordered, and once for all who ask meanwhile', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  assert.equal(await certificates.obtain('stranger.example.org'), null);
  const opening = Promise.withResolvers<void>();
  world.authority.gate = opening.promise;
  const asked = Array.from({ length: 50 }, () => certificates.obtain('a.example.org'));
  opening.resolve();
  for (const certificate of await Promise.all(asked)) assert.equal(certificate?.name, 'a.example.org');
  assert.deepEqual(world.authority.orders, ['a.example.org']);
  assert.equal(certificates.current('a.example.org')?.name, 'a.example.org');
});

test('an order is renewed at two thirds of its life, and the former certificate serves until then', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  const first = await certificates.obtain('a.example.org');
  later(world, 59 * DAY);
  await certificates.look();
  assert.equal(world.authority.orders.length, 1);
  later(world, 3 * DAY);
  await certificates.look();
  assert.equal(world.authority.orders.length, 2);
  assert.notEqual(certificates.current('a.example.org')?.fingerprint, first?.fingerprint);
});

test('a name that is no public name any more is not renewed, and goes once it has expired', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  await certificates.obtain('a.example.org');
  world.known.delete('a.example.org');
  later(world, 70 * DAY);
  await certificates.look();
  assert.notEqual(certificates.current('a.example.org'), null);
  later(world, 30 * DAY);
  await certificates.look();
  assert.equal(certificates.current('a.example.org'), null);
  assert.equal(world.authority.orders.length, 1);
  assert.deepEqual((await world.open()).served(), []);
});

test('after each failure an order waits twice as long, across restarts too, and the operator is told once', async (t) => {
  const world = await newWorld(t);
  world.authority.failure = refusing();
  let certificates = await world.open();
  assert.equal(await certificates.obtain('a.example.org'), null);
  for (const minutes of [5, 10, 20, 40]) {
    const { length } = world.authority.orders;
    later(world, minutes * MINUTE - 1_000);
    assert.equal(await certificates.obtain('a.example.org'), null);
    assert.equal(world.authority.orders.length, length);
    later(world, 1_000);
    assert.equal(await certificates.obtain('a.example.org'), null);
    assert.equal(world.authority.orders.length, length + 1, `after ${minutes} minutes`);
  }
  assert.equal(world.authority.orders.length, 5);
  assert.deepEqual(world.told, ['problem a.example.org: the authority refuses: no']);

  certificates = await world.open();
  assert.equal(await certificates.obtain('a.example.org'), null);
  assert.equal(world.authority.orders.length, 5, 'a restart forgets no pause');
  later(world, DAY + 1_000);
  world.authority.failure = null;
  assert.equal((await certificates.obtain('a.example.org'))?.name, 'a.example.org');
  assert.deepEqual(certificates.problems(), []);
});

test('a pause that began under a clock that was a year ahead is over once the clock is right, also after a restart', async (t) => {
  const world = await newWorld(t);
  const YEAR = 365 * DAY;
  for (const failure of [refusing(), new AcmeError('too much', { kind: 'rateLimited', retryAfter: 7_200 })]) {
    later(world, YEAR);
    world.authority.failure = failure;
    const certificates = await world.open();
    assert.equal(await certificates.obtain('a.example.org'), null);
    assert.equal(await certificates.obtain('a.example.org'), null, 'it pauses');
    later(world, -YEAR);
    world.authority.failure = refusing();
    for (const each of [certificates, await world.open()]) {
      const { length } = world.authority.orders;
      assert.equal(await each.obtain('a.example.org'), null);
      assert.equal(world.authority.orders.length, length + 1, 'it tries');
      const [problem] = each.problems();
      assert.ok((problem?.retryAt?.getTime() ?? 0) <= world.now.getTime() + DAY, 'and says when it tries again');
      later(world, DAY);
    }
  }
});

test('a failure that the authority does not count is tried again every hour at the latest', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  world.authority.failure = new AcmeError('the DNS hook failed', { step: 'hook' });
  for (let failures = 1; failures <= 10; failures += 1) {
    await certificates.obtain('a.example.org');
    assert.equal(world.authority.orders.length, failures);
    later(world, HOUR);
  }
  later(world, -2_000);
  assert.equal(await certificates.obtain('a.example.org'), null);
  assert.equal(world.authority.orders.length, 10, 'and not before');
});

test('Retry-After of one order counts where it is longer, and a rate limit holds back every order', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  world.authority.failure = new AcmeError('busy', { kind: 'serverInternal', retryAfter: 1_800 });
  await certificates.obtain('a.example.org');
  later(world, 29 * MINUTE);
  await certificates.obtain('a.example.org');
  assert.equal(world.authority.orders.length, 1);
  world.authority.failure = new AcmeError('too much', { kind: 'rateLimited', retryAfter: 7_200 });
  later(world, 2 * MINUTE);
  await certificates.obtain('a.example.org');
  assert.equal(world.authority.orders.length, 2);
  world.authority.failure = null;
  assert.equal(await certificates.obtain('b.example.org'), null);
  assert.equal(await (await world.open()).obtain('b.example.org'), null, 'nor after a restart');
  later(world, 2 * HOUR);
  assert.equal((await certificates.obtain('b.example.org'))?.name, 'b.example.org');
});

test('why an order failed, and when it is tried again, is known after a restart, and goes with the app', async (t) => {
  const world = await newWorld(t);
  world.authority.failure = new AcmeError('too much', { kind: 'rateLimited', retryAfter: 7_200 });
  await (await world.open()).obtain('a.example.org');
  const certificates = await world.open();
  const retryAt = new Date(world.now.getTime() + 2 * HOUR);
  assert.deepEqual(certificates.problems(), [{ name: 'a.example.org', kind: 'rate_limit', what: 'too much', retryAt }]);
  world.known.delete('a.example.org');
  assert.deepEqual(certificates.problems(), []);
  await certificates.look();
  world.known.add('a.example.org');
  assert.equal(certificates.problems().length, 1, 'who takes the app away and back gains no order');
  world.known.delete('a.example.org');
  later(world, 3 * HOUR);
  await certificates.look();
  world.known.add('a.example.org');
  assert.deepEqual(certificates.problems(), []);
});

test('a certificate that cannot be stored is served and reported, and stored once it can be', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  const [place = ''] = await readdir(world.folder);
  const folder = path.join(world.folder, place);
  await rename(folder, `${folder}-away`);
  const certificate = await certificates.obtain('a.example.org');
  assert.equal(certificates.current('a.example.org'), certificate);
  const problem = { name: folder, kind: 'unwritable', what: 'the folder cannot be written: ENOENT' };
  assert.deepEqual(certificates.problems(), [problem]);
  await certificates.look();
  assert.deepEqual(certificates.problems(), [problem]);
  await rename(`${folder}-away`, folder);
  await certificates.look();
  assert.deepEqual(certificates.problems(), []);
  assert.equal((await world.open()).current('a.example.org')?.fingerprint, certificate?.fingerprint);
  assert.equal(world.authority.orders.length, 1);
});

test('an expired certificate that cannot be removed is reported, and the Ingress goes on', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  await certificates.obtain('a.example.org');
  world.known.delete('a.example.org');
  later(world, 100 * DAY);
  const [place = ''] = await readdir(world.folder);
  const file = path.join(world.folder, place, 'a.example.org.pem');
  await rm(file);
  await mkdir(file);
  await certificates.look();
  assert.equal(certificates.current('a.example.org'), null);
  assert.deepEqual(
    certificates.problems().map(({ kind }) => kind),
    ['unwritable'],
  );
});

test('an Ingress that ends does not wait for an order that hangs', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  const ended = Promise.withResolvers<void>();
  world.authority.gate = ended.promise;
  const asked = certificates.obtain('a.example.org');
  await certificates.close();
  ended.resolve();
  await asked;
});

test('a renewal that fails leaves the certificate in service, and says so again when it is about to expire', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  const first = await certificates.obtain('a.example.org');
  world.authority.failure = refusing();
  for (let day = 60; day < 100; day += 1) {
    world.now = new Date((first?.notBefore.getTime() ?? 0) + day * DAY);
    await certificates.look();
  }
  assert.equal(certificates.current('a.example.org'), first);
  assert.equal(world.told.filter((line) => line.startsWith('problem')).length, 1);
  const { length } = world.authority.orders;
  assert.ok(length > 30 && length < 42, `tried once a day, not ${length} times`);
});

test('no more than four orders run at a time, and sixty begin in an hour', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open();
  const names = Array.from({ length: 80 }, (_, index) => `app-${index}.example.org`);
  for (const name of names) world.known.add(name);
  const opening = Promise.withResolvers<void>();
  world.authority.gate = opening.promise;
  const asked = names.map((name) => certificates.obtain(name));
  while (world.authority.orders.length < 4) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.authority.orders.length, 4);
  opening.resolve();
  const obtained = (await Promise.all(asked)).filter((certificate) => certificate !== null);
  assert.equal(obtained.length, 60);
  const held = certificates.problems();
  assert.equal(held.length, 20);
  assert.match(held[0]?.what ?? '', /^60 orders began within an hour/);
  assert.deepEqual(held[0]?.retryAt, new Date(world.now.getTime() + HOUR));
  later(world, HOUR + 1);
  await certificates.look();
  assert.deepEqual(certificates.problems(), []);
  assert.notEqual(await certificates.obtain('app-79.example.org'), null);
});

test('a wildcard is ordered at the start, and serves every name directly below its domain', async (t) => {
  const world = await newWorld(t);
  const certificates = await world.open('example.org');
  assert.equal((await certificates.obtain('a.example.org'))?.name, '*.example.org');
  assert.deepEqual(world.authority.orders, ['*.example.org']);
  assert.equal(certificates.current('b.example.org')?.name, '*.example.org');
  world.known.add('a.b.example.org');
  assert.equal(await certificates.obtain('a.b.example.org'), null);
});

test('what cannot be read any more is ordered anew', async (t) => {
  const world = await newWorld(t);
  await (await world.open()).obtain('a.example.org');
  const store = await AcmeStore.open(world.folder, DIRECTORY);
  await store.saveCertificate('a.example.org', { certificate: 'half', key: '' });
  const certificates = await world.open();
  assert.equal(certificates.current('a.example.org'), null);
  assert.equal((await certificates.obtain('a.example.org'))?.name, 'a.example.org');
});

test('certificates of one authority are not those of another, and the key of the account stays', async (t) => {
  const world = await newWorld(t);
  const one = await AcmeStore.open(world.folder, DIRECTORY);
  const other = await AcmeStore.open(world.folder, 'https://other.test/dir');
  const { key } = await one.account();
  await one.saveAccount('https://authority.test/account/1');
  assert.deepEqual(await one.account(), { key, url: 'https://authority.test/account/1' });
  assert.notEqual((await other.account()).key, key);
  await assert.rejects(readFile(path.join(world.folder, 'account.key')));
});
