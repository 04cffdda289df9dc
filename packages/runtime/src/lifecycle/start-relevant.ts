// Which part of an assignment a running workload was given and cannot be changed under it.
import { createHash } from 'node:crypto';
import type { Assignment } from '@platform/contract';

/**
 * Why a running workload must be started anew: something changed that it was given and that cannot change under it.
 * @returns one sentence for a person; undefined when it can run on
 */
export function whyRestart(former: Assignment, next: Assignment): string | undefined {
  if (former.version !== next.version) return `Version ${next.version} replaces ${former.version}.`;
  if (former.objectStorage !== next.objectStorage)
    return `Restarting: it ${next.objectStorage ? 'gets object storage' : 'loses its object storage'}.`;
  if (startRelevant(former) !== startRelevant(next)) return 'Restarting: its configuration has changed.';
  // A workload learns a chosen port only from its environment, so it restarts; a port can be taken away while it runs.
  const known = chosenPorts(former);
  if (chosenPorts(next).some((name) => !known.includes(name)))
    return 'Restarting: it needs to learn its public UDP port.';
  const led = providerVariables(former);
  if (providerVariables(next).some((name) => !led.includes(name)))
    return 'Restarting: it may use an AI provider and needs to learn its address.';
  return undefined;
}

function startRelevant(assignment: Assignment): string {
  // What is asked of the installation or kept apart from its run.
  const {
    dataPlaneCapability: _dataPlaneCapability,
    clientsRevision: _clientsRevision,
    desired: _desired,
    paused: _paused,
    network: _network,
    udpPorts: _udpPorts,
    intelligence: _intelligence,
    gateway: _gateway,
    movable: _movable,
    ...rest
  } = assignment;
  return JSON.stringify(rest);
}

/** Names of the ports that the platform chooses. */
function chosenPorts({ udpPorts }: Assignment): string[] {
  return udpPorts.flatMap(({ name, containerPort }) => (containerPort === 'auto' ? [name] : []));
}

/** What leads it to AI providers. One that was lost stays in its environment and leads to a refusal. */
function providerVariables({ intelligence = [], workload }: Assignment): string[] {
  if (workload.runtime === 'agent') return intelligence.map(({ provider, dialect }) => `${provider} ${dialect}`);
  return intelligence.flatMap(({ provider, dialect, environment }) =>
    environment === null ? [] : [JSON.stringify([provider, dialect, environment.baseUrl, environment.apiKey])],
  );
}

/**
 * Names all that a workload was started with, short and without its secrets: a survivor is taken over, and a failure
 * remembered, for the same only.
 * @param program the platform's own that runs in it, if one does
 */
export function fingerprintOf(assignment: Assignment, program?: string): string {
  const variables = providerVariables(assignment);
  // Nothing more where there are none: what a former version started is taken over.
  const given = JSON.stringify([
    startRelevant(assignment),
    chosenPorts(assignment),
    ...(variables.length === 0 ? [] : [variables]),
    ...(program === undefined ? [] : [program]),
  ]);
  return createHash('sha256').update(given).digest('hex');
}
