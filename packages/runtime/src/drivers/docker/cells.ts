// A cell is where a workload's container runs: its own restricted network with a Gateway's container on it. Cells
// belong to no installation until they are used, so one is kept ready, and a start waits for one container only.
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialer, type DialServer, serveDials } from '@platform/http';
import { resolverText } from '../process/resolver-file.ts';
import { type Block, type blockNumbers, blockOf } from './addresses.ts';
import { insideContainer } from './base-image.ts';
import { makeBridge, publicName, removeNetwork, restrictedName } from './bridges.ts';
import { containerOptions, lostOptions, type Resources } from './container-options.ts';
import { type CoreLink, type CoreRelay, openCoreRelay } from './core-relay.ts';
import { type Container, type Engine, labels, removed } from './engine.ts';
import type { EngineLine } from './engine-line.ts';
import { isUp } from './exit-watch.ts';
import type { Firewall } from './firewall.ts';
import type { Remains } from './remains.ts';
import { endShims, noteContainer } from './shims.ts';
import { endStrays } from './strays.ts';

export interface Cell {
  readonly id: string;
  readonly network: string;
  readonly addresses: Block;
  readonly gateway: Container;
  /** Folder on this machine that goes with the cell. */
  readonly root: string;
  /** Where the Gateway makes its sockets, on this machine. */
  readonly folder: string;
  /** Before a workload's container is started in it. */
  note(container: Container): void;
  /** File that its workload sees as `/etc/resolv.conf`. */
  readonly nameServers: string;
  /** Whether its Gateway runs; false also when the engine does not say so. */
  stands(): Promise<boolean>;
  /** Where its Gateway finds core. */
  leadTo(coreOrigin: string): void;
  /**
   * Lets its Gateway dial these private origins besides those that every Gateway may, and no others: connections that
   * relied on a former one end. At first there are none.
   */
  permit(privateOrigins: readonly string[]): void;
  /**
   * Removes the cell with everything in it; what fails while the engine is away is retried when it is back. Never
   * rejects.
   */
  destroy(): Promise<void>;
  /** Gives back what it holds of this process; the cell itself stays. */
  release(): Promise<void>;
}

export interface CellParts {
  readonly engine: Engine;
  readonly firewall: Firewall;
  readonly owner: string;
  readonly image: string;
  /** File of the Gateway's program on this machine. */
  readonly program: string;
  /** Private folder of the Runtime, below which each cell has its own; short, since paths of sockets are. */
  readonly folder: string;
  readonly numbers: ReturnType<typeof blockNumbers>;
  readonly random: (bytes: number) => Buffer;
  readonly line: Pick<EngineLine, 'cut' | 'timeLeft'>;
  /** Takes cells that cannot be taken apart while the engine is away. */
  readonly remains: Pick<Remains, 'add'>;
  /** For a core that is reached over https. */
  readonly coreLink?: CoreLink | undefined;
  /** Connects for the Gateway of a cell, which has no way out. */
  readonly openDialer: () => Dialer;
  /** Origins in networks of the operator's that every Gateway may dial. */
  readonly privateOrigins: readonly string[];
}

/** What taking cells apart needs. */
type CellsOfEngine = Omit<CellParts, 'remains' | 'openDialer' | 'privateOrigins'>;

/** What the Runtime holds for a Gateway, which has no other way out of its cell. */
interface Sockets {
  readonly core: CoreRelay;
  readonly dials: DialServer;
  close(): Promise<void>;
}

const CORE_SOCKET = 'core.sock';
const DIAL_SOCKET = 'dial.sock';

/** Port of a Gateway inside its cell. */
export const GATEWAY_PORT = 8701;
/** Where it finds its object storage. */
export const STORAGE_PORT = 8702;
const GATEWAY_RESOURCES: Resources = { memoryMiB: 256, cpus: 4, pids: 32 };
const ID_BYTES = 4;
/** What workloads are left of the time for a stop, where the engine could not ask them to end. */
const LAST_GRACE_MS = 2_000;

function cellNames(owner: string, id: string): { readonly network: string; readonly gateway: string } {
  return { network: restrictedName(owner, id), gateway: `platform-${owner}-${id}-gateway` };
}

export async function makeCell(parts: CellParts): Promise<Cell> {
  const id = parts.random(ID_BYTES).toString('hex');
  const names = cellNames(parts.owner, id);
  const place = makeFolders(parts.folder, id, gatewayUid());
  let sockets: Sockets | undefined;
  try {
    const [, addresses] = await Promise.all([
      openSockets(parts, place.core).then((opened) => {
        sockets = opened;
      }),
      makeBridge(parts, 'restricted', id),
      parts.firewall.allowWithin(parts.firewall.bridgeName('restricted', id)),
    ]);
    const options = containerOptions({
      image: parts.image,
      command: [
        ...[insideContainer.node, insideContainer.gatewayProgram],
        ...[insideContainer.gatewayFolder, `${insideContainer.coreFolder}/${CORE_SOCKET}`],
        `${insideContainer.coreFolder}/${DIAL_SOCKET}`,
      ],
      environment: {},
      labels: { [labels.owner]: parts.owner, [labels.role]: 'gateway', [labels.cell]: id },
      uid: gatewayUid(),
      resources: GATEWAY_RESOURCES,
      mounts: [
        { source: parts.program, target: insideContainer.gatewayProgram, access: 'read' },
        { source: place.own, target: insideContainer.gatewayFolder, access: 'write' },
        { source: place.core, target: insideContainer.coreFolder, access: 'read' },
      ],
      network: names.network,
      address: addresses.gateway,
    });
    const gateway = await parts.engine.createContainer({ name: names.gateway, ...options });
    noteContainer(join(parts.folder, id), gateway.id);
    await gateway.start();
    const lost = await lostOptions(gateway, options);
    if (lost.length > 0) throw new Error(`The engine ignored these options: ${lost.join(', ')}.`);
    return cell(parts, { id, addresses, gateway, sockets });
  } catch (error) {
    await bury(parts, id, sockets);
    throw error;
  }
}

