// The `docker` driver: a workload as a container on a network of its own, whose only neighbour is its Gateway's
// container. docs/decisions/docker-driver.md describes the isolation and its limits.
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openGatewayDialer } from '@platform/http';
import type { Log } from '../../clock.ts';
import { type RequireRoom, roomIn } from '../../disk-watch.ts';
import type { GatewaySidecar } from '../../gateway-port.ts';
import { type Driver, type DriverReport, StartRefused } from '../driver.ts';
import { blockNumbers } from './addresses.ts';
import { ensureBaseImage } from './base-image.ts';
import { openCellPool } from './cell-pool.ts';
import { type CellParts, destroyCell, makeCell } from './cells.ts';
import type { CoreLink } from './core-relay.ts';
import { defaultEngineSocket, type Engine, engineMessage, openEngine } from './engine.ts';
import { openEngineLine } from './engine-line.ts';
import { describeEngine, explainMissing, unenforcedLimits } from './engine-report.ts';
import { type Firewall, openFirewall } from './firewall.ts';
import { type AppImages, type AppImagesOptions, openAppImages } from './images/app-images.ts';
import { clearLeftovers, destroySurvivor } from './leftovers.ts';
import { tryWalls } from './probe.ts';
import { openRemains } from './remains.ts';
import { adoptContainer, startContainer } from './start-container.ts';

export interface DockerDriverOptions {
  /** Absolute. */
  readonly dataDirectory: string;
  readonly sidecar: GatewaySidecar;
  readonly log: Log;
  /** Unix socket of the engine. Default `/var/run/docker.sock`. */
  readonly socketPath?: string;
  /** File of the network namespace in which the engine lives. Default: the Runtime's own. */
  readonly networkNamespace?: string;
  /** Name servers of workloads that may reach the internet. Default: none. */
  readonly dns?: readonly string[];
  /** Registries from which images of packages may come: `host[:port][/path]`. Default: none. */
  readonly imageRegistries?: readonly string[];
  /** For a core that is reached over https. Default: it is reached over http. */
  readonly coreLink?: CoreLink;
  /** Origins in networks of the operator's that Gateways may dial, besides what is publicly routable. Default: none. */
  readonly privateOrigins?: readonly string[];
  /** Asked before an image of an app is fetched or loaded. Default: the disk has room for all. */
  readonly requireRoom?: RequireRoom;
  /** `look` tries the walls beside a Runtime that may be running on the data folder. Default: `run`. */
  readonly purpose?: 'run' | 'look';
}

/**
 * For what ends with the machine: sockets of Gateways, and their program. Paths of sockets must be short, and only root
 * may pass here, whatever a container makes of its own folder.
 */
const RUN_FOLDER = '/run/platform-docker';

/** After a workload listens, so that its first answer comes before. */
const REFILL_AFTER_MS = 250;

/** What a started driver works with. */
export interface DockerNode extends CellParts {
  readonly sidecar: GatewaySidecar;
  readonly dns: readonly string[];
  readonly images: AppImages;
  readonly log: Log;
}

/**
 * Opens the driver on an engine that runs already. What an earlier Runtime of this data folder left half made is
 * removed. The report says why where workloads cannot be confined; starts are refused with the same words then.
 */
