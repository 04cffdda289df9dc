// The doctor on the public path: an Ingress with a proxy of the test before it, which spoils one thing at a time. Every
// name leads to loopback.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { keyFromSeed } from '@platform/link';
import { certificateFor } from '../../../../../tests/support/tls-front.ts';
import { until } from '../../../../../tests/support/wait.ts';
import {
  newAuthority,
  type TestAuthority,
  type TestPair,
  writePair,
} from '../../../../ingress/test-support/certificates.ts';
import { key, startUnderTest, type UnderTest } from '../../../../ingress/test-support/ingress-under-test.ts';
import type { Finding } from '../finding.ts';
import { certificateFinding } from './certificate.ts';
import type { CertificateOrigin } from './certificate-findings.ts';
import { type Means, type PublicPath, walkPublicPath } from './walk.ts';

const DOMAIN = 'apps.example.org';

/** How a proxy treats what it passes on. */
interface Manners {
  /** Replaces `Host`. */
  readonly host?: string;
  /** Of `X-Forwarded-For`. Default: adds the address that it sees. */
  readonly forwardedFor?: 'add' | 'keep' | 'drop';
  readonly saysProtocol?: boolean;
  /** Sends answers only when they are complete. */
  readonly buffers?: boolean;
  readonly passesUpgrades?: boolean;
  /** Answers itself. */
  readonly answersItself?: boolean;
}

let trusting: UnderTest;
let doubting: UnderTest;
before(async () => {
  trusting = await startUnderTest({ trustedProxies: ['127.0.0.1'] });
  doubting = await startUnderTest();
});
after(() => Promise.all([trusting.close(), doubting.close()]));

