// Runs in a process of its own that a test kills: starts workloads, and says when they run.

import type { NetworkPolicy } from '../../src/drivers/driver.ts';
import { placeAt } from '../place.ts';
import { firstReport, openBench } from './bench.ts';

export interface DoomedAbout {
  readonly module: string;
  readonly options: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly timeFactor: number;
  readonly network?: NetworkPolicy;
  /** Code of the workloads, each of which must print one line of JSON. Default: one workload that spreads. */
  readonly sources?: readonly string[];
  /** Begins one more start, and is killed in the middle of it, when its Gateway stands. */
  readonly last?: 'begun';
}

/** What it says in one line, when all is as it should be. */
export interface DoomedReport {
  readonly workloads: readonly {
    readonly installationId: string;
    /** What the workload printed first. */
    readonly said: { readonly descriptors?: readonly string[]; readonly begun?: number };
  }[];
  /** Installation of the start that it will not survive. */
  readonly begun?: string;
}

/** Has children that try to outlive it: another session, ignored signals, a double fork. */
const SPREADING = `
  import fs from 'node:fs';
  import { spawn } from 'node:child_process';
  process.on('SIGTERM', () => {});
  spawn('/bin/sh', ['-c', 'trap "" TERM HUP; sleep 1000 & sleep 1000'], { detached: true, stdio: 'ignore' }).unref();
  setInterval(() => {}, 1000);
  const descriptors = fs.readdirSync('/proc/self/fd').flatMap((name) => {
    try { return [fs.readlinkSync('/proc/self/fd/' + name)]; } catch { return []; }
  });
  console.log(JSON.stringify({ descriptors }));
`;

// Written by the test that started this process.
const about = JSON.parse(process.argv[2] ?? '{}') as DoomedAbout;
const bench = await openBench(
  {
    name: 'doomed',
    module: new URL(about.module),
    options: about.options,
    timeFactor: about.timeFactor,
    ...(about.network === undefined ? {} : { network: about.network }),
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
  },
  placeAt(about.folder),
);
// It lives until it is killed.
setInterval(() => undefined, 1_000);
const workloads: DoomedReport['workloads'][number][] = [];
for (const source of about.sources ?? [SPREADING]) {
  const installation = bench.installation({ volume: true });
  const started = await bench.start({ installation, source });
  const { installationId } = installation;
  workloads.push({ installationId, said: await firstReport<object>(started, bench.limit(20_000)) });
}
const say = (report: DoomedReport) => process.stdout.write(`${JSON.stringify(report)}\n`);
if (about.last === undefined) say({ workloads });
else {
  const installation = bench.installation({ volume: true });
  await bench.start({
    installation,
    async onGateway() {
      say({ workloads, begun: installation.installationId });
      await new Promise(() => undefined);
    },
  });
}
