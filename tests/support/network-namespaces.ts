// Two network namespaces with a cable between them, for tests of two machines. Nothing leaves them, and the machine's
// own network is not touched. Needs root.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as path from 'node:path';

export interface TwoNetworks {
  readonly a: Network;
  readonly b: Network;
  /** Pulls the cable, and puts it back. */
  cut(): void;
  join(): void;
  remove(): void;
}

export interface Network {
  /** For `nsenter --net=…`. */
  readonly file: string;
  readonly address: string;
}

/** Why there can be none here, with what to do; `false` where there can. */
export function namespacesUnavailable(): string | false {
  if (process.getuid?.() !== 0) return 'network namespaces need root: run the tests as root';
  for (const program of ['ip', 'nsenter']) {
    if (!(process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, program))))
      return `the program ${program} is missing: install iproute2 and util-linux`;
  }
  return false;
}

export function connectTwoNetworks(): TwoNetworks {
  // Names of interfaces have at most 15 characters.
  const tag = `pt${randomBytes(3).toString('hex')}`;
  const [a, b] = [`${tag}-a`, `${tag}-b`];
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const remove = () => {
    for (const name of [a, b]) if (existsSync(`/run/netns/${name}`)) ip('netns', 'delete', name);
  };
  try {
    for (const name of [a, b]) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    ip('link', 'add', `${tag}-a`, 'netns', a, 'type', 'veth', 'peer', 'name', `${tag}-b`, 'netns', b);
    for (const [name, address] of [
      [a, ADDRESSES.a],
      [b, ADDRESSES.b],
    ] as const) {
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', name);
      ip('-n', name, 'link', 'set', name, 'up');
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    a: { file: `/run/netns/${a}`, address: ADDRESSES.a },
    b: { file: `/run/netns/${b}`, address: ADDRESSES.b },
    cut: () => ip('-n', b, 'link', 'set', b, 'down'),
    join: () => ip('-n', b, 'link', 'set', b, 'up'),
    remove,
  };
}

/** Of a private network (RFC 1918) that exists in the namespaces only. */
const ADDRESSES = { a: '10.213.77.1', b: '10.213.77.2' } as const;
