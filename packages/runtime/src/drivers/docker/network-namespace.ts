// The network of a running container, as this machine's kernel knows it.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { childrenOf, identify } from '../process/process-tree.ts';
import type { Container } from './engine.ts';
import { isUp } from './exit-watch.ts';

/** Where the workload is: in the container's network, or with a tunnel in one of its own. */
export type Depth = 'container' | 'tunnel';

export const depthOf = (hasTunnel: boolean): Depth => (hasTunnel ? 'tunnel' : 'container');

/**
 * A descriptor that leads to the network of the container's workload; the caller closes it.
 * @throws Error when the container does not run, or the engine does not answer
 */
export async function openNetworkOf(container: Container, depth: Depth): Promise<number> {
  const { Id, State } = await container.inspect();
  if (!isUp(State) || State.Pid <= 0) throw new Error('The container does not run.');
  return openNetwork(depth === 'tunnel' ? innerProcess(State.Pid) : State.Pid, Id);
}

/** @throws Error when the process is none of the container's */
export function openNetwork(pid: number, containerId: string): number {
  const descriptor = openSync(`/proc/${pid}/ns/net`, 'r');
  try {
    // The number may have gone to another process, whose network is none of our business. Groups carry the whole id.
    if (readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes(containerId)) return descriptor;
    throw new Error('The container has just ended.');
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A process in the workload's network. It may have ended. */
export function insideOf(first: number, depth: Depth): number {
  if (depth === 'container') return first;
  try {
    return innerProcess(first);
  } catch {
    return first;
  }
}

/** A process of the workload, below the container's first, which the engine has put there. @throws Error without one */
export function innerProcess(first: number): number {
  const inner = childrenOf(first).find((pid) => identify(pid) !== undefined);
  if (inner === undefined) throw new Error('The container has just ended.');
  return inner;
}
