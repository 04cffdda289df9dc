// The network of a workload with a tunnel: one inside the container's, in a user namespace of its own. The engine gives
// interfaces to the container, and the Runtime moves them further in, at the start and with every grant.
import { closeSync, openSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import type net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LaunchError, StartRefused } from '../../driver.ts';
import { type Container, isGone } from '../engine.ts';
import { isUp } from '../exit-watch.ts';
import type { Firewall } from '../firewall.ts';
import { innerProcess } from '../network-namespace.ts';
import { failedStep } from './enter-program.ts';
import { moveInterfaces } from './move-interfaces.ts';
import type { TunnelFiles } from './tunnel-files.ts';

const LOOK_AGAIN_MS = 100;
const LIMIT_MS = 30_000;
const NAMESPACES_STEP = 1;

/**
 * Gives a container that has just started its network, and lets its workload run.
 * @throws StartRefused where this machine forbids user namespaces
 */
export async function enterNetwork(
  container: Container,
  firewall: Pick<Firewall, 'pin'>,
  { files, uid }: { readonly files: TunnelFiles; readonly uid: number },
): Promise<void> {
  try {
    const connection = await waits(container, files.waiting);
    connection.on('error', () => undefined);
    try {
      const { Id, State } = await container.inspect();
      mapUser(innerProcess(State.Pid), Id, uid);
      await moveInterfaces(container, firewall);
      await new Promise<void>((resolve) => connection.end('1', resolve));
    } finally {
      connection.destroy();
    }
  } finally {
    files.close();
  }
}

/** @throws LaunchError when the program in front of the workload ended, or did not come so far */
async function waits(container: Container, waiting: TunnelFiles['waiting']): Promise<net.Socket> {
  const sentence = 'The network of its tunnel could not be created on this machine.';
  for (const began = performance.now(); performance.now() - began < LIMIT_MS; ) {
    const connection = await Promise.race([waiting, delay(LOOK_AGAIN_MS)]);
    if (connection !== undefined) return connection;
    const state = await container.inspect().then(
      ({ State }) => State,
      (error: unknown) => {
        if (isGone(error)) throw new LaunchError(sentence, 'its container was removed');
        throw error;
      },
    );
    if (isUp(state) || state.Status === 'created') continue;
    if (state.ExitCode === NAMESPACES_STEP)
      throw new StartRefused(
        'Its network tunnel needs a user namespace, and this machine does not let ordinary users create one. See kernel.apparmor_restrict_unprivileged_userns and user.max_user_namespaces.',
      );
    throw new LaunchError(
      sentence,
      `the program in front of it ended with ${state.ExitCode}: ${failedStep(state.ExitCode)}`,
    );
  }
  throw new LaunchError(sentence, `the program in front of it was not ready within ${LIMIT_MS} ms`);
}

/** In the new namespace there is one user, the workload's own. */
function mapUser(pid: number, containerId: string, uid: number): void {
  if (['user', 'net'].some((kind) => namespaceOf(pid, kind) === namespaceOf('self', kind)))
    throw new Error('The container has no namespaces of its own.');
  const texts = { setgroups: 'deny', gid_map: `${uid} ${uid} 1`, uid_map: `${uid} ${uid} 1` };
  const opened = Object.entries(texts).map(([name, text]) => ({ text, file: openSync(`/proc/${pid}/${name}`, 'w') }));
  try {
    // The number may have gone to another process.
    if (!readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes(containerId))
      throw new Error('The container has just ended.');
    for (const { text, file } of opened) writeSync(file, text);
  } finally {
    for (const { file } of opened) closeSync(file);
  }
}

const namespaceOf = (pid: number | 'self', kind: string): string => readlinkSync(`/proc/${pid}/ns/${kind}`);
