// Keeps this node in step with core: follows the assignments, and reports what really runs.

import { type Assignment, type Assignments, type InstallationStatus, publicHostname } from '@platform/contract';
import { CoreError } from '@platform/link';
import type { Runnables } from './agents.ts';
import type { Log } from './clock.ts';
import type { CoreClient } from './core-client.ts';
import type { Driver } from './drivers/driver.ts';
import type { Lease } from './lease.ts';
import type { Installation } from './lifecycle/installation.ts';
import type { PackageStore } from './packages.ts';
import { pause } from './pause.ts';

export interface Fleet {
  find(installationId: string): Installation | undefined;
  all(): Iterable<Installation>;
  /** Resolves with the installation as soon as it is assigned, or with undefined after some milliseconds. */
  awaitAssigned(installationId: string, milliseconds: number): Promise<Installation | undefined>;
  /** The same by endpoint id. Resolves at once when too many requests wait, since any client may request any id. */
  awaitEndpoint(endpointId: string, milliseconds: number): Promise<Installation | undefined>;
  /** Whose public name this is, in lower case. */
  atHostname(hostname: string): Installation | undefined;
  /** The same by its public name, as {@link awaitEndpoint}. */
  awaitHostname(hostname: string, milliseconds: number): Promise<Installation | undefined>;
  /**
   * Starts applying the assignments. Resolves when every network policy is in effect, after two seconds at the
   * latest; the rest continues in the background.
   */
  apply(assignments: readonly Assignment[]): Promise<void>;
  /** Stops an installation and forgets it until it is assigned again. */
  remove(installationId: string): Promise<void>;
}

export interface FleetParts {
  readonly make: (assignment: Assignment) => Installation;
  readonly packages: PackageStore;
  readonly runnables: Runnables;
  readonly driver: Pick<Driver, 'keepOnly'>;
  readonly log: Log;
}

/** Limit on requests that wait for unknown endpoints, which may never be assigned. */
const MOST_WAITING = 256;
/** Milliseconds that core's answer to a revocation waits for us at most. */
const LONGEST_SETTLING = 2_000;
const FIRST_RETRY = 500;
const LONGEST_RETRY = 15_000;

