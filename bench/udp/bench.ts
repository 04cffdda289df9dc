// What the relay of a public UDP port costs: a client on another machine (a network of its own), a workload that echoes, and
// between them the Runtime's relay, or address translation of the kernel, or nothing. In turn, median of three. Needs root.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectTwoNetworks, namespacesUnavailable } from '../../tests/support/network-namespaces.ts';
import { median, printRow, reported } from '../machine.ts';

const ROUNDS = 3;
const MILLISECONDS = 3_000;
const PORTS = { relayed: 40_000, translated: 40_001, workload: 9_000 } as const;
/** Benchmark space, as of workloads with internet access. */
const LINK = { node: '198.18.0.1', workload: '198.18.0.2' } as const;

interface Figures {
  readonly perSecond: number;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

const why = namespacesUnavailable();
if (why !== false) throw new Error(why);
const networks = connectTwoNetworks();
const [client, node] = [networks.a, networks.b];
const name = `pw${process.pid}`;
const workload = `/run/netns/${name}`;
const children: ChildProcess[] = [];
const ip = (...args: string[]) => execFileSync('ip', args);

function start(network: string, program: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn('nsenter', [`--net=${network}`, '--', process.execPath, file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

async function line({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('no output');
  const reader = createInterface({ input: stdout });
  const [first] = await once(reader, 'line');
  reader.close();
  return String(first);
}

/** A machine's own address translation: as little as does it. */
function translate(): void {
  ip('link', 'add', 'w0', 'netns', networkName(node.file), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('-n', networkName(node.file), 'address', 'add', `${LINK.node}/30`, 'dev', 'w0');
  ip('-n', networkName(node.file), 'link', 'set', 'w0', 'up');
  ip('-n', name, 'address', 'add', `${LINK.workload}/30`, 'dev', 'eth0');
  ip('-n', name, 'link', 'set', 'eth0', 'up');
  ip('-n', name, 'route', 'add', 'default', 'via', LINK.node);
  const target = `${LINK.workload}:${PORTS.workload}`;
  const input = `table ip bench {
  chain in {
    type nat hook prerouting priority -100
    udp dport ${PORTS.translated} dnat to ${target}
  }
}
`;
  execFileSync(
    'nsenter',
    [`--net=${node.file}`, '--', 'sh', '-euc', 'echo 1 > /proc/sys/net/ipv4/ip_forward; nft -f -'],
    {
      input,
    },
  );
}

const networkName = (file: string) => file.slice('/run/netns/'.length);

type Way = readonly [network: string, host: string, port: number];

async function measure([network, host, port]: Way, load: { readonly sockets: number; readonly underWay: number }) {
  const args = [host, port, load.sockets, load.underWay, MILLISECONDS].map(String);
  return JSON.parse(await line(start(network, 'client.ts', ...args))) as Figures;
}

/** Microseconds of processor time. */
async function usedBy(relay: ChildProcess): Promise<number> {
  relay.stdin?.write('\n');
  return Number(await line(relay));
}

try {
  ip('netns', 'add', name);
  ip('-n', name, 'link', 'set', 'lo', 'up');
  translate();
  await line(start(workload, 'echo.ts', String(PORTS.workload)));
  const relay = start(
    node.file,
    '../../packages/runtime/test-support/udp-relay-process.ts',
    workload,
    String(PORTS.relayed),
    String(PORTS.workload),
  );
  await line(relay);
  const ways = {
    'inside the network of the workload, without any way': [workload, '127.0.0.1', PORTS.workload],
    'through address translation of the kernel': [client.file, node.address, PORTS.translated],
    'through the relay': [client.file, node.address, PORTS.relayed],
  } as const;
  const loaded: Record<string, Figures[]> = {};
  const single: Record<string, Figures[]> = {};
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [what, way] of Object.entries(ways)) {
      const before = await usedBy(relay);
      const figures = await measure(way, { sockets: 8, underWay: 8 });
      if (way[2] === PORTS.relayed) costs.push(((await usedBy(relay)) - before) / figures.count);
      loaded[what] = [...(loaded[what] ?? []), figures];
      single[what] = [...(single[what] ?? []), await measure(way, { sockets: 1, underWay: 1 })];
    }
  }
  for (const what of Object.keys(ways)) {
    const of = (all: Record<string, Figures[]>, pick: (figures: Figures) => number) =>
      median((all[what] ?? []).map(pick));
    printRow(
      reported(
        `UDP round trips of 200 bytes ${what}, 64 under way`,
        of(loaded, ({ perSecond }) => perSecond),
        '/s',
      ),
    );
    printRow(
      reported(
        'the same, one under way, p50',
        of(single, ({ p50 }) => p50),
        'ms',
      ),
    );
    printRow(
      reported(
        'the same, one under way, p99',
        of(single, ({ p99 }) => p99),
        'ms',
      ),
    );
  }
  printRow(reported('processor time of the relay for a round trip', median(costs), 'µs'));
} finally {
  for (const child of children) child.kill('SIGKILL');
  ip('netns', 'delete', name);
  networks.remove();
}
