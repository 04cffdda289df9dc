// The Runtime of one node: turns what core wants into running, confined workloads. Read this file first. drivers/ holds
// the walls, lifecycle/ the states of a workload, listener/ the HTTP sides, reconcile.ts the talk with core.
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Assignment, type NodeHeartbeat, refuse } from '@platform/contract';
import { type LinkCertificate, type LinkKey, linkCertificate } from '@platform/link';
import { type Clock, systemClock } from './clock.ts';
import { createCoreClient } from './core-client.ts';
import { type DiskSpace, openDiskWatch } from './disk-watch.ts';
import type { DriverReport } from './drivers/driver.ts';
import { type DriverOptions, openDriver } from './drivers/open-driver.ts';
import type { StartGateway } from './gateway-port.ts';
import { openIdentities, takenIds } from './identities.ts';
import { Lease, machineUptime } from './lease.ts';
import { openFailures } from './lifecycle/failures.ts';
import { Installation } from './lifecycle/installation.ts';
import { createSlots } from './lifecycle/slots.ts';
import { findSurvivors } from './lifecycle/survivors.ts';
import { type ControlParts, handleControl } from './listener/control.ts';
import { openControl } from './listener/control-side.ts';
import { connectEndpoint, type Endpoints, handleEndpoint } from './listener/endpoints.ts';
import { startHttpServer } from './listener/http-server.ts';
import { type NodeIroh, type NodeIrohOptions, openNodeIroh } from './listener/node-iroh.ts';
import { openPublicSide, type PublicSideOptions } from './listener/public.ts';
import { openLogStore } from './logs/log-store.ts';
import { describeMachine, machineLoad } from './machine.ts';
import type { NodeMetrics } from './metrics.ts';
import { openUdpPorts, type UdpPortOptions } from './network/udp-ports.ts';
import { openPackageStore } from './packages.ts';
import { createFleet, createReporter, type FollowHooks, follow } from './reconcile.ts';
import { openSharedVolumes } from './shared-volumes.ts';
import { createTally } from './tally.ts';
import { volumeCapacityMiB } from './volumes/volume-capacity.ts';
import { openVolumes } from './volumes/volumes.ts';

export type { DriverChoice } from './drivers/choose.ts';
export { probeDriver } from './drivers/open-driver.ts';
export type { GatewayOptions, GatewaySidecar, RunningGateway, StartGateway } from './gateway-port.ts';

/** One Runtime at a time on one data folder. */
export interface RuntimeOptions extends DriverOptions {
  /** Public UDP ports that workloads may be given. Default: none. */
  readonly udp?: UdpPortOptions;
  /** Where core listens, e.g. `http://127.0.0.1:8787`. */
  readonly coreOrigin: string;
  /** Value of the Host header core expects, e.g. `shell.platform.localhost:8787`. */
  readonly coreHost: string;
  /** What core must prove over https. Default: its certificate must be valid for `coreHost`. */
  readonly coreKey?: Buffer;
  /** `pnd_…`. Default: the first is got by a proof with the key. */
  readonly nodeCredential?: string;
  /** The identity of this node; renews its credential. Without it the given one is the only one. */
  readonly nodeKey?: LinkKey;
  /**
   * Where core reaches the control side from another machine, over TLS under `nodeKey`. Default: plain HTTP on a free
   * port of the loopback interface.
   */
  readonly control?: { readonly host: string; readonly port: number };
  /**
   * Where Ingresses on other machines reach the public side, over TLS under `nodeKey`. Default: plain HTTP on a free port of
   * the loopback interface.
   */
  readonly public?: { readonly host: string; readonly port: number };
  /**
   * Core and Ingresses reach this node over connections that it makes to them over UDP, instead of at `control` and
   * `public`. Default: they do not.
   */
  readonly iroh?: Omit<NodeIrohOptions, 'key'>;
  /** The link key of all cores of the platform, the only one that is served at `control`. Default: any key is. */
  readonly controllerKey?: Buffer;
  /** Memory in MiB that workloads may take together. Default: 80 % of what the machine or its container has. */
  readonly memoryMiB?: number;
  /** Folder for volumes that this node shares with others. */
  readonly sharedVolumes?: string;
  /** Called when core does not know this node any more; all workloads are being stopped. */
  readonly onRemoved?: () => void;
  /** Milliseconds since some moment, going on while the machine sleeps. Default: since the machine started. */
  readonly uptime?: () => number;
  /** Where browsers reach backends, e.g. `http://node.platform.localhost:8788`. */
  readonly nodeOrigin: string;
  /** They cannot, and reach them through Ingresses, at a host that core chooses. Takes `iroh`. Default: they can. */
  readonly behindIngresses?: boolean;
  readonly listenHost: string;
  /** Port of the endpoint listener; 0 takes a free one. */
  readonly listenPort: number;
  readonly clock: () => Date;
  /** Timers, for tests that hold the time. Default: the system's. */
  readonly after?: Clock['after'];
  readonly random: (bytes: number) => Buffer;
  /** Space on the disk of the data folder, for tests that fill none. Default: as the system says. */
  readonly diskSpace?: () => DiskSpace;
  readonly startGateway: StartGateway;
  /** Default: nothing is counted. */
  readonly metrics?: NodeMetrics;
}

