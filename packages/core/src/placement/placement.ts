// Chooses the node of a workload: one that is online, allowed, and has the memory and the disk. Every decision holds one
// lock until its transaction ends, so that two concurrent ones cannot both take the last of it.
import {
  type InstallationId,
  type Manifest,
  MiB,
  processorNames,
  RefusalError,
  refuse,
  sizeText,
  type WorkloadManifest,
} from '@platform/contract';
import type { Kysely } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { volumeMiBOf } from '../disk/face.ts';
import { memoryShareOf, memoryShareUsed, type ShareConfig } from './account-shares.ts';
import { hostingOf } from './hosting-labels.ts';
import {
  bestNode,
  type CensusRow,
  type Demand,
  findPlace,
  hasRoom,
  lockPlacementRow,
  nodeCensus,
  nodeHasDisk,
  type PlaceRow,
} from './placement-queries.ts';
import { demandedLabels, type Owner } from './placement-rule-queries.ts';

type Transaction = Kysely<DatabaseSchema>;
type Sharing = { readonly config: ShareConfig };

/** Where an installation is, or may still be. */
export interface Place {
  readonly nodeId: string | null;
  /** Has a backend and no node yet. */
  readonly waiting: boolean;
  /** The node that may still run it. */
  readonly heldBy: string | null;
  readonly hasVolume: boolean;
  /** The shared store its volume lies in; `null` for one that lies on its node. */
  readonly volumeStore: string | null;
  /** What its volume is granted, 0 without one. */
  readonly volumeMiB: number;
  /** What the volume is granted more than before. */
  readonly growsByMiB: number;
}

/** Of an app without a backend, or with one that nobody has used yet. */
export const nowhere: Place = {
  nodeId: null,
  waiting: false,
  heldBy: null,
  hasVolume: false,
  volumeStore: null,
  volumeMiB: 0,
  growsByMiB: 0,
};

/**
 * Whether its backend is nowhere, and takes nothing, until somebody opens, starts or calls it: the platform gives every account the
 * app, and few may ever use it. What the internet reaches, or runs all the time, needs a node at once.
 */
export function waitsForUse({
  workload,
  publicEndpoints = [],
  publicPorts = [],
}: Pick<Manifest, 'workload' | 'publicEndpoints' | 'publicPorts'>): boolean {
  if (workload === undefined || workload.mode === 'always') return false;
  return publicEndpoints.length === 0 && publicPorts.length === 0;
}

/**
 * Orders this transaction among all that decide who runs where. To be called before any row of an installation is
 * locked, or two transactions could wait for each other.
 */
export const lockPlacement: (trx: Transaction) => Promise<void> = lockPlacementRow;

/**
 * The place for an installation that is made now. Where its volume lies from a former time, there it goes again.
 *
 * @throws RefusalError `placement_not_allowed` when no node can run such a workload, `account_share` when its account
 *   has reserved what it may, `unavailable` without a node that is there and has room
 */
export async function placeInstallation(
  trx: Transaction,
  sharing: Sharing,
  owner: Owner,
  app: { readonly workload?: WorkloadManifest | undefined },
): Promise<Place> {
  await lockPlacement(trx);
  const former = await findPlace(trx, owner);
  if (app.workload === undefined) return former === undefined ? nowhere : placeOf(former);
  const place = await (former === undefined
    ? placeNew(trx, sharing, owner, app.workload)
    : placeAgain(trx, sharing, owner, former, app.workload));
  return sized(place, former?.volume_mib ?? 0, app.workload);
}

/** As {@link placeInstallation}, but an installation that finds no node now waits for one. */
export async function placeOrWait(...call: Parameters<typeof placeInstallation>): Promise<Place> {
  const [, , , app] = call;
  try {
    return await placeInstallation(...call);
  } catch (error) {
    if (isNoPlace(error)) return sized({ ...nowhere, waiting: true }, 0, app.workload);
    throw error;
  }
}

/**
 * The place of an installation after a change of version: it keeps its node, and gets one if only the new version has a
 * backend.
 *
 * @throws RefusalError as {@link placeInstallation}; `placement_not_allowed` also when its node cannot run the version, `unavailable` when its node has no disk for a larger volume
 */
export async function placeUpgrade(
  trx: Transaction,
  sharing: Sharing,
  owner: Owner,
  place: Place,
  app: { readonly workload?: WorkloadManifest | undefined },
): Promise<Place> {
  const { workload } = app;
  if (workload === undefined) return place;
  const next = sized(await placeNextVersion(trx, sharing, owner, place, workload), place.volumeMiB, workload);
  const { nodeId, growsByMiB } = next;
  if (nodeId !== null && nodeId === place.nodeId && next.volumeStore === null)
    await requireNodeDisk(trx, nodeId, growsByMiB);
  return next;
}

