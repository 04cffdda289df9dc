// Runs one workload in one virtual machine, with its images, enclosure and keeper.
import { existsSync } from 'node:fs';
import type { RunningGateway } from '../../gateway-port.ts';
import { LaunchError, StartRefused, type WorkloadInstance, type WorkloadSpec } from '../driver.ts';
import { gatewayPorts } from '../process/handshake.ts';
import { launch } from '../process/launch.ts';
import { createProcessNetwork } from '../process/process-network.ts';
import { type Entry, requireEntry } from '../require-entry.ts';
import { type Enclosure, enclosureLine } from './enclosure.ts';
import type { MachineHost } from './machine-host.ts';
import { type Acceleration, enclosureResources, planGuest, planMachine } from './machine-plan.ts';
import { addresses, enclosed, inGuest } from './places.ts';
import { collectReports } from './reports.ts';
import { volumeImage } from './volume-image.ts';

/** The user `nobody`, for workloads without a user of their own. */
const NOBODY = 65_534;
/** The guest is another host of that network, and nothing listens on its loopback that the relay could reach. */
const udpAddresses = { relay: addresses.host, workload: addresses.guest } as const;

/** @throws StartRefused when no attempt can succeed; LaunchError and others when a later one may. */
export async function runMachine(
  host: MachineHost,
  spec: WorkloadSpec,
  acceleration: Acceleration,
): Promise<WorkloadInstance> {
  const { manifest } = spec;
  const entry = requireRunnable(spec);
  const uid = spec.uid ?? NOBODY;
  const reports = collectReports();
  const resolver = host.resolverFile(spec.installationId);
  const { egress: ways, dns, log } = host;
  const network = createProcessNetwork(spec, { ways, dns, resolver, udpAddresses, log });
  let gateway: RunningGateway | undefined;
  let failed = false;
  try {
    const kvm = acceleration === 'kvm';
    const enclosure = await enclosureFor(host, spec, { uid, kvm, resolver: resolver.path });
    const { equipment } = host;
    const program = equipment.monitor === 'qemu' ? equipment.program : enclosed.firecracker;
    const sandbox = await launch(host.sandbox, {
      key: spec.installationId,
      app: spec.app,
      entry,
      uid,
      resources: enclosureResources(manifest.resources),
      port: manifest.port,
      environment: spec.environment({
        volume: manifest.volume ? inGuest.volume : undefined,
        temporary: inGuest.temporary,
        port: manifest.port,
      }),
      gatewayUrls: spec.gatewayUrls,
      storageUrls: spec.storageUrls,
      async attachGateway(listener, inboundSocket, keeper, _launcher, storage) {
        const hosts = gatewayPorts.map((port) => `${addresses.host}:${port}`);
        const openGateway = async () => {
          gateway = await spec.openGateway({
            listen: listener,
            // The keeper's choice, for a listener that lives in the machine's network.
            hosts,
            ...(storage === undefined ? {} : { storage: { listen: storage, hosts } }),
            inbound: { socketPath: inboundSocket },
          });
          // The rest may have failed meanwhile, and then nothing else closes the Gateway.
          if (failed) await gateway.close();
        };
        await Promise.all([network.connect(keeper), openGateway()]);
      },
      keeper: {
        commandLine: (cgroup) => enclosureLine(host.sandbox, enclosure, cgroup),
        order: {
          machine: planMachine(manifest, { monitor: equipment.monitor, program, acceleration }),
          guest: planGuest(entry, manifest.resources),
        },
        onReport: reports.take,
      },
      abort: spec.abort,
    });
    if (gateway === undefined) throw new LaunchError('The virtual machine has no Gateway.', '');
    const exited = sandbox.exited.finally(() => network.close()).then((exit) => reports.explain(exit, manifest));
    // Callers that await it get the error; without one it must not be an unhandled rejection.
    exited.catch(() => undefined);
    return {
      ...network,
      gateway,
      stdout: sandbox.stdout,
      stderr: sandbox.stderr,
      exited,
      listening: sandbox.listening,
      ports: reports.ports,
      stats: async () => sandbox.use(),
      stop: (grace) => sandbox.stop(grace).then(() => exited),
      release: sandbox.release,
    };
  } catch (error) {
    failed = true;
    await Promise.all([gateway?.close(), network.close()]);
    throw error;
  }
}

async function enclosureFor(
  host: MachineHost,
  spec: WorkloadSpec,
  { uid, kvm, resolver }: Pick<Enclosure, 'uid' | 'kvm' | 'resolver'>,
): Promise<Enclosure> {
  const { equipment } = host;
  const [app, volume] = await Promise.all([
    host.images.ofFolder(spec.app),
    spec.volume === undefined
      ? undefined
      : volumeImage(`${spec.volume}.img`, {
          makeExt4: equipment.makeExt4,
          sizeMiB: spec.manifest.resources.diskMiB,
          uid,
        }),
  ]);
  return {
    uid,
    resolver,
    nft: equipment.nft,
    keeper: host.keeper,
    kernel: equipment.kernel,
    initramfs: host.initramfs,
    base: host.base,
    app,
    volume,
    firecracker: equipment.monitor === 'firecracker' ? equipment.program : undefined,
    kvm,
  };
}

function requireRunnable({ app, manifest, volume }: WorkloadSpec): Entry {
  const entry = requireEntry(app, manifest);
  // To start with an empty one instead would look like a loss.
  if (volume !== undefined && existsSync(volume)) {
    throw new StartRefused(
      'Its volume is a folder, created by another driver or shared between machines; virtual machines need a disk image.',
    );
  }
  return entry;
}
