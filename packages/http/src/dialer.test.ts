// The dialer against the vectors of the egress guard and IANA's table: what it connects to, with the resolver and the
// last step, the connection itself, held by the test.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, Socket } from 'node:net';
import { describe, test } from 'node:test';
import { Agent, request } from 'undici';
import { BlockedAddressError, createDialer, type DialTarget, TooManyDialsError } from './dialer.ts';
import { dialingConnector } from './dialing-connector.ts';
import { isPublicAddress } from './public-host.ts';

interface Answer {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
}

interface Case {
  readonly input: string;
  readonly class: string;
  readonly expected: string;
  readonly name: string;
  readonly dns?: readonly Answer[];
  readonly chain?: readonly { readonly location?: string }[];
  readonly context?: { readonly allow: readonly string[] };
}

const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../contract/test-vectors/${name}.json`, import.meta.url), 'utf8')).cases;

const PUBLIC = '93.184.215.14';
const OWN = '198.20.0.77';
const OWN_IN_VECTORS = "<the platform's own public address>";

/** Names outside that have private addresses, as `resolveHint` of the vectors says. */
const PRIVATE_NAMES: Readonly<Record<string, string>> = {
  'localtest.me': '::1',
  'localh.st': '127.0.0.1',
  'company.127.0.0.1.nip.io': '127.0.0.1',
};

/** Connects nowhere, and remembers where it would have. */
function recording(resolve: (name: string) => Promise<readonly string[]>) {
  const connected: string[] = [];
  const dialer = createDialer({
    resolve,
    ownAddresses: () => [OWN],
    open({ host }) {
      connected.push(host);
      const socket = new Socket();
      process.nextTick(() => socket.emit('connect'));
      return socket;
    },
  });
  return { dialer, connected };
}

/** What a service makes of a URL: parsed once, http and https only, without user, password or a backslash. */
function targetOf(input: string, allow: DialTarget['allow']): DialTarget | null {
  if (/^https?:\/\/[^/\\]/i.test(input) === false || !URL.canParse(input) || /[\t\r\n\\]/.test(input)) return null;
  const { protocol, hostname, port, username, password } = new URL(input);
  if (username !== '' || password !== '') return null;
  return { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)), allow };
}

async function outcome({ input, dns, class: kind, context }: Case): Promise<{ ok: boolean; connected: string[] }> {
  const answers = dns === undefined ? null : [...dns];
  const { dialer, connected } = recording(async (name) => {
    const given = answers?.shift();
    if (given !== undefined)
      return [...(given.A ?? []), ...(given.AAAA ?? [])].map((one) => (one === OWN_IN_VECTORS ? OWN : one));
    // The origin on the list, and what looks like it, lie on a private address: the list alone lets it pass.
    if (kind.startsWith('allow-list')) return ['10.0.0.5'];
    return [PRIVATE_NAMES[name] ?? PUBLIC];
  });
  const target = targetOf(input, context?.allow ?? 'public');
  if (target === null) return { ok: false, connected };
  try {
    await dialer.connect(target);
    return { ok: true, connected };
  } catch (error) {
    assert.ok(error instanceof BlockedAddressError, `${input}: ${error}`);
    return { ok: false, connected };
  }
}

/** Which ports a target may name is decided where the target is: a manifest declares the origin of a slot, port included. */
const PORT_OF_CALLER = /:(?:22|6379|5432|9200)\//;

describe('the vectors of the egress guard', () => {
  const cases = (vectors('ssrf') as Case[]).filter((one) => one.class !== 'redirect');
  for (const one of cases.filter(({ class: kind, input }) => kind !== 'port' || !PORT_OF_CALLER.test(input))) {
    test(`${one.name} ${JSON.stringify(one.input)}: ${one.expected}`, async () => {
      const { ok, connected } = await outcome(one);
      if (one.expected === 'refuse') assert.deepEqual([ok, connected], [false, []]);
      else if (one.expected === 'allow') assert.equal(ok, true);
      else if (one.expected === 'connects-to-first-only') assert.deepEqual([ok, connected], [true, [PUBLIC]]);
      else assert.ok(connected.every(isPublicAddress), connected.join(' '));
    });
  }

  test('a redirect is handed back as it is, wherever it leads, and nothing else is connected to', async () => {
    const redirects = (vectors('ssrf') as Case[]).filter((one) => one.class === 'redirect');
    assert.equal(redirects.length, 8);
    for (const { chain } of redirects) {
      const { location } = chain?.[0] ?? {};
      // A field that node would not send is no redirect that could be followed.
      const headers = location === undefined || /[\r\n]/.test(location) ? {} : { location };
      const server = createServer((_req, res) => res.writeHead(302, headers).end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      let connections = 0;
      const dialer = createDialer({
        resolve: async () => [PUBLIC],
        open() {
          connections += 1;
          return connect({ host: '127.0.0.1', port });
        },
      });
      const agent = new Agent({ connect: dialingConnector({ dialer, allow: 'public' }) });
      const answer = await request('http://pub.example.com/', { dispatcher: agent });
      await answer.body.dump();
      assert.deepEqual([answer.statusCode, connections], [302, 1]);
      await agent.close();
      server.close();
    }
  });
});

test('every special-purpose block of IANA is refused at its first and last address, written out and as an answer', async () => {
  const blocks = vectors('ip-special-purpose') as { cidr: string; family: number; egress: string }[];
  assert.equal(blocks.length, 56);
  for (const { cidr, family, egress } of blocks) {
    assert.match(egress, /^refuse/);
    for (const address of ends(cidr, family)) {
      const { dialer, connected } = recording(async () => [address]);
      for (const host of [address, 'name.example.com'])
        await assert.rejects(dialer.connect({ host, port: 443, allow: 'public' }), BlockedAddressError, address);
      assert.deepEqual(connected, []);
    }
  }
});

test('hosts that no URL would hold are refused although they are on the list of private origins', async () => {
  const { dialer, connected } = recording(async () => [PUBLIC]);
  const allow = ['http://127.0.0.1:80', 'http://[::1]:80', 'http://[fe80::1]:80'];
  for (const host of [
    '0177.0.0.1',
    '0x7f.1',
    '127.1',
    '2130706433',
    '127.0.0.1.',
    '::1%lo',
    '[fe80::1%eth0]',
    '',
    'a b',
  ])
    await assert.rejects(dialer.connect({ host, port: 80, allow }), BlockedAddressError, host);
  for (const port of [0, -1, 65_536, 1.5, Number.NaN])
    await assert.rejects(dialer.connect({ host: '127.0.0.1', port, allow }), BlockedAddressError, String(port));
  assert.deepEqual(connected, []);
});

test('an origin on the list is reached wherever it lies, and its other ports are not', async () => {
  const { dialer, connected } = recording(async () => ['10.0.0.5']);
  const allow = ['https://models.lan', 'http://[fd00::7]:11434', 'https://10.0.0.9:8443'];
  await dialer.connect({ host: 'models.lan', port: 443, allow });
  await dialer.connect({ host: 'MODELS.LAN', port: 443, allow });
  await dialer.connect({ host: 'fd00::7', port: 11_434, allow });
  await dialer.connect({ host: '10.0.0.9', port: 8_443, allow });
  assert.deepEqual(connected, ['10.0.0.5', '10.0.0.5', 'fd00::7', '10.0.0.9']);
  for (const [host, port] of [
    ...[['models.lan', 80] as const, ['other.models.lan', 443] as const, ['models.lan.', 443] as const],
    ...[['10.0.0.9', 443] as const, ['fd00::8', 11_434] as const],
  ])
    await assert.rejects(dialer.connect({ host, port, allow }), BlockedAddressError, `${host} ${port}`);
});

test('the name is resolved once, and a later answer changes nothing', async () => {
  const answers = [[PUBLIC], ['127.0.0.1']];
  const { dialer, connected } = recording(async () => answers.shift() ?? assert.fail('resolved a third time'));
  const to = { host: 'a.example.com', port: 443, allow: 'public' } as const;
  await dialer.connect(to);
  await assert.rejects(dialer.connect(to), BlockedAddressError);
  assert.deepEqual(connected, [PUBLIC]);
});

test('IPv4 addresses come first, and four addresses are tried at most', async () => {
  const tried: string[] = [];
  const dialer = createDialer({
    resolve: async () => ['2606:4700:4700::1111', '1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5'],
    open({ host }) {
      tried.push(host);
      const socket = new Socket();
      process.nextTick(() => socket.destroy(new Error('refused')));
      return socket;
    },
  });
  await assert.rejects(dialer.connect({ host: 'a.example.com', port: 443, allow: 'public' }), /refused/);
  assert.deepEqual(tried, ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4']);
});

test('an address that does not answer gives way to the next, and all of them end in time', async () => {
  const tried: string[] = [];
  const sockets: Socket[] = [];
  const dialer = createDialer({
    timeout: 200,
    resolve: async () => ['1.1.1.1', '1.1.1.2'],
    open({ host }) {
      tried.push(host);
      sockets.push(new Socket());
      return sockets.at(-1) ?? assert.fail();
    },
  });
  const began = performance.now();
  await assert.rejects(dialer.connect({ host: 'a.example.com', port: 443, allow: 'public' }), { name: 'TimeoutError' });
  assert.ok(performance.now() - began < 20_000);
  assert.deepEqual(tried, ['1.1.1.1', '1.1.1.2']);
  assert.ok(sockets.every(({ destroyed }) => destroyed));
});

test('a resolver that never answers, or an abort, ends the attempt', async () => {
  const dialer = createDialer({ timeout: 60_000, resolve: () => new Promise(() => undefined) });
  const abort = new AbortController();
  const dialing = dialer.connect({ host: 'a.example.com', port: 443, allow: 'public' }, abort.signal);
  abort.abort(new Error('the caller left'));
  await assert.rejects(dialing, /the caller left/);
});

test('connections being made are bounded in number, and one that ends makes room', async () => {
  const abort = new AbortController();
  const dialer = createDialer({ mostPending: 2, resolve: () => new Promise(() => undefined) });
  const to = { host: 'a.example.com', port: 443, allow: 'public' } as const;
  const waiting = [dialer.connect(to, abort.signal), dialer.connect(to)];
  await assert.rejects(dialer.connect(to), TooManyDialsError);
  abort.abort();
  await assert.rejects(waiting[0] ?? assert.fail(), { name: 'AbortError' });
  await assert.rejects(dialer.connect({ ...to, host: '127.0.0.1' }), BlockedAddressError);
});

test('the resolver and the addresses of the system are used unless others are given', async () => {
  const server = createTcpServer((socket) => socket.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dialer = createDialer();
  const socket = await dialer.connect({ host: 'localhost', port, allow: [`http://localhost:${port}`] });
  assert.equal(String((await once(socket, 'data'))[0]), 'here');
  await assert.rejects(dialer.connect({ host: 'localhost', port, allow: 'public' }), BlockedAddressError);
  server.close();
});

/** First and last address of a block. */
function ends(cidr: string, family: number): string[] {
  const [address = '', prefix = ''] = cidr.split('/');
  const width = family === 4 ? 32 : 128;
  const first = family === 4 ? bigOf(address.split('.'), 8, 10) : bigOf(groups(address), 16, 16);
  const last = first | ((1n << BigInt(width - Number(prefix))) - 1n);
  return [first, last].map((number) => (family === 4 ? textOf(number, 4, 8, 10, '.') : textOf(number, 8, 16, 16, ':')));
}

function groups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = 8 - (left?.length ?? 0) - (right?.length ?? 0);
  return [...(left ?? []), ...Array<string>(missing).fill('0'), ...(right ?? [])];
}

function bigOf(parts: readonly string[], bits: number, radix: number): bigint {
  return parts.reduce((sum, part) => (sum << BigInt(bits)) | BigInt(Number.parseInt(part, radix)), 0n);
}

function textOf(number: bigint, count: number, bits: number, radix: number, mark: string): string {
  const parts = Array.from(
    { length: count },
    (_, index) => (number >> BigInt((count - 1 - index) * bits)) & ((1n << BigInt(bits)) - 1n),
  );
  return parts.map((part) => part.toString(radix)).join(mark);
}
