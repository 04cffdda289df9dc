// The network of a running container, as this machine's kernel knows it.
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Container } from './engine.ts';
import { isUp } from './exit-watch.ts';

/**
 * A descriptor that leads to the network of the container; the caller closes it.
 * @throws Error when the container does not run, or the engine does not answer
 */
export async function openNetworkOf(container: Container): Promise<number> {
  const { Id, State } = await container.inspect();
  if (!isUp(State) || State.Pid <= 0) throw new Error('The container does not run.');
  const descriptor = openSync(`/proc/${State.Pid}/ns/net`, 'r');
  try {
    // The number may have gone to another process, whose network is none of our business. Groups carry the whole id.
    if (readFileSync(`/proc/${State.Pid}/cgroup`, 'latin1').includes(Id)) return descriptor;
    throw new Error('The container has just ended.');
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
