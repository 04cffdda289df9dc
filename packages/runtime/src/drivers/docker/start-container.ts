// Starts a workload's container in a cell with its Gateway, or adopts both from an earlier Runtime.
import type { GatewaySettings, SidecarGateway } from '../../gateway-port.ts';
import {
  type GatewayUrls,
  type InsidePlaces,
  LaunchError,
  StartRefused,
  type Survivor,
  type WorkloadInstance,
  type WorkloadSpec,
} from '../driver.ts';
import { nodeOptions } from '../process/mechanism.ts';
import { requireEntry } from '../require-entry.ts';
import { insideContainer } from './base-image.ts';
import type { CellPool } from './cell-pool.ts';
import { adoptCell, type Cell, GATEWAY_PORT, STORAGE_PORT } from './cells.ts';
import { type Confinement, containerOptions, lostOptions } from './container-options.ts';
import type { DockerNode } from './docker-driver.ts';
import { type Container, engineMessage, engineStatus, labels, removed } from './engine.ts';
import { watchGateway } from './gateway-watch.ts';
import { destroySurvivor, workloadName } from './leftovers.ts';
import { type Depth, depthOf } from './network-namespace.ts';
import { createPublicAccess, type PublicAccess } from './public-access.ts';
import { enterNetwork } from './tunnel/enter-network.ts';
import { makeTunnelFiles, noTunnel, type TunnelFiles, throughTunnel } from './tunnel/tunnel-files.ts';
import { runningWorkload } from './workload-container.ts';

const CONFLICT = 409;

export async function startContainer(node: DockerNode, cells: CellPool, spec: WorkloadSpec): Promise<WorkloadInstance> {
  const { uid } = spec;
  if (uid === undefined) throw new StartRefused('The docker driver runs each app as its own user, which needs root.');
  const hasTunnel = spec.network.tunnel && noTunnel() === undefined;
  const program = await programOf(node, spec, hasTunnel);
  // Requested from core while the container is created.
  const settings = spec.gatewaySettings();
  // Awaited below, once there is a cell; until then a failure must not be an unhandled rejection.
  settings.catch(() => undefined);
  const cell = await cells.take();
  const files = hasTunnel ? makeTunnelFiles(cell.root, uid) : undefined;
  const made = Promise.resolve(files).then((tunnel) => createContainer(node, cell, { ...spec, uid }, program, tunnel));
  const opened = settings.then((given) => openGateway(node, cell, spec, given));
  try {
    const [gateway, container] = await Promise.all([opened, made]);
    spec.abort.throwIfAborted();
    const access = createPublicAccess({
      node,
      installationId: spec.installationId,
      cell,
      container,
      hasTunnel,
    });
    await access.begin(spec.network);
    await container.start();
    const tunnel = await files;
    if (tunnel !== undefined) await enterNetwork(container, node.firewall, { files: tunnel, uid });
    return await assemble(node, spec, { cell, container, gateway, access, depth: depthOf(hasTunnel) });
  } catch (error) {
    // Neither may come into being after all; the container goes with its cell.
    const [gateway] = await Promise.allSettled([opened, made]);
    if (gateway.status === 'fulfilled') await gateway.value.close();
    (await files?.catch(() => undefined))?.close();
    await cell.destroy();
    throw asLaunchError(error);
  }
}

/**
 * Undefined when what survived is not whole any more; what there is of it stays to be destroyed.
 */
export async function adoptContainer(
  node: DockerNode,
  { installationId }: Survivor,
  spec: WorkloadSpec,
): Promise<WorkloadInstance | undefined> {
  const container = node.engine.getContainer(workloadName(node.owner, installationId));
  let cell: Cell | undefined;
  let gateway: SidecarGateway | undefined;
  try {
    const { Config, State, HostConfig } = await container.inspect();
    const id = Config.Labels[labels.cell];
    // Earlier versions gave tunnels a capability that reached the networks of the machine.
    if (HostConfig.CapAdd?.includes('NET_ADMIN') === true) return undefined;
    const hasTunnel = HostConfig.Devices !== undefined && HostConfig.Devices.length > 0;
    if (id === undefined || !State.Running || (hasTunnel && !spec.network.tunnel)) return undefined;
    cell = await adoptCell(node, id);
    gateway = await node.sidecar.connect({ folder: cell.folder, ...spec.gatewayHooks });
    if (gateway.settings.installationId !== installationId)
      throw new Error('The Gateway belongs to another installation.');
    cell.leadTo(gateway.settings.coreOrigin);
    const outputSince = Math.floor(Date.now() / 1_000);
    const access = createPublicAccess({ node, installationId, cell, container, hasTunnel });
    // Whatever it had, it gets what is granted now, under rules that are new.
    await access.takeAway();
    await access.begin(spec.network);
    return await assemble(node, spec, { cell, container, gateway, access, outputSince, depth: depthOf(hasTunnel) });
  } catch (error) {
    node.log.warn({ installationId, err: error }, 'a workload of an earlier Runtime could not be adopted');
    await cell?.release();
    return undefined;
  }
}

interface Program {
  readonly image: string;
  readonly command?: readonly string[];
  readonly directory?: string;
  readonly mounts: Confinement['mounts'];
  /** Whose search path for programs holds. */
  readonly path: 'ours' | 'of the image';
}

