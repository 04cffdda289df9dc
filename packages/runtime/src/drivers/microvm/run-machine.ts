// Runs one workload in one virtual machine: images, enclosure and keeper brought together. Everything that comes back
// from the keeper is taken as the guest's own word.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { RunningGateway } from '../../gateway-port.ts';
import { LaunchError, StartRefused, type WorkloadInstance, type WorkloadSpec } from '../driver.ts';
import { describeExit, type Exit } from '../exit-reason.ts';
import { gatewayPorts } from '../process/handshake.ts';
import { launch } from '../process/launch.ts';
import { createProcessNetwork } from '../process/process-network.ts';
import { type Enclosure, enclosureLine } from './enclosure.ts';
import type { MachineHost } from './machine-host.ts';
import { type Acceleration, enclosureResources, planGuest, planMachine } from './machine-plan.ts';
import { addresses, bridgePorts, enclosed, inGuest, type KeeperReport } from './places.ts';
import { volumeImage } from './volume-image.ts';

/** Where nobody gave the workload a user of its own: `nobody`. */
const NOBODY = 65_534;
const LONGEST_REPORT = 16_384;
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
      async attachGateway(listener, inboundSocket, keeper) {
        const connected = network.connect(keeper);
        connected.catch(() => undefined);
        gateway = await spec.openGateway({
          listen: listener,
          // The keeper's choice, for a listener that lives in the machine's network.
          hosts: gatewayPorts.map((port) => `${addresses.host}:${port}`),
          inbound: { socketPath: inboundSocket },
        });
        if (failed) await gateway.close();
        await connected;
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
    if (gateway === undefined) throw new LaunchError('The virtual machine stands without a Gateway.', '');
    const exited = sandbox.exited
      .finally(() => network.close())
      .then((exit) => explainExit(exit, reports, manifest.resources));
    exited.catch(() => undefined);
    return {
      ...network,
      gateway,
      stdout: sandbox.stdout,
      stderr: sandbox.stderr,
      exited,
      listening: sandbox.listening,
      ports: () => reports.ports(),
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

function requireRunnable({ app, manifest, volume }: WorkloadSpec): string {
  if (manifest.runtime !== 'node' || manifest.entry === undefined) {
    throw new StartRefused('Virtual machines run backends of runtime "node" only.');
  }
  if (!existsSync(join(app, manifest.entry))) {
    throw new StartRefused(`The package has no file workload/${manifest.entry}, which its manifest names as entry.`);
  }
  // To start with an empty one instead would look like a loss.
  if (volume !== undefined && existsSync(volume)) {
    throw new StartRefused(
      'Its volume is a folder, made by another driver or shared between machines, and virtual machines keep theirs as disk images.',
    );
  }
  return manifest.entry;
}

interface Reports {
  take(stream: Readable): void;
  ports(): readonly number[];
  memoryKills(): number;
  /** What the console said last, when the machine ended without a word of its init. */
  lost(): string | undefined;
}

function collectReports(): Reports {
  let ports: readonly number[] = [];
  let kills = 0;
  let lost: string | undefined;
  const understand = (line: string) => {
    const said = parseReport(line);
    if (said?.kind === 'ports') ports = said.ports;
    else if (said?.kind === 'memory') kills = said.kills;
    else if (said?.kind === 'lost') lost = said.console;
  };
  return {
    take(stream) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        if (text.length > LONGEST_REPORT) stream.destroy();
        for (const line of lines) understand(line);
      });
      stream.on('error', () => undefined);
    },
    ports: () => ports.filter((port) => !bridgePorts.some((own) => own.bridge === port || own.question === port)),
    memoryKills: () => kills,
    lost: () => lost,
  };
}

function parseReport(line: string): KeeperReport | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
    if (value.kind === 'ports' && 'ports' in value && Array.isArray(value.ports)) {
      return { kind: 'ports', ports: value.ports.filter((port) => Number.isInteger(port)).slice(0, 64) };
    }
    if (value.kind === 'memory' && 'kills' in value) return { kind: 'memory', kills: Number(value.kills) };
    if (value.kind === 'lost' && 'console' in value) return { kind: 'lost', console: String(value.console) };
  } catch {
    // not what our keeper writes
  }
  return undefined;
}

/** In the terms of the workload's own limits, which are smaller than its machine's. */
function explainExit(exit: Exit, reports: Reports, resources: { readonly memoryMiB: number }): Exit {
  const lost = reports.lost();
  if (lost !== undefined && exit.code === 1) {
    const last = lost
      .split('\n')
      .filter((line) => line.trim() !== '')
      .at(-1)
      ?.trim()
      .slice(0, 200);
    return { ...exit, reason: `Its virtual machine ended unexpectedly${last === undefined ? '.' : `: ${last}`}` };
  }
  return describeExit(exit.code, exit.signal, reports.memoryKills(), resources);
}
