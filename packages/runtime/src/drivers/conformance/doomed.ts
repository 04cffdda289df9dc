// Runs in a process of its own that a test kills: starts a workload that spreads, and says when it has.
import { placeAt } from '../../testing/place.ts';
import type { NetworkPolicy } from '../driver.ts';
import { firstReport, openBench } from './bench.ts';

export interface DoomedAbout {
  readonly module: string;
  readonly options: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly mode: 'after' | 'during';
  readonly timeFactor: number;
  readonly network?: NetworkPolicy;
  /** Code of the workload, which must print one line of JSON. Default: one that spreads. */
  readonly source?: string;
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
const installation = bench.installation({ volume: true });
const say = (said: object) =>
  process.stdout.write(`${JSON.stringify({ installationId: installation.installationId, said })}\n`);
const started = await bench.start({
  installation,
  source: about.source ?? SPREADING,
  async onGateway() {
    // Killed in the middle of the start: the workload must not get to run at all.
    if (about.mode !== 'during') return;
    say({});
    await new Promise(() => setInterval(() => undefined, 1_000));
  },
});
say(await firstReport<object>(started, bench.limit(20_000)));
setInterval(() => undefined, 1_000);
