// Pebble, the ACME server for tests of Let's Encrypt (Debian's package), on loopback: it looks for every name at 127.0.0.1,
// refuses some nonces as authorities may, and signs with an authority of its own that lives as long as it does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { newAuthority, writePair } from '../../packages/ingress/test-support/certificates.ts';
import { freePort } from './free-port.ts';
import { until } from './wait.ts';

const PROGRAMS = ['/usr/bin/pebble', '/usr/bin/pebble-challtestsrv'];

/** Why tests with it are skipped here; `null` where it is installed. */
export const lacksPebble = PROGRAMS.every((file) => existsSync(file)) ? null : 'needs pebble';

export interface Pebble {
  /** URL of its ACME directory. */
  readonly directory: string;
  /** PEM of the authority that its own certificate is checked by. */
  readonly ca: string;
  /** Where records of its DNS server are set: `/set-txt` and `/clear-txt`. */
  readonly dnsManagement: string;
  /** Where it looks for files of HTTP-01, at 127.0.0.1. */
  readonly httpPort: number;
  /** PEM of the authority that signs what is ordered. */
  root(): Promise<string>;
  /** Ends it, as an authority that is down; what it signed stays good. */
  close(): Promise<void>;
}

export async function startPebble(): Promise<Pebble> {
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-pebble-'));
  const authority = await newAuthority();
  await writePair(folder, 'pebble', await authority.issue(['localhost']));
  const [acme, management, dns, dnsManagement, httpPort, tlsPort] = await Promise.all(
    Array.from({ length: 6 }, () => freePort()),
  );
  const config = path.join(folder, 'config.json');
  await writeFile(
    config,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${acme}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: path.join(folder, 'pebble.crt'),
        privateKey: path.join(folder, 'pebble.key'),
        httpPort,
        tlsPort,
      },
    }),
  );
  const processes = [
    start('pebble-challtestsrv', [
      ...['-management', `127.0.0.1:${dnsManagement}`, '-dns01', `127.0.0.1:${dns}`],
      // It answers no challenge itself.
      ...['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''],
    ]),
    start('pebble', ['-config', config, '-dnsserver', `127.0.0.1:${dns}`, '-strict']),
  ];
  const directory = `https://localhost:${acme}/dir`;
  const pebble: Pebble = {
    directory,
    ca: authority.ca,
    dnsManagement: `http://127.0.0.1:${dnsManagement}`,
    httpPort: httpPort ?? 0,
    root: () => textOf(`https://localhost:${management}/roots/0`, authority.ca),
    async close() {
      for (const one of processes) await end(one);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await until('pebble to answer', () => textOf(directory, authority.ca).catch(() => null));
  return pebble;
}

function start(program: string, args: readonly string[]): ChildProcess {
  const env = { PATH: process.env.PATH, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '20', PEBBLE_AUTHZREUSE: '0' };
  return spawn(program, args, { env, stdio: 'ignore' });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function textOf(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca, family: 4 }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      res.on('end', () => (res.statusCode === 200 ? resolve(text) : reject(new Error(`status ${res.statusCode}`))));
    }).on('error', reject);
  });
}
