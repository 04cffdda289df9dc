// The `process` driver: a workload as processes of this machine, isolated by its kernel.
// docs/decisions/process-sandbox.md describes the isolation and its limits.
import net from 'node:net';
import { join } from 'node:path';
import type { Log } from '../../clock.ts';
import type { RunningGateway } from '../../gateway-port.ts';
import { type EgressWays, NoEgress } from '../../network/egress.ts';
import { openEgress } from '../../network/open-egress.ts';
import type { CarrierName } from '../../network/open-user-egress.ts';
import { type Driver, type InsidePlaces, LaunchError, StartRefused, type WorkloadSpec } from '../driver.ts';
import { type Entry, requireEntry } from '../require-entry.ts';
import { gatewayPorts } from './handshake.ts';
import { launch, type SandboxHost } from './launch.ts';
import { inside } from './layout.ts';
import type { Way } from './mechanism.ts';
import { createProcessNetwork } from './process-network.ts';
import { openResolverFolder } from './resolver-file.ts';
import { openSandboxHost, type SandboxReport, unenforcedLimits } from './sandbox-host.ts';

export interface ProcessDriverOptions {
  /** Absolute. As root, others must be able to enter it and every folder above. */
  readonly dataDirectory: string;
  /** Runs workloads without walls where none can be made. */
  readonly allowUnsandboxed: boolean;
  /** Ways of confinement to try, best first. Default: all that this machine has. */
  readonly ways?: readonly Way[];
  /**
   * As an ordinary user: what may carry their traffic to the internet, best first. Default: all that this machine
   * has.
   */
  readonly carriers?: readonly CarrierName[];
  /** Name servers of workloads that may reach the internet. Default: none. */
  readonly dns?: readonly string[];
  readonly log: Log;
}

export interface ProcessDriver extends Driver {
  readonly report: SandboxReport;
}

/** The report of the driver, beside a Runtime that may be running: it leaves nothing. */
export async function probeProcessDriver(
  options: Pick<ProcessDriverOptions, 'dataDirectory' | 'ways' | 'log'>,
): Promise<SandboxReport> {
  const { dataDirectory, ways, log } = options;
  const { host, report } = await openSandboxHost({ dataDirectory, ...(ways === undefined ? {} : { ways }) });
  host.cgroups.close();
  // As root nothing is tried before the first grant, and what another Runtime has made must stay.
  if (!report.ok || process.getuid?.() === 0) return report;
  return withInternet(report, await openEgress({ dataDirectory, reachable: isReachable(host), log }));
}

function isReachable({ networkOwner }: SandboxHost): boolean {
  return networkOwner === 'launcher';
}

function withInternet(report: SandboxReport, egress: EgressWays | NoEgress): SandboxReport {
  return egress instanceof NoEgress ? { ...report, noInternet: egress.message } : report;
}

export async function openProcessDriver(options: ProcessDriverOptions): Promise<ProcessDriver> {
  const { dataDirectory, ways } = options;
  const { host, report: walls } = await openSandboxHost({
    dataDirectory,
    owner: true,
    ...(ways === undefined ? {} : { ways }),
  });
  const sandboxed = host.way !== 'none';
  const reachable = isReachable(host);
  const egress = await openEgress({
    dataDirectory,
    reachable,
    ...(options.carriers === undefined ? {} : { carriers: options.carriers }),
    log: options.log,
  });
  const report = withInternet(walls, egress);
  const resolverFile = openResolverFolder(join(dataDirectory, 'runtime', 'resolvers'));

  async function places(spec: WorkloadSpec): Promise<InsidePlaces> {
    if (sandboxed) {
      const volume = spec.volume === undefined ? undefined : inside.volume;
      return { volume, temporary: inside.temporary, port: spec.manifest.port };
    }
    // Without a network of its own two apps may want the same port, so each gets a free one.
    return { volume: spec.volume, temporary: inside.temporary, port: await freePort() };
  }

  return {
    report,
    unenforced: () => unenforcedLimits(report),
    // A sandbox ends with the Runtime by the kernel's hand, and opening the host has cleared its traces away.
    list: async () => [],
    adopt: async () => undefined,
    destroy: async () => undefined,
    async start(spec) {
      const entry = requireRunnable(spec, { report, allowUnsandboxed: options.allowUnsandboxed });
      const place = await places(spec);
      let gateway: RunningGateway | undefined;
      let failed = false;
      const resolver = sandboxed ? resolverFile(spec.installationId) : undefined;
      const network = createProcessNetwork(spec, { ways: egress, dns: options.dns ?? [], resolver, log: options.log });
      try {
        const sandbox = await launch(host, {
          key: spec.installationId,
          app: spec.app,
          entry,
          ...(spec.volume === undefined ? {} : { volume: spec.volume }),
          ...(spec.uid === undefined ? {} : { uid: spec.uid }),
          ...(resolver === undefined ? {} : { resolver: resolver.path }),
          resources: spec.manifest.resources,
          port: place.port,
          environment: spec.environment(place),
          gatewayUrls: spec.gatewayUrls,
          storageUrls: spec.storageUrls,
          async attachGateway(listener, inboundSocket, workload, launcher, storage) {
            const connected = network.connect(workload, reachable ? launcher : undefined);
            // Awaited below; if the Gateway does not open, that error is reported instead.
            connected.catch(() => undefined);
            gateway = await spec.openGateway({
              listen: listener,
              ...(storage === undefined ? {} : { storage: { listen: storage } }),
              inbound: { socketPath: inboundSocket },
            });
            if (failed) await gateway.close();
            await connected;
          },
          abort: spec.abort,
        });
        if (gateway === undefined) throw new LaunchError('The sandbox has no Gateway.', '');
        const ports = () => sandbox.ports().filter((port) => !gatewayPorts.some((own) => own === port));
        const exited = sandbox.exited.finally(() => network.close());
        // Callers that await it get the error; without one it must not be an unhandled rejection.
        exited.catch(() => undefined);
        return {
          ...sandbox,
          ...network,
          exited,
          gateway,
          ports,
          stats: async () => sandbox.use(),
          stop: (graceMilliseconds) => sandbox.stop(graceMilliseconds).then(() => exited),
        };
      } catch (error) {
        failed = true;
        await Promise.all([gateway?.close(), network.close()]);
        throw error;
      }
    },
    async close() {
      if (!(egress instanceof NoEgress)) await egress.close();
      host.cgroups.close();
    },
  };
}

/** The entry of a workload that can be run here. */
function requireRunnable(
  { app, manifest }: WorkloadSpec,
  { report, allowUnsandboxed }: { readonly report: SandboxReport; readonly allowUnsandboxed: boolean },
): Entry {
  if (!report.ok && !allowUnsandboxed) {
    throw new StartRefused(`This machine cannot confine the app: ${report.reasons[0] ?? 'the trial sandbox failed.'}`);
  }
  return requireEntry(app, manifest);
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}