async function programOf(
  node: DockerNode,
  { app, manifest, abort, claimImage }: WorkloadSpec,
  hasTunnel: boolean,
): Promise<Program> {
  if (manifest.runtime === 'oci' && manifest.image !== undefined) {
    const image = await node.images.ensure({ app, image: manifest.image, abort, claim: claimImage });
    const command = hasTunnel ? { command: throughTunnel(await commandOf(node, image)) } : {};
    return { image, ...command, mounts: [], path: 'of the image' };
  }
  const { path, runtime } = requireEntry(app, manifest);
  const program = `${insideContainer.app}/${path}`;
  const { memoryMiB } = manifest.resources;
  const command =
    runtime === 'binary' ? [program] : [insideContainer.node, ...nodeOptions(runtime, memoryMiB), program];
  return {
    image: node.image,
    command: hasTunnel ? throughTunnel(command) : command,
    directory: insideContainer.app,
    mounts: [{ source: app, target: insideContainer.app, access: 'read' }],
    path: 'ours',
  };
}

/** As the engine would run it. */
async function commandOf(node: DockerNode, image: string): Promise<string[]> {
  const { Entrypoint, Cmd } = (await node.engine.getImage(image).inspect()).Config;
  return [Entrypoint ?? [], Cmd ?? []].flat();
}

async function createContainer(
  node: DockerNode,
  cell: Cell,
  spec: WorkloadSpec & { readonly uid: number },
  program: Program,
  tunnel: TunnelFiles | undefined,
): Promise<Container> {
  const { installationId, manifest, volume, uid } = spec;
  const places: InsidePlaces = {
    volume: volume === undefined ? undefined : insideContainer.volume,
    temporary: insideContainer.temporary,
    port: manifest.port,
  };
  const { path, ...rest } = program;
  const { PATH, ...environment } = spec.environment(places);
  const urlsAt = (port: number, urls: GatewayUrls) =>
    Object.fromEntries(
      Object.entries(urls).map(([name, path]) => [name, `http://${cell.addresses.gateway}:${port}${path}`]),
    );
  const options = containerOptions({
    ...rest,
    environment: {
      ...(path === 'of the image' || PATH === undefined ? {} : { PATH }),
      ...environment,
      ...urlsAt(GATEWAY_PORT, spec.gatewayUrls),
      ...urlsAt(STORAGE_PORT, spec.storageUrls),
    },
    labels: {
      [labels.owner]: node.owner,
      [labels.role]: 'workload',
      [labels.cell]: cell.id,
      [labels.installation]: installationId,
      [labels.fingerprint]: spec.fingerprint,
    },
    uid,
    resources: manifest.resources,
    mounts: [
      ...program.mounts,
      ...(tunnel === undefined
        ? []
        : [{ source: tunnel.folder, target: insideContainer.tunnelFolder, access: 'read' } as const]),
      { source: cell.nameServers, target: '/etc/resolv.conf', access: 'read' },
      ...(volume === undefined ? [] : [{ source: volume, target: insideContainer.volume, access: 'write' } as const]),
    ],
    network: cell.network,
    address: cell.addresses.workload,
    ...(tunnel === undefined ? {} : { tunnelDevice: tunnel.device }),
  });
  const name = workloadName(node.owner, installationId);
  const create = () => node.engine.createContainer({ name, ...options });
  const container = await create().catch(async (error: unknown) => {
    if (engineStatus(error) !== CONFLICT) throw error;
    // Left over from a start that the engine finished without us.
    await destroySurvivor(node, { installationId });
    return create();
  });
  cell.note(container);
  const lost = await lostOptions(container, options);
  if (lost.length === 0) return container;
  await removed(container.remove({ force: true, v: true }));
  throw new StartRefused(`The container engine ignored these options: ${lost.join(', ')}.`);
}

function openGateway(
  node: DockerNode,
  cell: Cell,
  spec: WorkloadSpec,
  // What proves the node to core stays with the Runtime, which speaks TLS in the Gateway's place (core-relay.ts).
  { onActivity: _onActivity, log: _log, coreKey: _coreKey, linkCertificate: _, ...identity }: GatewaySettings,
): Promise<SidecarGateway> {
  cell.leadTo(identity.coreOrigin);
  cell.permit(identity.policy.privateOrigins ?? []);
  return node.sidecar.connect({
    folder: cell.folder,
    settings: {
      ...identity,
      listen: { host: cell.addresses.gateway, port: GATEWAY_PORT },
      ...(Object.keys(spec.storageUrls).length === 0 ? {} : { storagePort: STORAGE_PORT }),
      workload: { hostname: cell.addresses.workload, port: String(spec.manifest.port) },
    },
    ...spec.gatewayHooks,
  });
}

interface Parts {
  readonly cell: Cell;
  readonly container: Container;
  readonly gateway: SidecarGateway;
  readonly access: PublicAccess;
  readonly depth: Depth;
  readonly outputSince?: number;
}

async function assemble(node: DockerNode, spec: WorkloadSpec, parts: Parts): Promise<WorkloadInstance> {
  const { cell, gateway } = parts;
  const { installationId } = spec;
  const { cut } = node.line;
  const { applyNetworkPolicy, publishUdp, shortfalls, close } = parts.access;
  const running = await runningWorkload(
    { ...parts, manifest: spec.manifest, cut, beforeClose: () => watch.stop() },
    async () => {
      await close();
      await cell.destroy();
    },
  );
  // Only now: a Gateway that cannot be started again ends a workload that is there to be ended.
  const watch = watchGateway(cell, gateway, {
    cut,
    restarted: () => node.log.warn({ installationId }, 'a Gateway ended and was started again'),
    lost(reason) {
      node.log.error({ installationId, reason }, 'a Gateway could not be restarted; ending its workload');
      running
        .stop(0)
        .catch((error: unknown) => node.log.error({ installationId, err: error }, 'a workload could not be ended'));
    },
  });
  return { ...running, applyNetworkPolicy, publishUdp, shortfalls };
}

function asLaunchError(error: unknown): unknown {
  if (error instanceof StartRefused || error instanceof LaunchError) return error;
  return new LaunchError('The container could not be created on this machine.', engineMessage(error));
}