async function placeNextVersion(
  trx: Transaction,
  sharing: Sharing,
  owner: Owner,
  place: Place,
  workload: WorkloadManifest,
): Promise<Place> {
  if (place.waiting) return place;
  if (place.nodeId === null) return place.heldBy === null ? placeNew(trx, sharing, owner, workload) : place;
  const { rows } = await nodeCensus(trx, owner);
  const there = rows.find(({ id }) => id === place.nodeId);
  if (there !== undefined && !canRun(there, workload))
    throw refuse(
      'placement_not_allowed',
      `The backend of this version is ${kindOf(workload)}, which the machine of this app cannot run. Choose another version, or remove the app and install it again.`,
    );
  if (place.hasVolume || !workload.volume) return place;
  const volumeStore = there?.shared_store ?? null;
  return { ...place, hasVolume: true, volumeStore };
}

/**
 * Before a placed backend gets more than it had.
 *
 * @throws RefusalError `account_share` when its account has reserved what it may there, `unavailable` when its node has no
 *   room for that
 */
export async function demandRoom(
  trx: Transaction,
  { config }: Sharing,
  installation: { readonly id: InstallationId; readonly nodeId: string; readonly accountKey: string },
  workload: WorkloadManifest,
): Promise<void> {
  const demand = demandOf(workload, { share: memoryShareOf(config, installation.accountKey) });
  if (await hasRoom(trx, installation, demand)) return;
  if (await hasRoom(trx, installation, { ...demand, share: null })) throw memoryShareUsed(config);
  throw refuse(
    'unavailable',
    `The machine of this app has no room for a backend that ${demand.always ? 'runs all the time and ' : ''}needs ${sizeText(demand.memoryMiB * MiB)} of memory. Without \`acceptResources\` it runs with what it was granted before.`,
  );
}

/** A volume grows with what a version declares, and never shrinks. */
function sized(place: Place, formerMiB: number, workload: WorkloadManifest | undefined): Place {
  const volumeMiB = Math.max(formerMiB, volumeMiBOf(workload));
  return { ...place, volumeMiB, growsByMiB: volumeMiB - formerMiB };
}

async function requireNodeDisk(trx: Transaction, nodeId: string, growsByMiB: number): Promise<void> {
  if (growsByMiB === 0 || (await nodeHasDisk(trx, nodeId, growsByMiB))) return;
  throw refuse(
    'unavailable',
    `The volume of this app would grow by ${sizeText(growsByMiB * MiB, Math.ceil)}, and the machine on which it lies does not have so much disk left. Its operator can add disk space.`,
  );
}

async function placeNew(trx: Transaction, sharing: Sharing, owner: Owner, workload: WorkloadManifest): Promise<Place> {
  const node = await bestNodeWithin(trx, sharing, owner, demandOf(workload, { owner }));
  if (node === undefined) throw await noPlace(trx, owner, workload);
  return {
    ...nowhere,
    nodeId: node.id,
    hasVolume: workload.volume,
    volumeStore: workload.volume ? node.shared_store : null,
  };
}

async function placeAgain(
  trx: Transaction,
  sharing: Sharing,
  owner: Owner,
  former: PlaceRow,
  workload: WorkloadManifest,
): Promise<Place> {
  const place = placeOf(former);
  if (former.held_by !== null) return { ...place, waiting: true };
  if (former.node_id === null) return keepVolume(place, await placeNew(trx, sharing, owner, workload));
  const bound = place.hasVolume && place.volumeStore === null;
  const { growsByMiB } = sized(place, bound ? former.volume_mib : 0, workload);
  const there = await (bound ? bestNodeWithin : bestNodeInShare)(
    trx,
    sharing,
    owner,
    demandOf(workload, { only: former.node_id, owner: bound ? null : owner, diskMiB: growsByMiB }),
  );
  if (there !== undefined) return keepVolume(place, { ...place, ...volumeOn(there.shared_store, workload) });
  if (bound)
    throw refuse(
      'unavailable',
      `The volume of this app lies on the machine ${former.node_name}, which takes no backends at the moment${growsByMiB > 0 ? ', or has no disk left for a larger volume' : ''}.`,
    );
  const demand = demandOf(workload, { owner, hosting: hostingOf(former.node_labels), store: place.volumeStore });
  const other = await bestNodeWithin(trx, sharing, owner, demand);
  if (other === undefined) throw await noPlace(trx, owner, workload);
  // Its former node may not have stopped it yet.
  if (former.node_lost_at === null) return { ...place, nodeId: null, waiting: true, heldBy: former.node_id };
  return keepVolume(place, { ...place, nodeId: other.id, ...volumeOn(other.shared_store, workload) });
}

function bestNodeInShare(trx: Transaction, { config }: Sharing, { accountKey }: Owner, demand: Demand) {
  return bestNode(trx, { ...demand, share: memoryShareOf(config, accountKey) });
}

/** @throws RefusalError `account_share` when a node has room, and only the share of the account is used up */
async function bestNodeWithin(...call: Parameters<typeof bestNodeInShare>): ReturnType<typeof bestNode> {
  const [trx, { config }, , demand] = call;
  const node = await bestNodeInShare(...call);
  if (node === undefined && (await bestNode(trx, demand)) !== undefined) throw memoryShareUsed(config);
  return node;
}

