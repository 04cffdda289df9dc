// The driver's report about an engine, or a missing one, for people.
import { setTimeout as delay } from 'node:timers/promises';
import type { DriverReport } from '../driver.ts';
import { type Engine, engineMessage } from './engine.ts';
import { requireNotPodman } from './not-podman.ts';

/**
 * Milliseconds for its first answer. One that hangs takes connections and never answers; one that starts refuses them.
 */
const FIRST_ANSWER_MS = 5_000;

/** What an engine says of itself. @throws Error when workloads could not be confined by one like it */
export async function describeEngine(engine: Engine): Promise<Omit<DriverReport, 'ok' | 'reasons'>> {
  await requireAnswer(engine);
  await requireNotPodman(engine);
  const info: Readonly<Record<string, unknown>> = await engine.info();
  const security = Array.isArray(info.SecurityOptions) ? info.SecurityOptions.map(String) : [];
  if (info.OSType !== 'linux') throw new Error('The engine does not run Linux containers.');
  if (!security.some((option) => option.includes('seccomp'))) throw new Error('The engine was built without seccomp.');
  if (security.some((option) => option.includes('rootless'))) {
    throw new Error('The engine runs rootless, where its networks are out of reach of packet rules.');
  }
  const by = (member: string) => (info[member] === true ? 'cgroup' : false);
  return {
    driver: 'docker',
    runtimes: ['node', 'binary', 'oci'],
    mechanism: `dockerd ${String(info.ServerVersion)}`,
    limits: {
      memory: by('MemoryLimit'),
      cpus: by('CpuCfsQuota'),
      pids: by('PidsLimit'),
      // With version 2 it is part of the memory; the limit of version 1 is one that runc does not set.
      sockets: info.CgroupVersion === '2' ? by('MemoryLimit') : false,
    },
  };
}

async function requireAnswer(engine: Engine): Promise<void> {
  const answers = engine.ping().then(() => true);
  if (await Promise.race([answers, delay(FIRST_ANSWER_MS, false, { ref: false })])) return;
  throw new Error(
    `The container engine listens, but has not answered for ${FIRST_ANSWER_MS / 1_000} s. Start it again, then the platform.`,
  );
}

/** Why there is no engine that can be used, in one sentence with what to do. */
export function explainMissing(error: unknown): string {
  const message = engineMessage(error);
  if (/ENOENT|ECONNREFUSED/.test(message) && /sock/.test(message)) {
    return 'No container engine listens here. Debian: apt-get install docker.io.';
  }
  if (/EACCES/.test(message)) return 'The container engine does not listen to this user.';
  return message;
}

const LIMITED = {
  memory: 'Its memory is',
  cpus: 'Its processor time is',
  pids: 'The number of its processes is',
  sockets: 'What the kernel keeps for its connections is',
};

/** One sentence for each limit that it does not enforce. */
export function unenforcedLimits({ limits }: DriverReport): string[] {
  return (['memory', 'cpus', 'pids', 'sockets'] as const)
    .filter((name) => limits[name] === false)
    .map((name) => `${LIMITED[name]} not limited on this machine: the engine has no control group for it.`);
}