export function createFleet(parts: FleetParts): Fleet {
  const installations = new Map<string, Installation>();
  const endpoints = new Map<string, Installation>();
  /** By public name. */
  const hosts = new Map<string, Installation>();
  /** By installation id, by endpoint id and by public name, which cannot be mistaken for each other. */
  const awaited = new Map<string, Set<() => void>>();
  let waitingRequests = 0;
  /** Being stopped; the same installation may be assigned again only when that is done, or two would share a volume. */
  const leaving = new Map<string, Promise<void>>();
  let wanted: ReadonlyMap<string, Assignment> = new Map();

  function resolveWaiting(assignment: Assignment): void {
    const { installationId, endpointId } = assignment;
    for (const id of [installationId, endpointId, hostnameOf(assignment) ?? '']) {
      for (const resolve of awaited.get(id) ?? []) resolve();
    }
  }

  /** Both of its addresses, those of the internet and those of its owner. */
  function enter(installation: Installation, assignment: Assignment): void {
    const hostname = hostnameOf(assignment);
    endpoints.set(assignment.endpointId, installation);
    if (hostname !== undefined) hosts.set(hostname, installation);
  }

  function leave(installation: Installation): void {
    const hostname = hostnameOf(installation.assignment);
    endpoints.delete(installation.assignment.endpointId);
    if (hostname !== undefined && hosts.get(hostname) === installation) hosts.delete(hostname);
  }

  /** Waits until `known` finds the id, or for some milliseconds. */
  function waitFor(
    id: string,
    known: ReadonlyMap<string, Installation>,
    milliseconds: number,
  ): Promise<Installation | undefined> {
    const found = known.get(id);
    if (found !== undefined || waitingRequests >= MOST_WAITING) return Promise.resolve(found);
    return new Promise((resolve) => {
      const waiting = awaited.get(id) ?? new Set();
      awaited.set(id, waiting);
      const done = () => {
        if (!waiting.delete(done)) return;
        clearTimeout(timer);
        waitingRequests -= 1;
        if (waiting.size === 0) awaited.delete(id);
        resolve(known.get(id));
      };
      const timer = setTimeout(done, milliseconds);
      waiting.add(done);
      waitingRequests += 1;
    });
  }

  function set(assignment: Assignment): void {
    const { installationId } = assignment;
    const known = installations.get(installationId);
    if (leaving.has(installationId)) return;
    if (known === undefined) {
      const made = parts.make(assignment);
      installations.set(installationId, made);
      enter(made, assignment);
      resolveWaiting(assignment);
      return;
    }
    leave(known);
    enter(known, assignment);
    resolveWaiting(assignment);
    known.update(assignment).catch((error: unknown) => {
      parts.log.error({ installationId, err: error }, 'an assignment could not be carried out');
    });
  }

  async function remove(installationId: string): Promise<void> {
    wanted = new Map([...wanted].filter(([id]) => id !== installationId));
    const known = installations.get(installationId);
    if (known === undefined) return leaving.get(installationId);
    installations.delete(installationId);
    leave(known);
    const left = known.remove().finally(() => {
      leaving.delete(installationId);
      const again = wanted.get(installationId);
      if (again !== undefined) set(again);
    });
    leaving.set(installationId, left);
    await left;
  }

  return {
    find: (installationId) => installations.get(installationId),
    all: () => installations.values(),
    awaitAssigned: (installationId, milliseconds) => waitFor(installationId, installations, milliseconds),
    awaitEndpoint: (endpointId, milliseconds) => waitFor(endpointId, endpoints, milliseconds),
    atHostname: (hostname) => hosts.get(hostname),
    awaitHostname: (hostname, milliseconds) => waitFor(hostname, hosts, milliseconds),
    async apply(assignments) {
      wanted = new Map(assignments.map((one) => [one.installationId, one]));
      // What those that leave may still do counts as well: it is withdrawn before their workloads have stopped.
      const concerned = new Set(installations.values());
      for (const installationId of [...installations.keys()]) {
        if (!wanted.has(installationId)) {
          remove(installationId).catch((error: unknown) => {
            parts.log.error({ installationId, err: error }, 'a removed app could not be stopped');
          });
        }
      }
      for (const assignment of assignments) set(assignment);
      prefetch(parts, () => wanted.values()).catch((error: unknown) => {
        parts.log.warn({ err: error }, 'a package could not be prefetched; it will be fetched when the app starts');
      });
      for (const installation of installations.values()) concerned.add(installation);
      const settled = Promise.all([...concerned].map((installation) => installation.grantsSettled));
      const limit = new AbortController();
      await Promise.race([settled, pause(LONGEST_SETTLING, limit.signal)]);
      limit.abort();
    },
    remove,
  };
}

function hostnameOf({ gateway }: Assignment): string | undefined {
  return gateway.public === undefined ? undefined : publicHostname(gateway.public.hostname);
}

/** A first use should not wait for a download. One after the other, so that starts come first. */
async function prefetch(
  { packages, runnables, driver }: FleetParts,
  wanted: () => Iterable<Assignment>,
): Promise<void> {
  const hashes = () => new Set(Array.from(wanted(), (one) => one.packageHash));
  let failure: unknown;
  const seen = new Set<string>();
  for (const one of wanted()) {
    if (seen.has(one.packageHash)) continue;
    seen.add(one.packageHash);
    await runnables.of(one).catch((error: unknown) => {
      failure = error;
    });
  }
  // What is wanted by now: a later list may have brought a package that is just being started.
  const kept = Array.from(wanted());
  await driver.keepOnly?.(kept.map(runnables.placeOf));
  await runnables.keepOnly(kept);
  await packages.keepOnly(hashes());
  if (failure !== undefined) throw failure;
}

