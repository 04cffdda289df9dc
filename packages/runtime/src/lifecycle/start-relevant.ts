// Which part of an assignment a running workload was given and cannot be changed under it.
import { createHash } from 'node:crypto';
import type { Assignment } from '@platform/contract';

/** Whether something changed that a running workload was given and that cannot change under it. */
export function needsRestart(former: Assignment, next: Assignment): boolean {
  if (startRelevant(former) !== startRelevant(next)) return true;
  // Only its environment tells a workload which port was chosen; one that lost a port loses it while it runs.
  const known = chosenPorts(former);
  return chosenPorts(next).some((name) => !known.includes(name));
}

function startRelevant(assignment: Assignment): string {
  // What is asked of the installation or kept apart from its run.
  const {
    desired: _desired,
    paused: _paused,
    network: _network,
    udpPorts: _udpPorts,
    movable: _movable,
    ...rest
  } = assignment;
  return JSON.stringify(rest);
}

/** Names of the ports that the platform chooses. */
function chosenPorts({ udpPorts }: Assignment): string[] {
  return udpPorts.flatMap(({ name, containerPort }) => (containerPort === 'auto' ? [name] : []));
}

/**
 * Names all that a workload was started with, short and without its secrets: a survivor is taken over, and a failure
 * remembered, for the same only.
 */
export function fingerprintOf(assignment: Assignment): string {
  const given = JSON.stringify([startRelevant(assignment), chosenPorts(assignment)]);
  return createHash('sha256').update(given).digest('hex');
}
