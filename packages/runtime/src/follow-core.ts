// The talk of a node with core: it registers, follows what core wants of it and carries that out, reports its load, and stops
// what could run elsewhere when it loses its lease.
import { randomUUID } from 'node:crypto';
import { type MachineGift, machineGifts, type NodeHeartbeat } from '@platform/contract';
import { noTunnel } from './drivers/docker/tunnel/tunnel-files.ts';
import { Lease } from './lease.ts';
import type { NodeSides } from './listener/open-sides.ts';
import { describeMachine, machineLoad } from './machine.ts';
import type { NodeMeans, Wanted } from './node-means.ts';
import type { NodeFleet } from './open-fleet.ts';
import { type FollowHooks, follow } from './reconcile.ts';
import type { RuntimeOptions } from './runtime-options.ts';

export interface Node extends NodeFleet {
  readonly options: RuntimeOptions;
  readonly means: NodeMeans;
  readonly sides: NodeSides;
  readonly wanted: Wanted;
  /** Aborted when the Runtime stops. */
  readonly ending: AbortSignal;
}

export interface Following {
  /** Resolves when core knows this node. */
  readonly registered: Promise<void>;
  /** Settles after the Runtime stopped. */
  readonly ended: Promise<unknown>;
}

export async function followCore(node: Node): Promise<Following> {
  const { options, means, fleet, wanted, ending } = node;
  const { core, uptime } = means;
  const { log } = options;
  /** Without the lease, core may be starting elsewhere what can move. */
  const carryOut = () =>
    fleet.apply(lease.held() ? wanted.items : wanted.items.filter(({ movable }) => movable !== true));
  const report = heartbeatsOf(node);
  const lease = new Lease({
    heartbeat: (milliseconds, signal) => core.heartbeat(report(), milliseconds, signal),
    uptime,
    log,
    hooks: {
      lapsed: () => void carryOut(),
      removed() {
        wanted.items = [];
        void carryOut();
        letNobodyIn(node);
        options.onRemoved?.();
      },
    },
  });
  const { promise: registered, resolve: onRegistered } = Promise.withResolvers<void>();
  const hooks = followHooks(node, carryOut, onRegistered);
  const registration = await registrationOf(node);
  yieldFullDisk(node);
  const ended = Promise.all([follow(core, registration, { hooks, lease, uptime, log }, ending), lease.keep(ending)]);
  return { registered, ended };
}

/** What core gets of the load of this node, at each heartbeat. */
function heartbeatsOf({ tally, means: { disk } }: Node): () => NodeHeartbeat {
  const run = randomUUID();
  return () => {
    const { outbound, inbound } = tally.totals();
    const full = disk.level() === 'room' ? {} : { diskFull: true };
    return { load: machineLoad(), ...full, traffic: { run, outbound, inbound } };
  };
}

/** Core does not know this node any more, so no Ingress has business here. */
function letNobodyIn({ sides: { publicSide, iroh } }: Node): void {
  void publicSide.admit([]);
  publicSide.answerForEndpoints(null);
  iroh?.keepToIngresses([]);
}

function followHooks(
  { options: { metrics }, means: { survivors }, fleet, reporter, sides, wanted }: Node,
  carryOut: () => Promise<void>,
  onRegistered: () => void,
): FollowHooks {
  const { publicSide, iroh, backends } = sides;
  return {
    lost() {
      wanted.isInformed = false;
    },
    async apply({ items, ingressKeys, ingressLinks, endpointHost }) {
      wanted.isInformed = true;
      wanted.items = items;
      const admitting = publicSide.admit(ingressKeys ?? []);
      iroh?.keepToIngresses(ingressLinks ?? []);
      publicSide.answerForEndpoints(endpointHost === undefined ? null : { ...backends, host: endpointHost });
      const began = performance.now();
      const settled = carryOut();
      metrics?.reconciled((performance.now() - began) / 1_000);
      void survivors.endRest();
      await Promise.all([settled, admitting]);
    },
    registered() {
      for (const { assignment } of fleet.all()) reporter.changed(assignment.installationId);
      onRegistered();
    },
  };
}

/** What this node says of itself when it registers. */
async function registrationOf({ options, means, sides: { control, publicSide } }: Node) {
  return {
    controlUrl: control.url,
    controlCredential: control.credential,
    ...(options.behindIngresses === true ? {} : { inboundOrigin: options.nodeOrigin }),
    publicSide: publicSide.registration,
    asksCapabilities: true as const,
    machine: describeMachine(means.driver.report, {
      memoryMiB: options.memoryMiB,
      agents: options.agentWorker !== undefined,
      diskMiB: await means.volumeCapacityMiB,
      sharedStore: means.sharedVolumes?.store,
      gives: giftsOf(options, means),
    }),
  };
}

function giftsOf({ udp }: RuntimeOptions, { driver: { report } }: NodeMeans): MachineGift[] {
  const has = {
    udp: udp !== undefined,
    // The docker driver alone provides it.
    tunnel: report.driver === 'docker' && noTunnel() === undefined,
    internet: report.noInternet === undefined,
  };
  return machineGifts.filter((gift) => has[gift]);
}

/** Stops backends with volumes while the disk is full. */
function yieldFullDisk({ means: { disk }, fleet, options: { log }, ending }: Node): void {
  disk.watch((level) => {
    for (const installation of fleet.all())
      installation.yieldDisk(level).catch((error: unknown) => {
        const { installationId } = installation.assignment;
        log.error({ installationId, err: error }, 'a backend could not be stopped for the full disk');
      });
  }, ending);
}