/** The cell of an earlier Runtime, taken over. @throws Error when a part of it is missing */
export async function adoptCell(parts: CellParts, id: string): Promise<Cell> {
  const names = cellNames(parts.owner, id);
  const network = await parts.engine.getNetwork(names.network).inspect();
  const subnet: unknown = network.IPAM?.Config?.[0]?.Subnet;
  const addresses = typeof subnet === 'string' ? blockOf(subnet) : undefined;
  if (addresses === undefined || network.Internal !== true) throw new Error('The network of the cell is not ours.');
  const place = makeFolders(parts.folder, id, gatewayUid());
  const sockets = await openSockets(parts, place.core);
  await parts.firewall.allowWithin(parts.firewall.bridgeName('restricted', id));
  return cell(parts, { id, addresses, gateway: parts.engine.getContainer(names.gateway), sockets });
}

interface Made {
  readonly id: string;
  readonly addresses: Block;
  readonly gateway: Container;
  readonly sockets: Sockets | undefined;
}

function cell(parts: CellParts, { id, addresses, gateway, sockets }: Made): Cell {
  let ending: Promise<void> | undefined;
  return {
    id,
    addresses,
    gateway,
    network: cellNames(parts.owner, id).network,
    root: join(parts.folder, id),
    folder: join(parts.folder, id, 'own'),
    note: (container) => noteContainer(join(parts.folder, id), container.id),
    nameServers: join(parts.folder, id, 'resolv.conf'),
    stands: () =>
      gateway.inspect().then(
        ({ State }) => isUp(State),
        () => false,
      ),
    leadTo: (coreOrigin) => sockets?.core.leadTo(coreOrigin),
    permit: (privateOrigins) => sockets?.dials.permit([...parts.privateOrigins, ...privateOrigins]),
    destroy() {
      ending ??= bury(parts, id, sockets);
      return ending;
    },
    release: async () => sockets?.close(),
  };
}

/** Ends a cell, at once or when the engine is back. Never rejects. */
async function bury(parts: CellParts, id: string, sockets: Sockets | undefined): Promise<void> {
  await sockets?.close();
  await destroyCell(parts, id).catch((error: unknown) => parts.remains.add(id, error));
}

/** Removes whatever there is of a cell, the workload's container included. */
export async function destroyCell(parts: CellsOfEngine, id: string): Promise<void> {
  const { engine, firewall, owner, folder, line } = parts;
  const own = join(folder, id);
  try {
    await removeMembers(parts, id);
  } finally {
    // Whatever the engine says: it may be away while its containers run on, and one that died does not know them all.
    await endStrays(own, { grace: line.cut.aborted ? Math.min(LAST_GRACE_MS, line.timeLeft()) : 0 });
    await endShims(own);
  }
  await removeNetwork(engine, restrictedName(owner, id));
  await removeNetwork(engine, publicName(owner, id));
  await firewall.forget(firewall.bridgeName('restricted', id));
  // Last, since it says which containers the cell had.
  rmSync(own, { recursive: true, force: true });
}

async function removeMembers({ engine, owner }: CellsOfEngine, id: string): Promise<void> {
  const members = await engine.listContainers({
    all: true,
    filters: { label: [`${labels.owner}=${owner}`, `${labels.cell}=${id}`] },
  });
  await Promise.all(members.map(({ Id }) => removed(engine.getContainer(Id).remove({ force: true, v: true }))));
}

/** In a folder that only this cell's Gateway sees. */
async function openSockets({ coreLink, openDialer, privateOrigins }: CellParts, folder: string): Promise<Sockets> {
  const core = await openCoreRelay(join(folder, CORE_SOCKET), coreLink);
  let dials: DialServer;
  try {
    dials = await serveDials({ path: join(folder, DIAL_SOCKET), dialer: openDialer(), privateOrigins });
  } catch (error) {
    await core.close();
    throw error;
  }
  return {
    core,
    dials,
    async close() {
      await Promise.all([core.close(), dials.close()]);
    },
  };
}

function makeFolders(base: string, id: string, uid: number): { readonly own: string; readonly core: string } {
  const place = { own: join(base, id, 'own'), core: join(base, id, 'core') };
  for (const folder of Object.values(place)) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  const nameServers = join(base, id, 'resolv.conf');
  if (!existsSync(nameServers)) writeFileSync(nameServers, resolverText([]));
  chmodSync(nameServers, 0o644);
  chmodSync(place.own, 0o700);
  chownSync(place.own, uid, uid);
  return place;
}

/**
 * The user of all Gateways: different from those of installations (identities.ts counts up from 2,000,000) and from
 * `nobody`, as which other services of this machine run. Gateways share no namespace with each other.
 */
function gatewayUid(): number {
  return 1_999_999;
}