export async function openDockerDriver(options: DockerDriverOptions): Promise<Driver> {
  const owner = options.purpose === 'look' ? randomBytes(2).toString('hex') : ownerOf(options.dataDirectory);
  let firewall: Firewall;
  let engine: Engine;
  let described: Omit<DriverReport, 'ok' | 'reasons'>;
  const line = openEngineLine();
  const socketPath = options.socketPath ?? defaultEngineSocket;
  try {
    requireRoot();
    firewall = openFirewall({
      owner,
      ...(options.networkNamespace === undefined ? {} : { networkNamespace: options.networkNamespace }),
    });
    engine = await openEngine(socketPath, line);
    described = await describeEngine(engine);
    await firewall.install();
  } catch (error) {
    line.close();
    return refusingDriver(explainMissing(error));
  }
  const folder = join(RUN_FOLDER, owner);
  const program = join(folder, 'gateway.mjs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [image] = await Promise.all([ensureBaseImage(engine), options.sidecar.makeProgram(program)]);
  chmodSync(program, 0o644);
  const parts = {
    ...{ engine, firewall, owner, image, program, line },
    folder: join(folder, 'cells'),
    numbers: blockNumbers(randomBytes),
    random: randomBytes,
  };
  const remains = openRemains({
    destroy: (cell) => destroyCell(parts, cell),
    cut: line.cut,
    onFailure: (cell, reason) => options.log.warn({ cell, reason }, 'an ended cell could not be removed yet'),
  });
  const node: DockerNode = {
    ...parts,
    remains,
    coreLink: options.coreLink,
    openDialer: openGatewayDialer,
    privateOrigins: options.privateOrigins ?? [],
    sidecar: options.sidecar,
    dns: options.dns ?? [],
    images: openAppImages({
      ...{ engine, socketPath, owner, registries: options.imageRegistries ?? [], log: options.log },
      folder: join(options.dataDirectory, 'runtime', 'images'),
      requireRoom: options.requireRoom ?? (() => undefined),
      ...(await diskOf(engine)),
    }),
    log: options.log,
  };
  mkdirSync(node.folder, { recursive: true, mode: 0o700 });
  const survivors = await clearLeftovers(node);
  const cells = openCellPool(
    () => makeCell(node),
    (error) => options.log.warn({ err: error }, 'a spare Gateway could not be created'),
  );
  cells.refill();
  const holes = await tryWalls(node, cells);
  const report: DriverReport = { ...described, ok: holes.length === 0, reasons: holes };
  if (!report.ok) await Promise.all([cells.close(), remains.close()]);
  return {
    report,
    unenforced: () => unenforcedLimits(report),
    list: async () => survivors,
    adopt: (survivor, spec) => adoptContainer(node, survivor, spec),
    destroy: (survivor) => destroySurvivor(node, survivor),
    async prepare({ app, manifest: { image }, abort, claimImage: claim }) {
      if (report.ok && image !== undefined) await node.images.ensure({ app, image, abort, claim });
    },
    keepOnly: (workloads) =>
      node.images.keepOnly(
        workloads.flatMap(({ app, manifest: { image } }) => (image === undefined ? [] : [{ app, image }])),
      ),
    async start(spec) {
      if (!report.ok) throw refusal(report);
      const instance = await startContainer(node, cells, spec).catch((error: unknown) => {
        cells.refill();
        throw error;
      });
      // Making the next cell takes the processors that this workload needs to come up.
      const refill = () => void setTimeout(cells.refill, REFILL_AFTER_MS).unref();
      instance.exited.then(cells.refill, cells.refill);
      return {
        ...instance,
        async listening(signal) {
          const listens = await instance.listening(signal);
          refill();
          return listens;
        },
      };
    },
    leave() {
      line.leave(() => engine.ping());
      // While the workloads are being stopped; `close` waits for it.
      void cells.close();
    },
    async close() {
      await cells.close();
      const left = await remains.close();
      line.close();
      if (left.length > 0) {
        // Its engine may yet bring something of it up, which must find the packet rules there.
        options.log.warn(
          { cells: left },
          'the container engine is unreachable: these cells will be removed at the next start',
        );
        return;
      }
      await firewall.removeStrayBridges([]).catch((error: unknown) => {
        options.log.warn({ reason: engineMessage(error) }, 'a bridge could not be removed yet');
      });
      await firewall.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where the engine unpacks images, and whether it copies layers. */
async function diskOf(engine: Engine): Promise<Pick<AppImagesOptions, 'requireEngineRoom' | 'copiesLayers'>> {
  const { Driver: storage, DockerRootDir: root }: Readonly<Record<string, unknown>> = await engine.info();
  return {
    copiesLayers: storage === 'vfs',
    // In a mount namespace of its own it may be elsewhere; then its own errors say that it is full.
    ...(typeof root === 'string' && existsSync(root) ? { requireEngineRoom: roomIn(root) } : {}),
  };
}

/** Distinguishes data folders on one engine, in four characters, since names of bridges are short. */
function ownerOf(dataDirectory: string): string {
  mkdirSync(dataDirectory, { recursive: true });
  const { dev, ino } = statSync(dataDirectory);
  return createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 4);
}

/** @throws Error as an ordinary user, who cannot set packet rules even where the engine listens to him */
function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new Error('The docker driver sets its own packet rules, so the platform must run as root.');
}

function refusal(report: DriverReport): StartRefused {
  return new StartRefused(`This machine cannot confine the app: ${report.reasons[0] ?? 'the trial container failed.'}`);
}

function refusingDriver(reason: string): Driver {
  const report: DriverReport = {
    ...{ driver: 'docker', ok: false, mechanism: 'none', reasons: [reason] },
    limits: { memory: false, cpus: false, pids: false, sockets: false },
  };
  return {
    report,
    unenforced: () => unenforcedLimits(report),
    list: async () => [],
    adopt: async () => undefined,
    destroy: async () => undefined,
    start: () => Promise.reject(refusal(report)),
    close: async () => undefined,
  };
}
