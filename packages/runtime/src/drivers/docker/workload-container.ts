// A workload as a running container, from its start or adoption to its exit.
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkloadManifest } from '@platform/contract';
import type { SidecarGateway } from '../../gateway-port.ts';
import { type ResourceUse, unknownUse, type WorkloadInstance } from '../driver.ts';
import { describeExit, type Exit } from '../exit-reason.ts';
import { listeningPorts } from '../process/process-tree.ts';
import type { Cell } from './cells.ts';
import { type Container, isAlready, isGone, removed } from './engine.ts';
import { awaitExit } from './exit-watch.ts';
import { framesOf, type Output, openOutput } from './log-stream.ts';
import { type Depth, insideOf } from './network-namespace.ts';

export interface WorkloadContainer {
  readonly container: Container;
  readonly cell: Cell;
  readonly gateway: SidecarGateway;
  readonly manifest: WorkloadManifest;
  readonly depth: Depth;
  /** Seconds since 1970; an earlier Runtime has stored the output before it. Default: from the beginning. */
  readonly outputSince?: number;
  /** Aborted when requests to the engine are given up. */
  readonly cut: AbortSignal;
  /** Called when the Gateway is about to end on purpose. */
  beforeClose(): void;
}

export type RunningWorkload = Omit<WorkloadInstance, 'applyNetworkPolicy' | 'publishUdp' | 'shortfalls'>;

/** The rest of a flood is not waited for longer than this. */
const LAST_WORDS_MS = 3_000;
/** 127.0.0.11 as the kernel writes it: there the engine itself listens in each container. */
const ENGINE_RESOLVER = '0B00007F';
const KILL_RETRY_MS = 200;

/** @param closing Takes apart what else was made for the workload, after its Gateway. */
export async function runningWorkload(
  parts: WorkloadContainer,
  closing: () => Promise<void>,
): Promise<RunningWorkload> {
  const { container, cell, gateway, manifest, cut } = parts;
  const { resources, runtime } = manifest;
  const { State } = await container.inspect();
  const output = openOutput();
  await follow(container, output, parts.outputSince ?? 0);
  const seconds = () => Math.floor(Date.now() / 1_000);
  let ended = false;
  const onReturn = () => follow(container, output, seconds());
  const exited = awaitExit(container, { cut, onReturn }).then(async (exit): Promise<Exit> => {
    ended = true;
    await Promise.race([output.ended, delay(LAST_WORDS_MS, undefined, { ref: false })]);
    output.end();
    // The exit is reported either way. A container that is not removed now is removed with its cell, which reports
    // errors.
    await removed(container.remove({ force: true, v: true })).catch(() => undefined);
    if ('unknown' in exit) return { code: null, signal: null, reason: exit.unknown };
    return describeExit(exit.code, null, exit.outOfMemory ? 1 : 0, { ...resources, runtime });
  });
  // Callers that await it get the error; without one it must not be an unhandled rejection.
  exited.catch(() => undefined);
  let closed: Promise<void> | undefined;
  return {
    gateway: {
      forwardInbound: (incoming, path) => gateway.forwardInbound(incoming, path),
      forwardUpgrade: (incoming, path) => gateway.forwardUpgrade(incoming, path),
      forwardPublic: (incoming) => gateway.forwardPublic(incoming),
      forwardPublicUpgrade: (incoming) => gateway.forwardPublicUpgrade(incoming),
      async apply(policy) {
        try {
          await gateway.apply(policy);
        } finally {
          // Afterwards, so that the Gateway ends calls that were revoked in its own words.
          cell.permit(policy.privateOrigins ?? []);
        }
      },
      activeRequests: () => gateway.activeRequests(),
      traffic: () => gateway.traffic(),
      close() {
        if (closed === undefined) parts.beforeClose();
        closed ??= gateway.close().then(closing);
        return closed;
      },
    },
    stdout: output.stdout,
    stderr: output.stderr,
    exited,
    async listening(signal) {
      const over = new AbortController();
      const giveUp = () => over.abort();
      exited.then(giveUp, giveUp);
      return gateway.workloadListens(AbortSignal.any([signal, over.signal]));
    },
    ports: () => (State.Pid > 0 ? listeningPorts(insideOf(State.Pid, parts.depth), ENGINE_RESOLVER) : []),
    stats: () => use(container),
    async stop(graceMilliseconds) {
      await end(container, graceMilliseconds, () => ended);
      return exited;
    },
    release: () => undefined,
  };
}

async function follow(container: Container, output: Output, since: number): Promise<void> {
  output.follow(await framesOf(container, since));
}

/** Stops the container; kills it after the grace period; retries until the engine confirms or `isOver`. */
async function end(container: Container, graceMilliseconds: number, isOver: () => boolean): Promise<void> {
  const deadline = performance.now() + graceMilliseconds;
  for (;;) {
    if (isOver()) return;
    try {
      const left = Math.max(0, deadline - performance.now());
      await container.stop({ t: Math.ceil(left / 1_000) });
      return;
    } catch (error) {
      if (isGone(error) || isAlready(error)) return;
      await delay(KILL_RETRY_MS);
    }
  }
}

interface EngineStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly max_usage?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
}

async function use(container: Container): Promise<ResourceUse> {
  try {
    const stats: EngineStats = await container.stats({ stream: false, 'one-shot': true });
    const { usage, max_usage: peak, stats: kinds } = stats.memory_stats ?? {};
    const caches = kinds?.total_inactive_file ?? kinds?.inactive_file ?? 0;
    const processor = stats.cpu_stats?.cpu_usage?.total_usage;
    return {
      ...unknownUse,
      cpuMilliseconds: processor === undefined ? null : Math.round(processor / 1e6),
      memoryBytes: usage === undefined ? null : Math.max(0, usage - caches),
      memoryPeakBytes: peak ?? null,
    };
  } catch {
    // Asked while it ended, or while the engine was away.
    return unknownUse;
  }
}