/** Before an Ingress, over TLS: a proxy of the test. @returns its port */
async function startProxy(
  t: TestContext,
  ingressPort: number,
  certificate: { readonly key: string; readonly cert: string },
  { host, forwardedFor = 'add', saysProtocol = true, buffers = false, passesUpgrades = true, answersItself }: Manners,
): Promise<number> {
  const fieldsOf = (req: http.IncomingMessage) => {
    const { 'x-forwarded-for': before, ...rest } = req.headers;
    // Another address than the one it connects from, as that of a client elsewhere.
    const added = [before ?? [], '203.0.113.5'].flat().join(', ');
    const hops = forwardedFor === 'add' ? added : forwardedFor === 'keep' ? before : undefined;
    return {
      ...rest,
      ...(host !== undefined && { host }),
      ...(hops !== undefined && { 'x-forwarded-for': hops }),
      ...(saysProtocol && { 'x-forwarded-proto': 'https' }),
      ...(!passesUpgrades && { connection: 'close', upgrade: '' }),
    };
  };
  const proxy = https.createServer(certificate, (req, res) => {
    if (answersItself === true) {
      res.writeHead(404, { server: 'a web server' }).end('no such site');
      return;
    }
    const options = { host: '127.0.0.1', port: ingressPort, path: req.url, method: req.method, headers: fieldsOf(req) };
    const onward = http.request({ ...options, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      if (!buffers) {
        answer.pipe(res);
        return;
      }
      const held: Buffer[] = [];
      answer.on('data', (bytes: Buffer) => held.push(bytes));
      answer.on('end', () => res.end(Buffer.concat(held)));
    });
    onward.on('error', () => res.destroy());
    onward.end();
  });
  const open = new Set<Socket>();
  proxy.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  if (passesUpgrades)
    proxy.on('upgrade', (req, socket) => {
      const onward = connect(ingressPort, '127.0.0.1');
      const lines = Object.entries(fieldsOf(req)).map(([name, value]) => `${name}: ${String(value)}`);
      onward.write(`GET ${req.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      onward.pipe(socket).pipe(onward);
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
    });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(async () => {
    proxy.close();
    for (const socket of open) socket.destroy();
    await once(proxy, 'close');
  });
  return (proxy.address() as AddressInfo).port;
}

interface Walk extends Manners {
  /** Default: one that trusts the proxy. */
  readonly ingress?: UnderTest;
  /** Of the certificate. */
  readonly names?: readonly string[];
  readonly trusted?: boolean;
  readonly means?: Partial<Means>;
  readonly path?: Partial<PublicPath>;
}

/** What the doctor finds, worst first: its check and verdict, and what is not good in full. */
async function walk(t: TestContext, settings: Walk = {}): Promise<{ verdicts: string[]; wrong: Finding[] }> {
  const { ingress = trusting, names = [`*.${DOMAIN}`], trusted = true, means, path, ...manners } = settings;
  const certificate = await certificateFor(names);
  const port = await startProxy(t, ingress.port, certificate, manners);
  const findings = await walkPublicPath(
    {
      domain: DOMAIN,
      scheme: 'https',
      port,
      ingress: { host: '127.0.0.1', port: ingress.port, tls: null, key },
      ...path,
    },
    { lookup: async () => '127.0.0.1', now: new Date(), ...(trusted && { authorities: certificate.cert }), ...means },
  );
  return {
    verdicts: findings.map(({ check, verdict }) => `${check} ${verdict}`),
    wrong: findings.filter(
      ({ verdict, check }) => verdict !== 'good' && check !== 'public name' && check !== 'public TLS',
    ),
  };
}

/** The one finding that is not good, beside loopback for an address and a test's certificate that ends tomorrow. */
function only({ wrong }: { readonly wrong: Finding[] }): Finding {
  assert.equal(wrong.length, 1, JSON.stringify(wrong));
  const [finding] = wrong;
  assert.ok(finding?.cure !== undefined);
  return finding;
}

test('behind a proxy that does all it should, everything passes', async (t) => {
  const { verdicts, wrong } = await walk(t);
  assert.deepEqual(wrong, []);
  assert.deepEqual(verdicts, [
    'Ingress good',
    'public name warning',
    'public TLS warning',
    'public host good',
    'client good',
    'buffering good',
    'WebSocket good',
  ]);
});

test('on a laptop nothing is looked up, and the doctor says that it is fine on this machine only', async () => {
  const ingress = { host: '0.0.0.0', port: doubting.port, tls: null, key } as const;
  const findings = await walkPublicPath(
    { domain: 'public.platform.localhost', scheme: 'http', port: doubting.port, ingress },
    { lookup: () => assert.fail('a name was looked up'), now: new Date() },
  );
  assert.deepEqual(
    findings.filter(({ verdict }) => verdict !== 'good'),
    [],
  );
  assert.match(findings[1]?.found ?? '', /fine on this machine only/);
  assert.equal(findings.length, 6);
});

test('an address of IPv6 is written as in URLs', async (t) => {
  const ingress = { host: '[::]', port: 1, tls: null, key } as const;
  const { wrong } = await walk(t, { path: { ingress } });
  assert.match(wrong[0]?.found ?? '', /^does not answer at \[::1\]:1 /);
});

test('an Ingress that does not run, or is another one, is the first thing to be told', async (t) => {
  const elsewhere = { host: '127.0.0.1', port: 1, tls: null, key } as const;
  const none = await walk(t, { path: { ingress: elsewhere } });
  assert.deepEqual(none.verdicts, ['Ingress bad']);
  const another = { ...elsewhere, port: trusting.port, key: keyFromSeed(Buffer.alloc(32, 1)) };
  assert.match(only(await walk(t, { path: { ingress: another } })).found, /is not the Ingress of this machine/);
});

interface Secured {
  readonly folder: string;
  /** Of the certificates that are put there. */
  readonly authority: TestAuthority;
  /** @returns what the doctor finds, on the way to this Ingress without a proxy */
  walk(tls?: CertificateOrigin, challengePort?: number): Promise<Finding[]>;
}

/** An Ingress with certificates from a folder, in which `put` puts the first. */
async function openSecured(t: TestContext, put: (folder: string, authority: TestAuthority) => Promise<void>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'certificates-'));
  t.after(() => rm(folder, { recursive: true }));
  const authority = await newAuthority();
  await put(folder, authority);
  const { port, close, ingress } = await startUnderTest({
    tls: { domain: DOMAIN, certificates: { kind: 'files', folder }, plain: { host: '127.0.0.1', port: 0 } },
  });
  t.after(close);
  const plainPort = ingress.plainPort ?? assert.fail('there is no plain port');
  const secured: Secured = {
    ...{ folder, authority },
    walk: (tls = 'files', challengePort = plainPort) =>
      walkPublicPath(
        { domain: DOMAIN, scheme: 'https', port, challengePort, ingress: { host: '127.0.0.1', port, tls, key } },
        { lookup: async () => '127.0.0.1', now: new Date(), authorities: authority.ca },
      ),
  };
  return secured;
}

const verdictsOf = (findings: readonly Finding[]) => findings.map(({ check, verdict }) => `${check} ${verdict}`);
const MONTH = 30 * 86_400_000;
const ofCertificates = (findings: readonly Finding[]) => findings.filter(({ check }) => check === 'certificates');
const BEHIND = ['public host good', 'client good', 'buffering good', 'WebSocket good'];

test('an Ingress with certificates of its own is walked without a proxy', async (t) => {
  const { walk } = await openSecured(t, async (folder, authority) =>
    writePair(folder, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`], { to: MONTH })),
  );
  const findings = await walk();
  assert.deepEqual(verdictsOf(findings), [
    ...['Ingress good', 'certificates good', 'public name warning', 'public TLS good'],
    ...BEHIND,
  ]);
  assert.match(findings[1]?.found ?? '', /^one is in service; \*\.apps\.example\.org is valid until 20/);
});

