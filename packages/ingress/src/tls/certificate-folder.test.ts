// Certificates from a folder: which pairs are served, and what becomes of one that is replaced by something worse.
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { afterEach, before, beforeEach, type TestContext, test } from 'node:test';
import { newAuthority, type TestAuthority, type TestPair, writePair } from '../../test-support/certificates.ts';
import { type CertificateFolder, openCertificateFolder } from './certificate-folder.ts';

const DAY = 86_400_000;
let authority: TestAuthority;
let folder: string;
let told: string[];
let now: Date;

before(async () => {
  authority = await newAuthority();
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ingress-certificates-'));
  told = [];
  now = new Date();
});
afterEach(() => rm(folder, { recursive: true }));

async function opened(t: TestContext): Promise<CertificateFolder> {
  const source = await openCertificateFolder({
    folder,
    now: () => now,
    interval: 1_000_000,
    onServed: ({ name }) => told.push(`served ${name}`),
    onProblem: ({ name, what }) => told.push(`problem ${name}: ${what}`),
    onSolved: (name) => told.push(`solved ${name}`),
  });
  t.after(() => source.close());
  return source;
}

const expired = (): Promise<TestPair> => authority.issue(['a.example.org'], { from: -2 * DAY, to: -DAY });

test('a host gets the certificate of its own name, another one that of the wildcard, and a deeper name none', async (t) => {
  await writePair(folder, 'a.example.org', await authority.issue(['a.example.org']));
  await writePair(folder, '_.example.org', await authority.issue(['*.example.org']));
  const source = await opened(t);
  assert.equal(source.current('a.example.org')?.name, 'a.example.org');
  assert.equal(source.current('b.example.org')?.name, '*.example.org');
  assert.equal(source.current('c.b.example.org'), null);
  assert.equal(source.current('example.org'), null);
  assert.deepEqual(source.problems(), []);
});

test('the wildcard may be written with its star', async (t) => {
  await writePair(folder, '*.example.org', await authority.issue(['*.example.org']));
  assert.equal((await opened(t)).current('b.example.org')?.name, '*.example.org');
});

test('a new pair is served at the next look, also where a link leads elsewhere now', async (t) => {
  const elsewhere = path.join(folder, 'archive');
  await writePair(folder, 'old', await authority.issue(['a.example.org']));
  await writePair(folder, 'new', await authority.issue(['a.example.org']));
  for (const ending of ['crt', 'key']) {
    await rename(path.join(folder, `old.${ending}`), `${elsewhere}-1.${ending}.pem`);
    await rename(path.join(folder, `new.${ending}`), `${elsewhere}-2.${ending}.pem`);
    await symlink(`${elsewhere}-1.${ending}.pem`, path.join(folder, `a.example.org.${ending}`));
  }
  const source = await opened(t);
  const first = source.current('a.example.org')?.fingerprint;
  for (const ending of ['crt', 'key']) {
    const link = path.join(folder, `a.example.org.${ending}`);
    await rm(link);
    await symlink(`${elsewhere}-2.${ending}.pem`, link);
  }
  await source.look();
  const second = source.current('a.example.org')?.fingerprint;
  assert.notEqual(second, undefined);
  assert.notEqual(second, first);
  assert.deepEqual(told, ['served a.example.org', 'served a.example.org']);
});