function volumeOn(store: string | null, { volume }: WorkloadManifest): Pick<Place, 'hasVolume' | 'volumeStore'> {
  return { hasVolume: volume, volumeStore: volume ? store : null };
}

/** A volume once made stays what and where it is. */
function keepVolume(former: Place, next: Place): Place {
  return former.hasVolume ? { ...next, hasVolume: true, volumeStore: former.volumeStore } : next;
}

/**
 * Another node for an installation whose node is lost, drained or gone: run by the same kind of owner, and one that
 * reaches its volume. `undefined` when none has room.
 */
export async function placeElsewhere(
  trx: Transaction,
  moved: {
    readonly id: InstallationId;
    readonly owner: Owner;
    readonly workload: WorkloadManifest;
    readonly hosting: string | null;
    readonly volumeStore: string | null;
  },
): Promise<{ readonly id: string; readonly sharedStore: string | null } | undefined> {
  const node = await bestNode(
    trx,
    demandOf(moved.workload, { owner: moved.owner, hosting: moved.hosting, store: moved.volumeStore }),
  );
  return node === undefined ? undefined : { id: node.id, sharedStore: node.shared_store };
}

/** The place of an installation, as its row has it. */
export function placeOf(
  row: Pick<PlaceRow, 'node_id' | 'waiting' | 'held_by' | 'has_volume' | 'volume_store' | 'volume_mib'>,
): Place {
  return {
    nodeId: row.node_id,
    waiting: row.waiting,
    heldBy: row.held_by,
    hasVolume: row.has_volume,
    volumeStore: row.volume_store,
    volumeMiB: row.volume_mib,
    growsByMiB: 0,
  };
}

function demandOf(workload: WorkloadManifest, more: Partial<Demand> = {}): Demand {
  return {
    runtime: workload.runtime,
    processor: workload.processor ?? null,
    memoryMiB: workload.resources.memoryMiB,
    always: workload.mode === 'always',
    diskMiB: volumeMiBOf(workload),
    hosting: null,
    store: null,
    only: null,
    share: null,
    owner: null,
    ...more,
  };
}

function canRun({ runtimes, processor }: CensusRow, workload: WorkloadManifest): boolean {
  return runtimes.includes(workload.runtime) && (workload.processor ?? processor) === processor;
}

function kindOf({ runtime, processor }: WorkloadManifest): string {
  if (runtime === 'oci') return 'a container image';
  if (runtime === 'node') return 'of runtime "node"';
  if (runtime === 'agent') return 'an agent';
  return processor === undefined ? 'an executable' : `an executable for ${processorNames[processor]}`;
}

/** What stands in the way, in a sentence for who installs. */
async function noPlace(trx: Transaction, owner: Owner, workload: WorkloadManifest): Promise<Error> {
  const { rows } = await nodeCensus(trx, owner);
  if (rows.length > 0 && !rows.some((row) => canRun(row, workload))) {
    return refuse(
      'placement_not_allowed',
      `The backend of this app is ${kindOf(workload)}, which no machine of this platform can run. Choose a version whose backend has the runtime "node".`,
    );
  }
  if (rows.length === 0)
    return refuse(
      'unavailable',
      'This platform runs without a node, so nothing can run the backend of this app. Its operator can add one with `./platform node join`.',
    );
  const open = rows.filter((row) => row.open);
  if (open.length === 0)
    return refuse('unavailable', 'No machine takes a new backend at the moment. Try again later.', { retryAfter: 30 });
  const labels = await demandedLabels(trx, owner);
  if (labels.length > 0)
    return refuse(
      'unavailable',
      `The operator places the backend of this app on machines labelled ${labels.join(' and ')} only, and none of those takes it at the moment.`,
      { retryAfter: 30 },
    );
  if (open.every(({ kept }) => kept))
    return refuse(
      'unavailable',
      'Every machine that takes backends is reserved for other apps. The operator of this platform decides which.',
      { retryAfter: 30 },
    );
  if (open.every((row) => row.kept || row.disk_full))
    return refuse(
      'unavailable',
      'The disk of every machine that could run the backend of this app is full. The operator of this platform has to make space.',
      { retryAfter: 60 },
    );
  const diskMiB = volumeMiBOf(workload);
  return refuse(
    'unavailable',
    `No machine${open.some(({ kept }) => kept) ? ' that is not reserved for other apps' : ''} has room for the backend of this app, which needs ${sizeText(workload.resources.memoryMiB * MiB)} of memory${diskMiB === 0 ? '' : ` and ${sizeText(diskMiB * MiB)} of disk`}.`,
  );
}

function isNoPlace(error: unknown): boolean {
  return (
    error instanceof RefusalError &&
    ['unavailable', 'placement_not_allowed', 'account_share'].includes(error.refusal.code)
  );
}
