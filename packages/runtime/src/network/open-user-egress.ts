// Finds out what carries the traffic of workloads for an ordinary user of this machine, by really doing it once: in a
// network made for it, with a connection to this machine's own services that must be refused.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Log } from '../clock.ts';
import { findProgram, systemPath } from '../find-program.ts';
import { run } from '../run-command.ts';
import { startCarrier } from './carrier-process.ts';
import { type Carrier, pasta, slirp4netns } from './carriers.ts';
import { type EgressWays, type Launcher, NoEgress } from './egress.ts';
import { carrierAddresses, innerRuleset } from './inner-ruleset.ts';
import { insideOf } from './inside.ts';
import { ownPublicAddresses } from './own-addresses.ts';
import { isTunOpen } from './tun-device.ts';
import { type UserEgressTools, userEgressWays } from './user-egress.ts';

const PROBE = fileURLToPath(new URL('probe-egress.mjs', import.meta.url));
const PROBE_ANSWER = 'refused everywhere';
const START_LIMIT = 10_000;

interface Tools extends UserEgressTools {
  readonly unshare: string;
  readonly ip: string;
}

export const carrierNames = ['pasta', 'slirp4netns'] as const;
export type CarrierName = (typeof carrierNames)[number];
const makers: Readonly<Record<CarrierName, (program: string) => Carrier>> = { pasta, slirp4netns };

/**
 * @param wanted which carriers to try, best first
 * @returns why there is none, when there is none
 */
export async function openUserEgress(
  log: Log,
  wanted: readonly CarrierName[] = carrierNames,
): Promise<EgressWays | NoEgress> {
  const carriers = wanted.flatMap((name) => {
    const program = findProgram(name);
    return program === undefined ? [] : [makers[name](program)];
  });
  if (carriers.length === 0) {
    return new NoEgress(
      'neither pasta nor slirp4netns is installed on this machine (Debian: apt-get install passt), and the platform does not run as root.',
    );
  }
  const tools = findTools();
  if (tools instanceof NoEgress) return tools;
  if (!isTunOpen()) {
    return new NoEgress('/dev/net/tun is missing or not open to this user (modprobe tun; chmod 666 /dev/net/tun).');
  }
  const failures: string[] = [];
  for (const carrier of carriers) {
    try {
      await trial(carrier, tools);
      log.info({ carrier: carrier.name, passedOver: failures }, 'workloads can be granted internet access');
      return userEgressWays({ tools, carrier, log });
    } catch (error) {
      failures.push(`${carrier.name}: ${firstLine(error)}`);
    }
  }
  return new NoEgress(`it could not be set up for an ordinary user (${failures.join('; ')}).`);
}

function findTools(): Tools | NoEgress {
  const [nft, ip] = [findProgram('nft'), findProgram('ip')];
  const [nsenter, unshare, setpriv] = [findProgram('nsenter'), findProgram('unshare'), findProgram('setpriv')];
  if (nft === undefined || ip === undefined) {
    return new NoEgress('nft or ip is not installed on this machine (Debian: apt-get install nftables iproute2).');
  }
  if (nsenter === undefined || unshare === undefined || setpriv === undefined) {
    return new NoEgress(
      'nsenter, unshare or setpriv is not installed on this machine (Debian: apt-get install util-linux).',
    );
  }
  return { nft, ip, nsenter, unshare, setpriv, prlimit: findProgram('prlimit') };
}

/** Everything in the order in which a workload has it. @throws Error with the first thing that does not hold */
async function trial(carrier: Carrier, tools: Tools): Promise<void> {
  const { launcher, end } = await makeNetwork(tools);
  try {
    await run(insideOf(tools.nsenter, launcher, [tools.nft, '-f', '-']), { input: innerRuleset(ownPublicAddresses()) });
    const carrying = await startCarrier(carrier, tools, launcher);
    try {
      await tryOwnServices(tools, launcher);
    } finally {
      await carrying.kill();
    }
  } finally {
    await end();
  }
}

/** A network namespace with a user namespace of its own, held by a process that ends with this one. */
async function makeNetwork(tools: Tools): Promise<{ launcher: Pick<Launcher, 'pid'>; end(): Promise<void> }> {
  const child = spawn(
    tools.setpriv,
    [
      ...['--pdeathsig', 'KILL', '--', tools.unshare, '--user', '--map-root-user', '--net', '--'],
      ...['/bin/sh', '-euc', '"$0" link set lo up; echo made; exec sleep 60', tools.ip],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: systemPath, LC_ALL: 'C' }, cwd: '/' },
  );
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_LIMIT);
  const made = await Promise.race([once(child.stdout, 'data').then(() => true), gone.then(() => false)]);
  clearTimeout(timer);
  if (!made || child.pid === undefined) throw new Error(`no separate network could be created ${said}`.trim());
  return {
    launcher: { pid: child.pid },
    async end() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** From inside, to a port that this process has open on every address: what the carrier could reach and must not. */
async function tryOwnServices(tools: Tools, launcher: Pick<Launcher, 'pid'>): Promise<void> {
  let reached = false;
  const service = net.createServer((socket) => {
    reached = true;
    socket.destroy();
  });
  service.listen(0, '0.0.0.0');
  await once(service, 'listening');
  try {
    const address = service.address();
    const port = address === null || typeof address === 'string' ? 0 : address.port;
    const hosts = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).flatMap((one) => (one.family === 'IPv4' ? [one.address] : [])),
    );
    const answer = await run(
      insideOf(tools.nsenter, launcher, [
        process.execPath,
        PROBE,
        String(port),
        carrierAddresses.router,
        ...new Set(hosts),
      ]),
    );
    if (reached || answer.trim() !== PROBE_ANSWER)
      throw new Error(`a trial connection to this machine was not blocked: ${answer.trim() || 'it was accepted'}`);
  } finally {
    service.close();
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