/** The list is carried out again after this long without a change: what went wrong here is put right. */
const REAPPLY = 60_000;

export interface FollowHooks {
  apply(list: Assignments): Promise<void>;
  registered(): void;
  /** Core was not reached, or is not the same any more: until the next list this node may not know of everything. */
  lost(): void;
}

/** Registers and follows the assignments until `signal` is aborted; core may come and go meanwhile. */
export async function follow(
  core: CoreClient,
  registration: Parameters<CoreClient['register']>[0],
  parts: { readonly hooks: FollowHooks; readonly lease: Lease; readonly uptime: () => number; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { hooks, lease, log } = parts;
  let revision: string | undefined;
  let appliedAt = Number.NEGATIVE_INFINITY;
  let registered = false;
  let retry = FIRST_RETRY;
  let turn = lease.turn;
  while (!signal.aborted) {
    // What core said under a former lease may be of the past.
    if (turn !== lease.turn) revision = undefined;
    turn = lease.turn;
    try {
      if (!registered) {
        await core.register(registration, signal);
        registered = true;
        await lease.beat(signal);
        hooks.registered();
        continue;
      }
      const list = await core.assignments(revision, AbortSignal.any([signal, turn]));
      if (turn !== lease.turn) continue;
      // Polling for the next revision confirms this one to core, so it comes last.
      const due = parts.uptime() - appliedAt >= REAPPLY;
      if (list.revision !== revision || due) {
        await hooks.apply(list);
        appliedAt = parts.uptime();
      }
      revision = list.revision;
      retry = FIRST_RETRY;
    } catch (error) {
      if (signal.aborted) return;
      if (turn.aborted) continue;
      const what = error instanceof CoreError ? 'core refused a request of this node' : 'core could not be reached';
      log.warn({ err: error, retryInMilliseconds: retry }, what);
      hooks.lost();
      // A core that was restarted may have forgotten where this node is.
      registered = false;
      const wake = AbortSignal.any([signal, turn]);
      await pause(retry, wake);
      retry = Math.min(retry * 2, LONGEST_RETRY);
    }
  }
}

export interface Reporter {
  changed(installationId: string): void;
  /** Sends what is outstanding, within a second, and stops. */
  close(): Promise<void>;
}

const GATHER = 50;
const LARGEST_REPORT = 1_000;

/** Sends statuses to core soon after they change, many in one report, until core has taken them. */
export function createReporter(
  core: Pick<CoreClient, 'status'>,
  statusOf: (installationId: string) => InstallationStatus | undefined,
  log: Log,
): Reporter {
  const outstanding = new Set<string>();
  const abort = new AbortController();
  let work: Promise<void> | undefined;

  async function report(): Promise<void> {
    let retry = FIRST_RETRY;
    await pause(GATHER, abort.signal);
    while (outstanding.size > 0 && !abort.signal.aborted) {
      const ids = [...outstanding].slice(0, LARGEST_REPORT);
      for (const id of ids) outstanding.delete(id);
      try {
        const items = ids.flatMap((id) => statusOf(id) ?? []);
        if (items.length > 0) await core.status(items, abort.signal);
        retry = FIRST_RETRY;
      } catch (error) {
        for (const id of ids) outstanding.add(id);
        if (abort.signal.aborted) return;
        log.debug({ err: error }, 'a status report did not reach core');
        await pause(retry, abort.signal);
        retry = Math.min(retry * 2, LONGEST_RETRY);
      }
    }
  }

  return {
    changed(installationId) {
      outstanding.add(installationId);
      if (abort.signal.aborted) return;
      work ??= report().finally(() => {
        work = undefined;
      });
    },
    async close() {
      const limit = setTimeout(() => abort.abort(), 1_000);
      await work;
      clearTimeout(limit);
      abort.abort();
    },
  };
}