test('an Ingress without a certificate is walked all the same, and told what is missing', async (t) => {
  const { walk } = await openSecured(t, async () => undefined);
  const findings = await walk();
  assert.deepEqual(verdictsOf(findings), [
    ...['Ingress good', 'certificates bad', 'public name warning', 'public TLS bad'],
    ...BEHIND,
  ]);
  assert.match(findings[1]?.found ?? '', /none for names below apps\.example\.org/);
  assert.match(
    findings[1]?.cure ?? '',
    /Put _\.apps\.example\.org\.crt and _\.apps\.example\.org\.key into the folder/,
  );
  assert.deepEqual(verdictsOf(await walk('acme for each')), [
    ...['Ingress good', 'certificates good', 'public name warning', 'public HTTP good', 'public TLS good'],
    ...BEHIND,
  ]);
});

test('where the authority cannot check names over plain HTTP, the doctor names the port', async (t) => {
  const { walk } = await openSecured(t, async () => undefined);
  const named = async (port: number) =>
    (await walk('acme for each', port)).find(({ check }) => check === 'public HTTP') ?? assert.fail('not looked at');
  const closed = await named(1);
  assert.equal(closed.verdict, 'bad');
  assert.match(closed.found, /^nothing answers at 127\.0\.0\.1:1 /);
  assert.match(closed.cure ?? '', /Let port 1 there lead to PLATFORM_INGRESS_HTTP_LISTEN of this machine/);
  const other = await named(trusting.port);
  assert.equal(other.found, `what answers at 127.0.0.1:${trusting.port} is not the Ingress (200)`);
});

test('with certificates of single hosts alone, the doctor says what serves the others', async (t) => {
  const { walk } = await openSecured(t, async (folder, authority) =>
    writePair(folder, `notes.${DOMAIN}`, await authority.issue([`notes.${DOMAIN}`])),
  );
  const [finding] = ofCertificates(await walk());
  assert.equal(finding?.verdict, 'warning');
  assert.match(finding.found, /one is in service; .*; apps without a file of their own have none/);
});

type Spoil = (folder: string, name: string, authority: TestAuthority) => Promise<void>;
const putting = (pair: (name: string, authority: TestAuthority) => Promise<TestPair>): Spoil => {
  return async (folder, name, authority) => writePair(folder, name, await pair(name, authority));
};
const putGood = putting((name, authority) => authority.issue([name], { to: MONTH }));
/** What may become of the files of a host, by its first label. */
const spoiled: Readonly<Record<string, readonly [Spoil, RegExp]>> = {
  broken: [
    (folder, name) => writeFile(path.join(folder, `${name}.crt`), 'no certificate'),
    /does not hold a certificate in PEM/,
  ],
  mixed: [
    putting(async (name, authority) => ({ ...(await authority.issue([name])), key: (await authority.issue([])).key })),
    /the key does not belong to the certificate/,
  ],
  keyless: [(folder, name) => rm(path.join(folder, `${name}.key`)), /: keyless\.\S+\.key cannot be read: ENOENT/],
  expired: [
    putting((name, authority) => authority.issue([name], { from: -MONTH, to: -1_000 })),
    /the certificate expired at 20/,
  ],
  misled: [
    putting((_name, authority) => authority.issue(['other.example.net'])),
    /the certificate does not name misled\./,
  ],
};
const hosts = Object.keys(spoiled).map((label) => `${label}.${DOMAIN}`);
const spoil = async (folder: string, authority: TestAuthority) => {
  for (const [label, [change]] of Object.entries(spoiled)) await change(folder, `${label}.${DOMAIN}`, authority);
};

function assertNamed(problems: readonly Finding[], verdict: string, inUse: RegExp): void {
  assert.equal(problems.length, hosts.length, JSON.stringify(problems));
  for (const [label, [, reason]] of Object.entries(spoiled)) {
    const named = problems.find(({ found }) => found.startsWith(`${label}.${DOMAIN}: `));
    assert.equal(named?.verdict, verdict, label);
    assert.match(named.found, reason);
    assert.match(named.found, inUse);
    const files = `Put a certificate for ${label}.${DOMAIN} and its key into ${label}.${DOMAIN}.crt and ${label}.${DOMAIN}.key`;
    assert.ok(named.cure?.startsWith(files), named.cure);
  }
}

test('pairs that are no good at the start are named, each with its reason', async (t) => {
  const { walk } = await openSecured(t, async (folder, authority) => {
    for (const host of hosts) await putGood(folder, host, authority);
    await spoil(folder, authority);
  });
  const [none, ...problems] = ofCertificates(await walk());
  assert.deepEqual([none?.verdict, none?.cure], ['bad', 'The next lines say why.']);
  assertNamed(problems, 'bad', /\. Clients get no valid one$/);
});

