// Runs a test file again in a network namespace of its own, with a small internet around it that no packet can leave.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import net from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../find-program.ts';

/** Set inside. */
const MARK = 'PLATFORM_TEST_INTERNET';

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
/** The address of the machine under test in that internet: publicly routable, and forbidden to workloads all the same. */
export const OWN = '5.6.7.1';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Why the internet cannot be made here, or false. */
export function cannotTravel(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, to make network namespaces with a connection between them';
  const missing = ['unshare', 'nsenter', 'ip', 'nft'].filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? false : `${missing.join(' and ')} missing (Debian: apt-get install nftables iproute2)`;
}

/**
 * Declares the tests of a file: inside its internet when this process is there already, otherwise as one test that
 * runs the same file there and shows what it said when it failed.
 */
export function inInternet(url: string, declare: () => void): void {
  if (process.env[MARK] === '1') {
    declare();
    return;
  }
  test('in a network namespace of its own, with an internet that no packet leaves', { skip: cannotTravel() }, () => {
    const addresses = [PUBLIC, NAME_SERVER, ...FORBIDDEN].join(',');
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const inner = [process.execPath, '--test-reporter=spec', fileURLToPath(url)];
    const outcome = spawnSync(
      'unshare',
      ['--net', '--', '/bin/sh', file('internet.sh'), process.execPath, file('internet.mjs'), addresses, ...inner],
      { env: { ...environment, [MARK]: '1' }, encoding: 'utf8', timeout: 240_000 },
    );
    assert.equal(outcome.status, 0, `${outcome.stdout}\n${outcome.stderr}`);
    assert.match(outcome.stdout, /pass [1-9]/);
  });
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
