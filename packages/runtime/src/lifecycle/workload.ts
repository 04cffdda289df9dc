// One run of a workload: package, volume, credentials, sandbox and Gateway brought together, and taken apart again.
import { chmodSync, existsSync, lchownSync, mkdirSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import type { Assignment } from '@platform/contract';
import type { Log } from '../clock.ts';
import type { CoreClient } from '../core-client.ts';
import { workloadEnvironment } from '../environment.ts';
import type { RunningGateway, StartGateway } from '../gateway-port.ts';
import { createLogIntake } from '../logs/log-intake.ts';
import type { LogWriter } from '../logs/log-store.ts';
import { PackageError, type PackageStore } from '../packages.ts';
import type { Exit } from '../sandbox/exit-reason.ts';
import type { SandboxReport } from '../sandbox/host.ts';
import type { Identities } from '../sandbox/identities.ts';
import { launch, type Sandbox, type SandboxHost } from '../sandbox/launch.ts';
import { inside } from '../sandbox/layout.ts';

export interface WorkloadParts {
  readonly host: SandboxHost;
  readonly report: SandboxReport;
  readonly allowUnsandboxed: boolean;
  readonly packages: PackageStore;
  /** Undefined as an ordinary user: everything runs as that user then. */
  readonly identities: Identities | undefined;
  /** Folder that holds a folder for each volume. */
  readonly volumes: string;
  readonly core: Pick<CoreClient, 'startWorkload'>;
  readonly coreOrigin: string;
  readonly coreHost: string;
  readonly startGateway: StartGateway;
  readonly random: (bytes: number) => Buffer;
  readonly log: Log;
}

export interface Workload {
  readonly gateway: RunningGateway;
  readonly sandbox: Sandbox;
  /** Resolves after the process, its Gateway and its log have ended. */
  readonly ended: Promise<Exit>;
  /** SIGTERM, five seconds, SIGKILL. */
  stop(): Promise<Exit>;
}

/** Starting again would not help. The message is one sentence for a person. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartRefused';
  }
}

const GRACE_MILLISECONDS = 5_000;
const CREDENTIAL_BYTES = 32;

export interface StartOptions {
  readonly assignment: Assignment;
  readonly writer: LogWriter;
  readonly onActivity: () => void;
  readonly abort: AbortSignal;
}

/**
 * Starts the workload; it may not yet listen when this resolves.
 * @throws StartRefused when no attempt can succeed; LaunchError and others when a later one may.
 */
export async function startWorkload(parts: WorkloadParts, options: StartOptions): Promise<Workload> {
  const { assignment, writer, abort } = options;
  const { installationId, workload } = assignment;
  if (!parts.report.ok && !parts.allowUnsandboxed) {
    throw new StartRefused(
      `This machine cannot confine the app: ${parts.report.reasons[0] ?? 'the trial sandbox failed.'}`,
    );
  }
  if (workload.runtime !== 'node' || workload.entry === undefined) {
    throw new StartRefused('This machine runs backends of runtime "node" only.');
  }
  const app = await packageFolder(parts.packages, assignment);
  if (!existsSync(join(app, workload.entry))) {
    throw new StartRefused(`The package has no file workload/${workload.entry}, which its manifest names as entry.`);
  }
  const sandboxed = parts.host.way !== 'none';
  const uid = parts.identities?.idOf(installationId);
  const volume = workload.volume ? prepareVolume(parts.volumes, installationId, uid) : undefined;
  const gatewayCredential = `pgw_${parts.random(CREDENTIAL_BYTES).toString('base64url')}`;
  // Without a network of its own two apps may want the same port, so each gets a free one.
  const port = sandboxed ? workload.port : await freePort();
  const environment = workloadEnvironment({
    assignment,
    gatewayCredential,
    volume: volume === undefined || !sandboxed ? volume : inside.volume,
    port,
  });
  for (const name of environment.dropped) {
    writer.append('system', `The variable ${name} of the manifest is reserved for the platform and was left out.`);
  }
  // Core answers while the sandbox is being made.
  const credentials = parts.core.startWorkload(installationId);
  credentials.catch(() => undefined);
  let gateway: RunningGateway | undefined;
  let failed = false;
  const attachGateway = async (listener: net.Server, inboundSocket: string) => {
    const { coreServiceCredential } = await credentials;
    if (failed) throw new Error('The start was given up.');
    gateway = await parts.startGateway({
      installationId,
      appOrigin: assignment.appOrigin,
      coreOrigin: parts.coreOrigin,
      coreHost: parts.coreHost,
      gatewayCredential,
      coreServiceCredential,
      listen: listener,
      inbound: { socketPath: inboundSocket },
      onActivity: options.onActivity,
      log: (event) => parts.log.warn({ installationId, ...event }, 'gateway'),
    });
    if (failed) await gateway.close();
  };
  try {
    const sandbox = await launch(parts.host, {
      key: installationId,
      app,
      entry: workload.entry,
      ...(volume === undefined ? {} : { volume }),
      ...(uid === undefined ? {} : { uid }),
      resources: workload.resources,
      port,
      environment: environment.variables,
      attachGateway,
      abort,
    });
    if (gateway === undefined) throw new Error('The sandbox stands without a Gateway.');
    return assemble(sandbox, gateway, writer);
  } catch (error) {
    failed = true;
    await gateway?.close();
    throw error;
  }
}

async function packageFolder(packages: PackageStore, assignment: Assignment): Promise<string> {
  try {
    return await packages.workloadFolder(assignment.packageHash);
  } catch (error) {
    if (error instanceof PackageError) throw new StartRefused(error.message);
    throw error;
  }
}

function assemble(sandbox: Sandbox, gateway: RunningGateway, writer: LogWriter): Workload {
  const intake = createLogIntake(writer);
  intake.take(sandbox.stdout, 'stdout');
  intake.take(sandbox.stderr, 'stderr');
  const ended = sandbox.exited.then(async (exit) => {
    // The Gateway first: afterwards the socket's number may stand for something else.
    await gateway.close();
    sandbox.release();
    await intake.ended();
    return exit;
  });
  ended.catch(() => undefined);
  return {
    gateway,
    sandbox,
    ended,
    async stop() {
      await sandbox.stop(GRACE_MILLISECONDS);
      return ended;
    },
  };
}

/** Makes the folder at the first start; later ones find it with its owner, whatever lies in it. */
function prepareVolume(volumes: string, installationId: string, uid: number | undefined): string {
  const folder = join(volumes, installationId);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700);
  if (uid !== undefined) lchownSync(folder, uid, uid);
  return folder;
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