test('pairs that are replaced by ones that are no good are named, and those that stay in use', async (t) => {
  const { folder, authority, walk } = await openSecured(t, async (folder, authority) => {
    for (const host of hosts) await putGood(folder, host, authority);
  });
  await spoil(folder, authority);
  // Two looks at the folder, ten seconds apart.
  const named = async () => {
    const [, ...problems] = ofCertificates(await walk());
    return problems.length === hosts.length ? problems : undefined;
  };
  const problems = await until('the doctor to name them', named, 200_000);
  assertNamed(problems, 'warning', /\. The former one stays in use until 20/);
});

test('a certificate that is near its end, and a file that is named after no host, are named', async (t) => {
  const { walk } = await openSecured(t, async (folder, authority) => {
    await writePair(folder, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`], { from: -MONTH, to: 60_000 }));
    await writeFile(path.join(folder, 'full chain.crt'), '');
  });
  const [good, ...problems] = ofCertificates(await walk());
  assert.equal(good?.verdict, 'good');
  assert.deepEqual(problems.map(({ verdict, found }) => `${verdict} ${found.replace(/ at 20.*/, '')}`).sort(), [
    'warning *.apps.example.org: the certificate expires',
    'warning full chain.crt: the file is named after no host and no wildcard, or twice after one',
  ]);
});

test('without a wildcard record the walk ends there, with the record to add', async (t) => {
  const lookup = () => Promise.reject(new Error('ENOTFOUND'));
  const findings = await walkPublicPath(
    { domain: DOMAIN, scheme: 'https', port: 1, ingress: { host: '127.0.0.1', port: trusting.port, tls: null, key } },
    { lookup, now: new Date() },
  );
  assert.deepEqual(
    findings.map(({ check, verdict }) => `${check} ${verdict}`),
    ['Ingress good', 'public name bad'],
  );
  assert.match(findings[1]?.cure ?? '', /\*\.apps\.example\.org/);
  t.diagnostic(findings[1]?.found ?? '');
});

for (const [what, settings, found] of [
  ['is for another name', { names: ['shop.example'] }, /is for shop\.example, not for \*\.apps\.example\.org/],
  ['has ended', { means: { now: new Date(Date.now() + 90 * 86_400_000) } }, /ended on/],
  ['is of nobody that clients trust', { trusted: false }, /will not trust/],
] as const) {
  test(`a certificate that ${what} is named`, async (t) => {
    const certificate = await certificateFor(settings && 'names' in settings ? settings.names : [`*.${DOMAIN}`]);
    const port = await startProxy(t, trusting.port, certificate, {});
    const trusted = !('trusted' in settings);
    const finding = await certificateFinding(
      { scheme: 'https', address: '127.0.0.1', port, name: `any.${DOMAIN}` },
      { domain: DOMAIN, ingress: { tls: null, key } },
      {
        now: 'means' in settings ? settings.means.now : new Date(),
        ...(trusted && { authorities: certificate.cert }),
      },
    );
    assert.equal(finding.verdict, 'bad');
    assert.match(finding.found, found);
  });
}

test('a proxy that does not listen, or answers itself, is named', async (t) => {
  const closed = await walk(t, { path: { scheme: 'http', port: 1 } });
  assert.match(only(closed).found, /nothing answers at 127\.0\.0\.1:1/);
  const own = only(await walk(t, { answersItself: true }));
  assert.match(own.found, /answers 404 by a web server/);
});

test('a proxy that changes Host is named', async (t) => {
  const { found, cure } = only(await walk(t, { host: 'upstream.internal' }));
  assert.match(found, /arrives at an Ingress under another name/);
  assert.match(cure ?? '', /Host/);
});

test('a proxy that passes on what strangers say of themselves is named, where it is trusted', async (t) => {
  assert.match(only(await walk(t, { forwardedFor: 'keep' })).found, /clients can forge any address/);
});

test('a proxy that is not trusted, or says nothing of its clients, is named', async (t) => {
  const distrusted = await walk(t, { ingress: doubting });
  assert.match(distrusted.wrong[0]?.cure ?? '', /Add 127\.0\.0\.1 to PLATFORM_TRUSTED_PROXIES/);
  assert.match(only(await walk(t, { forwardedFor: 'drop' })).found, /sends no address of theirs/);
  const plain = only(await walk(t, { saysProtocol: false }));
  assert.match(plain.cure ?? '', /X-Forwarded-Proto/);
});

test('a proxy that holds answers back, or passes no upgrade, is named', async (t) => {
  assert.match(only(await walk(t, { buffers: true })).found, /only when it is complete/);
  assert.match(only(await walk(t, { passesUpgrades: false })).found, /a WebSocket does not pass/);
});