export interface Runtime {
  /** Port of the endpoint listener. */
  readonly listenerPort: number;
  /** How workloads are confined here, in one line for a person. */
  readonly sandbox: string;
  readonly report: DriverReport;
  /** Why this driver was chosen, and why no stronger one: one sentence each. */
  readonly because: readonly string[];
  /** Resolves when core knows this node; the Runtime works on its own from the start. */
  readonly registered: Promise<void>;
  /** Ends every workload and listener, within ten seconds. */
  stop(): Promise<void>;
}

const CONTROL_CREDENTIAL_BYTES = 32;
const NEWLY_ASSIGNED_WAIT = 3_000;
/** An Ingress may know of a name before this node does; its client waits for at most 2 s in all (contract 4e). */
const NEW_NAME_WAIT = 1_000;
const LISTENER_GRACE = 2_000;

export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { dataDirectory, log } = options;
  const outbound = options.outbound ?? { privateOrigins: [], ca: null };
  const system = systemClock(options.clock);
  const clock: Clock = { now: options.clock, after: options.after ?? system.after };
  const volumes = openVolumes(join(dataDirectory, 'volumes'));
  const disk = openDiskWatch(dataDirectory, log, options.diskSpace);
  const measuring = volumeCapacityMiB(join(dataDirectory, 'volumes'), log);
  const link = await proofOfNode(options);
  const { driver, because } = await openDriver({
    ...options,
    ...coreLink(options, link),
    requireRoom: disk.requireRoom,
  });
  const survivors = await findSurvivors(driver, log);
  const uptime = options.uptime ?? machineUptime;
  const core = createCoreClient({ ...options, ...link, uptime });
  const sharedVolumes = openSharedVolumes(options.sharedVolumes, driver.report);
  if (options.sharedVolumes !== undefined && sharedVolumes === undefined)
    log.warn(
      { driver: driver.report.driver },
      'this driver does not share volumes; they are stored on this machine only',
    );
  const stopping = new AbortController();
  const logs = openLogStore(join(dataDirectory, 'logs'), clock, log, () => disk.level() !== 'room');
  const packages = openPackageStore(
    join(dataDirectory, 'workloads'),
    (hash) => core.packageBlob(hash, stopping.signal),
    disk.requireRoom,
  );
  const identities =
    process.getuid?.() === 0
      ? openIdentities(join(dataDirectory, 'runtime', 'identities.json'), takenIds(dataDirectory))
      : undefined;
  const failures = openFailures(join(dataDirectory, 'runtime', 'failures.json'), log);
  const udpPorts = openUdpPorts({
    file: join(dataDirectory, 'runtime', 'udp-ports.json'),
    options: options.udp,
    isHere: (id) => assigned.some(({ installationId }) => installationId === id) || volumes.has(id),
  });
  const tally = createTally();
  const slots = createSlots(Math.max(2, availableParallelism()));
  const reporter = createReporter(core, (id) => fleet.find(id)?.status(), log);
  const fleet = createFleet({
    packages,
    log,
    make: (assignment) =>
      new Installation(
        {
          workload: {
            driver,
            packages,
            identities,
            volumes,
            disk,
            udpPorts,
            sharedVolumes,
            core,
            coreOrigin: options.coreOrigin,
            coreHost: options.coreHost,
            ...(options.coreKey === undefined ? {} : { coreKey: options.coreKey }),
            ...link,
            outbound,
            startGateway: options.startGateway,
            metrics: options.metrics,
            tally,
            random: options.random,
            log,
          },
          logs,
          clock,
          log,
          slots,
          core,
          failures,
          disk,
          onStatus: (id) => {
            reporter.changed(id);
            const status = fleet.find(id)?.status();
            if (status !== undefined) options.metrics?.changed(status);
          },
        },
        assignment,
        survivors.take(assignment.installationId),
      ),
  });

  options.metrics?.watch({
    report: driver.report,
    statuses: () => [...fleet.all()].map((installation) => installation.status()),
    tally,
  });
  const onWake = () => options.metrics?.woken();
  const controlParts: ControlParts = {
    credential: `pnc_${options.random(CONTROL_CREDENTIAL_BYTES).toString('base64url')}`,
    find: (id) => fleet.awaitAssigned(id, NEWLY_ASSIGNED_WAIT),
    onWake,
    forget: async (id) => {
      await fleet.remove(id);
      await logs.remove(id);
    },
    async deleteVolume(id) {
      if (fleet.find(id) !== undefined)
        throw refuse('workload_unavailable', 'Its app is still installed on its machine, or being removed. Try again.');
      // Until it has stopped.
      await fleet.remove(id);
      await volumes.remove(id);
      await sharedVolumes?.remove(id, stopping.signal);
    },
    logs,
    ending: stopping.signal,
  };
  const endpointHost = new URL(options.nodeOrigin).host;
  /** Whether this node has core's current assignments, as far as it knows. */
  let isInformed = false;
  const requireInformed = (found: Installation | undefined) => {
    if (found === undefined && !isInformed)
      throw refuse('workload_unavailable', 'This machine is still loading its list of apps.', { retryAfter: 1 });
    return found;
  };
  const backends: Endpoints = {
    find: async (id) => requireInformed(await fleet.awaitEndpoint(id, NEWLY_ASSIGNED_WAIT)),
    onWake,
  };
  const endpoints = await startHttpServer({
    host: options.listenHost,
    port: options.listenPort,
    isOwnHost: (name) => name === endpointHost,
    strictTransport: new URL(options.nodeOrigin).protocol === 'https:',
    handle: (incoming) => handleEndpoint(backends, incoming),
    connect: (incoming) => connectEndpoint(backends, incoming),
    browsers: true,
    log,
  });
  const { nodeKey: key } = options;
  const iroh = options.iroh === undefined || key === undefined ? null : await openNodeIroh({ ...options.iroh, key });
  const control = await openControl(options, iroh, (incoming) => handleControl(controlParts, incoming));
  const publicSide = await openPublicSide({
    ...publicOver(options, iroh),
    credential: `pni_${options.random(CONTROL_CREDENTIAL_BYTES).toString('base64url')}`,
    find: (hostname) =>
      fleet.atHostname(hostname) ?? fleet.awaitHostname(hostname, NEW_NAME_WAIT).then(requireInformed),
    onWake,
    log,
  });

  let assigned: readonly Assignment[] = [];
  /** Without the lease, core may be starting elsewhere what can move. */
  const carryOut = () => fleet.apply(lease.held() ? assigned : assigned.filter(({ movable }) => movable !== true));
  const run = randomUUID();
  const report = (): NodeHeartbeat => {
    const { outbound, inbound } = tally.totals();
    const full = disk.level() === 'room' ? {} : { diskFull: true };
    return { load: machineLoad(), ...full, traffic: { run, outbound, inbound } };
  };
  const lease = new Lease({
    heartbeat: (milliseconds, signal) => core.heartbeat(report(), milliseconds, signal),
    uptime,
    log,
    hooks: {
      lapsed: () => void carryOut(),
      removed() {
        assigned = [];
        void carryOut();
        void publicSide.admit([]);
        publicSide.answerForEndpoints(null);
        iroh?.keepToIngresses([]);
        options.onRemoved?.();
      },
    },
  });
  const { promise: registered, resolve: resolveRegistered } = Promise.withResolvers<void>();
  const hooks: FollowHooks = {
    lost() {
      isInformed = false;
    },
    async apply({ items, ingressKeys, ingressLinks, endpointHost }) {
      isInformed = true;
      assigned = items;
      const admitting = publicSide.admit(ingressKeys ?? []);
      iroh?.keepToIngresses(ingressLinks ?? []);
      publicSide.answerForEndpoints(endpointHost === undefined ? null : { ...backends, host: endpointHost });
      const began = performance.now();
      const settled = carryOut();
      options.metrics?.reconciled((performance.now() - began) / 1_000);
      void survivors.endRest();
      await Promise.all([settled, admitting]);
    },
    registered() {
      for (const { assignment } of fleet.all()) reporter.changed(assignment.installationId);
      resolveRegistered();
    },
  };
  const registration = {
    controlUrl: control.url,
    controlCredential: controlParts.credential,
    ...(options.behindIngresses === true ? {} : { inboundOrigin: options.nodeOrigin }),
    publicSide: publicSide.registration,
    asksCapabilities: true as const,
    machine: describeMachine(driver.report, {
      memoryMiB: options.memoryMiB,
      diskMiB: await measuring,
      sharedStore: sharedVolumes?.store,
    }),
  };
  disk.watch((level) => {
    for (const installation of fleet.all())
      installation.yieldDisk(level).catch((error: unknown) => {
        const { installationId } = installation.assignment;
        log.error({ installationId, err: error }, 'a backend could not be stopped for the full disk');
      });
  }, stopping.signal);
  const following = Promise.all([
    follow(core, registration, { hooks, lease, uptime, log }, stopping.signal),
    lease.keep(stopping.signal),
  ]);

  /** Unmounts what an earlier Runtime left, but not under a workload that outlived it. */
  async function sweepVolumes(): Promise<void> {
    await volumes.sweep(survivors.left()).catch((error: unknown) => {
      log.warn({ err: error }, 'a former volume could not be unmounted');
    });
  }

  return {
    listenerPort: endpoints.port,
    sandbox: describeSandbox(driver.report, options.allowUnsandboxed === true),
    report: driver.report,
    because,
    registered,
    async stop() {
      stopping.abort();
      driver.leave?.();
      await following;
      const closing = [endpoints, control, publicSide].map((side) => side.close(LISTENER_GRACE));
      await Promise.all([survivors.endRest(), ...[...fleet.all()].map((installation) => installation.close())]);
      await Promise.all([...closing, reporter.close()]);
      await iroh?.close();
      await core.close();
      await driver.close();
      await sweepVolumes();
    },
  };
}