const worse: Readonly<Record<string, readonly [() => Promise<TestPair>, RegExp]>> = {
  'an expired one': [expired, /the certificate expired at/],
  'one that is not valid yet': [
    () => authority.issue(['a.example.org'], { from: DAY, to: 2 * DAY }),
    /the certificate is valid from/,
  ],
  'one with the key of another': [
    async () => ({
      ...(await authority.issue(['a.example.org'])),
      key: (await authority.issue(['a.example.org'])).key,
    }),
    /the key does not belong to the certificate/,
  ],
  'one for another host': [() => authority.issue(['b.example.org']), /the certificate does not name a\.example\.org/],
  'half of a file': [
    async () => {
      const pair = await authority.issue(['a.example.org']);
      return { ...pair, certificate: pair.certificate.slice(0, 200) };
    },
    /does not hold a certificate/,
  ],
  'an empty key': [
    async () => ({ ...(await authority.issue(['a.example.org'])), key: '' }),
    /does not hold a private key/,
  ],
  'a file without end': [
    async () => ({ ...(await authority.issue(['a.example.org'])), key: 'x'.repeat(200_000) }),
    /larger than 128 KiB/,
  ],
};
for (const [what, [pair, reason]] of Object.entries(worse)) {
  test(`a certificate that is replaced by ${what} stays in service, and the operator is told once`, async (t) => {
    await writePair(folder, 'a.example.org', await authority.issue(['a.example.org']));
    const source = await opened(t);
    const served = source.current('a.example.org');
    await writePair(folder, 'a.example.org', await pair());
    await source.look();
    assert.deepEqual(source.problems(), [], 'files are replaced one after the other: only the second look counts');
    await source.look();
    await source.look();
    assert.equal(source.current('a.example.org'), served);
    const [problem, ...more] = source.problems();
    assert.match(problem?.what ?? '', reason);
    assert.deepEqual(more, []);
    assert.equal(told.filter((line) => line.startsWith('problem')).length, 1);

    await writePair(folder, 'a.example.org', await authority.issue(['a.example.org']));
    await source.look();
    assert.deepEqual(source.problems(), []);
    assert.equal(told.at(-1), 'solved a.example.org');
    assert.notEqual(source.current('a.example.org'), served);
  });
}

test('a pair that is no good at the start is not served, and told of at once', async (t) => {
  await writePair(folder, 'a.example.org', await expired());
  const source = await opened(t);
  assert.equal(source.current('a.example.org'), null);
  assert.match(told[0] ?? '', /^problem a\.example\.org: the certificate expired at/);
});

test('a certificate whose files are gone is served until they have been gone for two looks', async (t) => {
  await writePair(folder, 'a.example.org', await authority.issue(['a.example.org']));
  const source = await opened(t);
  for (const ending of ['crt', 'key']) await rm(path.join(folder, `a.example.org.${ending}`));
  await source.look();
  assert.notEqual(source.current('a.example.org'), null);
  await source.look();
  assert.equal(source.current('a.example.org'), null);
});

test('a certificate that should long have been renewed is told of before it expires, and served afterwards', async (t) => {
  await writePair(folder, 'a.example.org', await authority.issue(['a.example.org'], { from: -DAY, to: 7 * DAY }));
  const source = await opened(t);
  assert.deepEqual(source.problems(), []);
  now = new Date(Date.now() + 6.5 * DAY);
  await source.look();
  assert.match(source.problems()[0]?.what ?? '', /the certificate expires at/);
  now = new Date(Date.now() + 8 * DAY);
  await source.look();
  assert.match(source.problems()[0]?.what ?? '', /the certificate expired at/);
  assert.notEqual(source.current('a.example.org'), null);
});

test('a file that is named after no host is told of, and a folder that vanishes drops nothing', async (t) => {
  await writePair(folder, 'a.example.org', await authority.issue(['a.example.org']));
  await writeFile(path.join(folder, 'not a host.crt'), '');
  const source = await opened(t);
  assert.deepEqual(
    source.problems().map(({ name }) => name),
    ['not a host.crt'],
  );
  await rm(path.join(folder, 'not a host.crt'));
  await source.look();
  assert.deepEqual(source.problems(), []);
  const gone = `${folder}-gone`;
  await rename(folder, gone);
  await source.look();
  await source.look();
  assert.notEqual(source.current('a.example.org'), null);
  assert.match(source.problems()[0]?.what ?? '', /the folder cannot be read: ENOENT/);
  await rename(gone, folder);
  await source.look();
  assert.deepEqual(source.problems(), []);
});

test('a folder that is not there does not open', async () => {
  const options = { now: () => now, onServed() {}, onProblem() {}, onSolved() {} };
  await assert.rejects(openCertificateFolder({ ...options, folder: path.join(folder, 'none') }), { code: 'ENOENT' });
});
