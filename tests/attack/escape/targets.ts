// What the hostile workload is aimed at: a file, a process and services of this machine, each of which notices contact.
import { type ChildProcess, spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import type { Targets } from './way.ts';

export type HostTargets = Pick<
  Targets,
  | 'secretFile'
  | 'secretText'
  | 'hostPid'
  | 'hostCanary'
  | 'hostAddresses'
  | 'hostTcpPort'
  | 'hostUdpPort'
  | 'hostAbstractName'
  | 'hostSocketPath'
>;

export interface Sentinels {
  readonly targets: HostTargets;
  /** What has happened to them, in words; empty when nothing has. */
  harm(): readonly string[];
  close(): Promise<void>;
}

const CANARY = 'canary-of-the-host';

/** @param uid As root: the user of the workload, so that it is not the user that keeps it out. */
export async function openSentinels(folder: string, uid: number | undefined): Promise<Sentinels> {
  const contacts: string[] = [];
  const place = join(folder, 'sentinel');
  mkdirSync(place, { mode: 0o755 });
  chmodSync(place, 0o755);
  const secretFile = join(place, 'secret');
  const secretText = `the secret ${process.pid}`;
  writeFileSync(secretFile, secretText);
  chmodSync(secretFile, 0o666);
  if (uid !== undefined) chownSync(secretFile, uid, uid);

  const serve = (what: string) =>
    net.createServer((socket) => {
      contacts.push(`somebody connected to ${what}`);
      socket.on('error', () => undefined).end();
    });
  const [tcp, abstract, file] = [serve('a port'), serve('an abstract socket'), serve('a socket file')];
  const hostAbstractName = `\0platform-escape-${process.pid}`;
  const hostSocketPath = join(place, 'platform-escape.sock');
  tcp.listen(0);
  abstract.listen(hostAbstractName);
  file.listen({ path: hostSocketPath, readableAll: true, writableAll: true });
  const udp = dgram.createSocket('udp4', (_message, { address, port }) => {
    contacts.push(`a datagram came from ${address}`);
    udp.send('answer', port, address);
  });
  udp.bind(0);
  await Promise.all([...[tcp, abstract, file].map((server) => once(server, 'listening')), once(udp, 'listening')]);

  const sentinel = startSentinel(uid);
  await once(sentinel, 'spawn');
  sentinel.stdout?.on('data', (chunk) => contacts.push(`the process said ${chunk}`));
  const address = tcp.address();
  if (address === null || typeof address === 'string' || sentinel.pid === undefined) throw new Error('No sentinel.');
  return {
    targets: {
      secretFile,
      secretText,
      hostPid: sentinel.pid,
      hostCanary: CANARY,
      hostAddresses: Object.values(os.networkInterfaces()).flatMap((list) =>
        (list ?? []).flatMap((one) => (one.address.startsWith('fe80:') ? [] : [one.address])),
      ),
      hostTcpPort: address.port,
      hostUdpPort: udp.address().port,
      hostAbstractName,
      hostSocketPath,
    },
    harm() {
      const now = readFileSync(secretFile, 'utf8');
      return [
        ...contacts,
        ...(now === secretText ? [] : ['the secret was changed']),
        ...(sentinel.exitCode === null && sentinel.signalCode === null ? [] : ['the process has ended']),
      ];
    },
    async close() {
      const gone = once(sentinel, 'exit');
      // Its group, since what it waits for would go on.
      process.kill(-(sentinel.pid ?? 0), 'SIGKILL');
      await gone;
      for (const server of [tcp, abstract, file]) server.close();
      udp.close();
    },
  };
}

/** A process under the workload's user, which says when it is signalled. It leads a group of its own. */
function startSentinel(uid: number | undefined): ChildProcess {
  const script = 'trap "echo signalled" USR1 USR2 TERM HUP INT CONT; while :; do sleep 1000 & wait $!; done';
  return spawn('/bin/sh', ['-c', script, 'sentinel'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { CANARY, PATH: '/usr/bin:/bin' },
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}
