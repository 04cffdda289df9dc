// Runs a test file again in a network namespace of its own, with a small internet around it that no packet can leave.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { passOnSkips } from '../../../tests/support/nested-skips.ts';
import { findProgram } from '../src/find-program.ts';
import { isTunOpen, TUN_DEVICE } from '../src/network/tun-device.ts';

/** Set inside. */
const MARK = 'PLATFORM_TEST_INTERNET';
/** A pipe into which `onMachine` writes. */
const COMMANDS = 'PLATFORM_TEST_INTERNET_COMMANDS';

export const PUBLIC = '93.184.215.14';
/** Publicly routable, and the name server. */
export const NAME_SERVER = '9.9.9.9';
/** Every one answers, and no workload may ever reach it. */
export const FORBIDDEN = [
  '10.1.2.3',
  '100.64.1.1',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.200.1',
  '198.51.100.1',
  '203.0.113.1',
] as const;
/**
 * The address of the machine under test in that internet: publicly routable, and forbidden to workloads all the same.
 */
export const OWN = '5.6.7.1';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const LIMIT = 240_000;
const MOST_SAID = 4_000;

/**
 * Who the test is inside: root of that machine, or a user without any right over it or its network. A file that is
 * both asks `getuid`.
 */
export type Traveller = 'root' | 'ordinary user';

/** Why the internet cannot be made here, or false. */
export function cannotTravel(as: Traveller = 'root'): string | false {
  const isRoot = process.getuid?.() === 0;
  if (as === 'root' && !isRoot) return 'needs root, to make network namespaces with a connection between them';
  const missing = ['unshare', 'nsenter', 'setpriv', 'ip', 'nft'].filter((name) => findProgram(name) === undefined);
  if (missing.length > 0)
    return `${missing.join(' and ')} missing (Debian: apt-get install nftables iproute2 util-linux)`;
  if (as === 'root') return false;
  if (spawnSync('unshare', ['--user', '--map-root-user', '--net', 'true']).status !== 0)
    return 'this machine lets nobody make user namespaces: sysctl -w user.max_user_namespaces=15000';
  if (findProgram('pasta') === undefined && findProgram('slirp4netns') === undefined)
    return 'pasta and slirp4netns missing (Debian: apt-get install passt)';
  if (!existsSync(TUN_DEVICE)) return '/dev/net/tun is missing: modprobe tun';
  return isRoot || isTunOpen() ? false : '/dev/net/tun is closed to this user: chmod 666 /dev/net/tun';
}

/**
 * Declares the tests of a file: inside its internet when this process is there already, otherwise as one test for each
 * of `travellers`, which runs the same file there and shows what it said when it failed. Default: root.
 */
export function inInternet(url: string, declare: () => void, ...travellers: readonly Traveller[]): void {
  if (process.env[MARK] === '1') {
    declare();
    return;
  }
  for (const as of travellers.length === 0 ? (['root'] as const) : travellers) {
    const name = `in a network namespace of its own, with an internet that no packet leaves, as ${as}`;
    test(name, { skip: cannotTravel(as) }, (t) => travel(t, url, as));
  }
}

async function travel(t: TestContext, url: string, as: Traveller): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'pi-'));
  t.after(() => rmSync(stage, { recursive: true, force: true }));
  chmodSync(stage, 0o777);
  mkdirSync(join(stage, 'checkout'));
  const [program = '', ...rest] = as === 'root' ? asRoot(url) : asUser(url, stage);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const outcome = spawnSync(program, rest, {
    env: { ...environment, [MARK]: '1', ...(as === 'root' ? {} : { [COMMANDS]: join(stage, 'commands') }) },
    encoding: 'utf8',
    timeout: LIMIT,
  });
  assert.equal(outcome.status, 0, whatFailed(outcome));
  assert.match(outcome.stdout, /pass [1-9]/);
  for (const line of outcome.stdout.matchAll(/^\s*ℹ (\w+ to .*)$/gm)) t.diagnostic(line[1] ?? '');
  await passOnSkips(t, outcome.stdout);
}

/** The failures of a failed run; if it printed none, the end of its output. */
function whatFailed({ stdout, stderr, error }: SpawnSyncReturns<string>): string {
  const at = stdout.lastIndexOf('failing tests:');
  return at >= 0 ? stdout.slice(at) : [error?.message, stdout.slice(-MOST_SAID), stderr.slice(-MOST_SAID)].join('\n');
}

function asRoot(url: string): string[] {
  const there = (path: string) => path;
  return ['unshare', '--net', ...internet(there), ...tests(url, there)];
}

/** In user namespaces all the way, so that an ordinary user can have it; as root the same as `nobody`. */
function asUser(url: string, stage: string): string[] {
  const isRoot = process.getuid?.() === 0;
  // Other users may not be able to enter the folders above the checkout.
  const there = (path: string) =>
    isRoot && path.startsWith(CHECKOUT) ? join(stage, 'checkout', path.slice(CHECKOUT.length)) : path;
  return [
    ...(isRoot ? ['unshare', '--mount', '/bin/sh', file('as-nobody.sh'), CHECKOUT, join(stage, 'checkout')] : []),
    ...['unshare', '--user', '--map-root-user', '--net', ...internet(there)],
    ...['unshare', '--user', '--map-user=1000', '--map-group=1000', '--', 'setpriv', '--inh-caps=-all', '--'],
    ...tests(url, there),
  ];
}

function internet(there: (path: string) => string): string[] {
  const addresses = [PUBLIC, NAME_SERVER, ...FORBIDDEN].join(',');
  return ['/bin/sh', there(file('internet.sh')), there(process.execPath), there(file('internet.mjs')), addresses];
}

function tests(url: string, there: (path: string) => string): string[] {
  // --test, since a file that runs by itself ends with 0 after a hook of its own failed.
  return [there(process.execPath), '--test', '--test-reporter=spec', there(fileURLToPath(url))];
}

/** Runs `ip` on the machine under test as its root, where the test itself is an ordinary user. */
export function onMachine(...words: readonly string[]): void {
  writeFileSync(process.env[COMMANDS] ?? '', `${words.join(' ')}\n`, { flag: 'a' });
}

/** How many came to each address of the internet, asked from this side; and `lastByte`, when something last arrived. */
export function visitors(): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '5.6.7.2', port: 7001 });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('error', reject);
    socket.once('end', () => resolve(JSON.parse(text)));
  });
}
