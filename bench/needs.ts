// What each bench needs of this machine besides the platform, and how Debian brings it.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { lacksProgram } from '../tests/support/lacks-program.ts';

/** The Debian package that has each program. */
export const PACKAGES = {
  bwrap: 'bubblewrap',
  caddy: 'caddy',
  h2load: 'nghttp2-client',
  haproxy: 'haproxy',
  ip: 'iproute2',
  nft: 'nftables',
  nginx: 'nginx-light',
  npm: 'npm',
  nsenter: 'util-linux',
  python3: 'python3',
  slowhttptest: 'slowhttptest',
  taskset: 'util-linux',
  unshare: 'util-linux',
  wrk: 'wrk',
} as const;
export type Program = keyof typeof PACKAGES;

/** Modules of /usr/bin/python3, by what they are called where people install them. */
const MODULES = { swift: 'python3-swift', ensurepip: 'python3-venv' } as const;

interface Needs {
  readonly programs?: readonly Program[];
  readonly modules?: readonly (keyof typeof MODULES)[];
  /** Default: 1. */
  readonly cores?: number;
  /** It makes network namespaces. */
  readonly root?: true;
}

/** Two parts of one bench on cores of their own. */
const pinned = { programs: ['taskset'], cores: 2 } as const;
const loaded = { programs: ['taskset', 'wrk'], cores: 2 } as const;

export const needs: Readonly<Record<string, Needs>> = {
  core: loaded,
  gateway: { programs: ['nginx', 'taskset', 'wrk'], cores: 2 },
  heavy: pinned,
  hostile: {},
  ingress: {
    programs: ['nginx', 'haproxy', 'caddy', 'taskset', 'unshare', 'wrk', 'h2load', 'slowhttptest'],
    cores: 2,
  },
  intelligence: { programs: ['taskset', 'npm', 'python3'], modules: ['ensurepip'], cores: 2 },
  link: {},
  neighbours: {},
  messaging: pinned,
  notifications: loaded,
  'object-storage': { programs: ['taskset'], modules: ['swift'], cores: 2 },
  outbound: {},
  platform: {},
  push: {},
  runtime: { programs: ['bwrap', 'unshare'] },
  search: pinned,
  tools: { programs: ['taskset', 'bwrap'], cores: 2 },
  topology: pinned,
  udp: { programs: ['ip', 'nft', 'nsenter'], root: true },
  workflows: { programs: ['taskset', 'npm'], cores: 2 },
};

/** Why a bench cannot run here, as one sentence with the cure; `null` when it can. */
export function lacking(bench: string): string | null {
  const { programs = [], modules = [], cores = 1, root } = needs[bench] ?? {};
  const missing = [
    ...programs.filter((name) => lacksProgram(name) !== false).map((name) => ({ name, package: PACKAGES[name] })),
    ...modules.filter(lacksModule).map((name) => ({ name: `Python’s ${name}`, package: MODULES[name] })),
  ];
  const limits = [
    ...(availableParallelism() < cores ? [`${cores} processor cores`] : []),
    ...(root && process.getuid?.() !== 0 ? ['root'] : []),
  ];
  const names = [...missing.map(({ name }) => name), ...limits];
  if (names.length === 0) return null;
  const packages = [...new Set(missing.map((one) => one.package))].join(' ');
  const cure = packages === '' ? '' : ` On Debian: apt-get install ${packages}`;
  return `The bench ${bench} needs ${new Intl.ListFormat('en').format(names)}.${cure}`;
}

function lacksModule(name: string): boolean {
  return spawnSync('/usr/bin/python3', ['-c', `import ${name}`], { stdio: 'ignore' }).status !== 0;
}
