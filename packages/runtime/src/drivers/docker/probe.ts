// Tests the isolation with a real container before any workload runs: what it can see, change and reach. This detects
// an engine that ignores an option, and packet rules in another network namespace than the engine's bridges.
import { fileURLToPath } from 'node:url';
import { insideContainer } from './base-image.ts';
import type { CellPool } from './cell-pool.ts';
import { type Cell, makeCell } from './cells.ts';
import { containerOptions, lostOptions } from './container-options.ts';
import type { DockerNode } from './docker-driver.ts';
import { engineMessage, labels, removed } from './engine.ts';
import { ended } from './exit-watch.ts';
import { framesOf, openOutput } from './log-stream.ts';

/** User of the trial: one that owns nothing, and is none of an installation's. */
const PROBE_UID = 1_999_998;
const PROGRAM = fileURLToPath(new URL('probe-container.mjs', import.meta.url));
const MAY_BE_WRITABLE =
  /^\/(tmp|proc|dev|dev\/(pts|shm|mqueue|null|zero|full|random|urandom|tty)|etc\/(hosts|hostname|resolv\.conf))$/;
/** Where nothing of a cell may arrive: metadata of clouds, private networks, and one address of the public internet. */
const FOREIGN = ['169.254.169.254', '10.0.0.1', '172.17.0.1', '192.168.0.1', '192.0.2.1'];

/** What probe-container.mjs prints. */
interface Observation {
  readonly uid: number;
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: string;
  readonly filter: string;
  readonly writable: readonly string[];
  readonly interfaces: readonly string[];
  readonly processes: number;
  /** For each address whether anything answered, be it with a refusal. */
  readonly reached: Readonly<Record<string, boolean>>;
  /** Whether a name server answered. */
  readonly resolved: boolean;
}

/** Runs the trial, and returns every wall that does not stand, in one sentence each. */
export async function tryWalls(node: DockerNode, cells: CellPool): Promise<string[]> {
  let own: Cell | undefined;
  let other: Cell | undefined;
  try {
    [own, other] = await Promise.all([cells.take(), makeCell(node)]);
    return await observe(node, own, other);
  } catch (error) {
    return [`The trial container did not run: ${engineMessage(error)}`];
  } finally {
    await Promise.all([own?.destroy(), other?.destroy()]);
    cells.refill();
  }
}

async function observe(node: DockerNode, own: Cell, other: Cell): Promise<string[]> {
  const refused = [own.addresses.bridge, other.addresses.bridge, other.addresses.gateway, ...FOREIGN];
  const program = `${insideContainer.app}/probe.mjs`;
  const options = containerOptions({
    image: node.image,
    command: [insideContainer.node, program, JSON.stringify({ reachable: own.addresses.gateway, refused })],
    environment: {},
    labels: { [labels.owner]: node.owner, [labels.role]: 'probe', [labels.cell]: own.id },
    uid: PROBE_UID,
    resources: { memoryMiB: 128, cpus: 1, pids: 32 },
    mounts: [{ source: PROGRAM, target: program, access: 'read' }],
    network: own.network,
    address: own.addresses.workload,
  });
  const container = await node.engine.createContainer(options);
  try {
    const lost = await lostOptions(container, options);
    if (lost.length > 0) return [`The container engine ignored these options: ${lost.join(', ')}.`];
    await container.start();
    await ended(container);
    const seen = readObservation(await output(container));
    return seen === undefined ? ['The trial container gave no usable answer.'] : breaches(seen, own, refused);
  } finally {
    await removed(container.remove({ force: true, v: true }));
  }
}

async function output(container: Awaited<ReturnType<DockerNode['engine']['createContainer']>>): Promise<string> {
  const said = openOutput();
  let text = '';
  said.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  said.stderr.resume();
  said.follow(await framesOf(container));
  await said.ended;
  return text;
}

function readObservation(text: string): Observation | undefined {
  try {
    // Our own program wrote it; a wall that stands is still judged from each member.
    return JSON.parse(text) as Observation;
  } catch {
    return undefined;
  }
}

function breaches(seen: Observation, own: Cell, refused: readonly string[]): string[] {
  const writable = seen.writable.filter((place) => !MAY_BE_WRITABLE.test(place) && !place.startsWith('/proc/'));
  const reached = refused.filter((address) => seen.reached[address] !== false);
  return [
    ...(seen.uid === PROBE_UID ? [] : ['The trial container ran as another user than it was given.']),
    ...(seen.capabilities.some((set) => /[1-9a-f]/.test(set)) ? ['The trial container kept capabilities.'] : []),
    ...(seen.noNewPrivileges === '1' ? [] : ['The trial container could have gained new privileges.']),
    ...(seen.filter === '2' ? [] : ['The trial container ran without a system call filter.']),
    ...(writable.length === 0 ? [] : [`The trial container could have written to ${writable.join(', ')}.`]),
    ...(seen.interfaces.length <= 2 ? [] : ['The trial container saw a network that is not its own.']),
    ...(seen.processes <= 3 ? [] : ['The trial container saw processes of this machine.']),
    ...(seen.reached[own.addresses.gateway] === true ? [] : ['The trial container could not reach its Gateway.']),
    ...(reached.length === 0
      ? []
      : [
          `The trial container reached ${reached.join(', ')}. Do the packet rules stand in the network namespace of the engine?`,
        ]),
    ...(seen.resolved ? ['The trial container reached a name server.'] : []),
  ];
}