/** What a node shows a core on another machine. */
async function proofOfNode({ coreOrigin, nodeKey }: RuntimeOptions): Promise<{ linkCertificate?: LinkCertificate }> {
  if (nodeKey === undefined || new URL(coreOrigin).protocol !== 'https:') return {};
  return { linkCertificate: await linkCertificate(nodeKey) };
}

function coreLink(
  { coreOrigin, coreHost: host, coreKey: key }: RuntimeOptions,
  { linkCertificate: certificate }: { readonly linkCertificate?: LinkCertificate },
): Pick<DriverOptions, 'coreLink'> {
  return new URL(coreOrigin).protocol === 'https:' ? { coreLink: { host, key, certificate } } : {};
}

function publicOver({ public: at, nodeKey }: RuntimeOptions, iroh: NodeIroh | null): Pick<PublicSideOptions, 'over'> {
  if (nodeKey === undefined) return {};
  if (iroh !== null) return { over: { key: nodeKey, iroh } };
  return at === undefined ? {} : { over: { ...at, key: nodeKey } };
}

function describeSandbox(report: DriverReport, allowUnsandboxed: boolean): string {
  if (report.ok) {
    const weak = Object.entries(report.limits).flatMap(([name, by]) => (by === false ? [name] : []));
    const remark = weak.length === 0 ? '' : `; not limited here: ${weak.join(', ')}`;
    return `confined with ${report.mechanism}${remark}`;
  }
  const why = report.reasons[0] ?? 'the trial sandbox failed';
  return allowUnsandboxed ? `NOT confined (${why})` : `refused: no sandbox can be made (${why})`;
}
