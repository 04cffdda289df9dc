// The container engine: a dockerd reached over its Unix socket, through dockerode.
import type Dockerode from 'dockerode';
import type { EngineLine } from './engine-line.ts';

export type Engine = Dockerode;
export type { Container, ContainerCreateOptions, ContainerInspectInfo, NetworkInspectInfo } from 'dockerode';

/** Names that everything made for one data folder carries, so that nothing else is ever touched. */
export const labels = {
  /** Which data folder. */
  owner: 'platform.owner',
  /** `gateway`, `workload`, `restricted`, `public` or `base`. */
  role: 'platform.role',
  cell: 'platform.cell',
  installation: 'platform.installation',
  fingerprint: 'platform.fingerprint',
  /** Of an image of an app: what it was found to take before it was loaded. */
  diskBytes: 'platform.disk-bytes',
} as const;

export const defaultEngineSocket = '/var/run/docker.sock';

/**
 * Loads the client on demand, so that platforms without the driver `docker` do not pay for its memory.
 * @param line Carries all requests. Default: the process's own connections.
 */
export async function openEngine(socketPath: string, line?: EngineLine): Promise<Engine> {
  const { default: Client } = await import('dockerode');
  // Without the first two, DOCKER_HOST of the environment would lead to another engine than the one that is meant.
  return new Client({ host: '', protocol: 'http', socketPath, ...(line === undefined ? {} : { agent: line.agent }) });
}

/** The HTTP status that the engine answered with, or undefined where it did not answer at all. */
export function engineStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

export function engineMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const GONE = 404;
const ALREADY = 304;
const BUSY = 409;

/** Removes something, which may be gone or on its way out already. */
export async function removed(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (isGone(error) || isAlready(error)) return;
    if (engineStatus(error) === BUSY && /already in progress/.test(engineMessage(error))) return;
    throw error;
  }
}

export function isGone(error: unknown): boolean {
  return engineStatus(error) === GONE;
}

/** Whether the error means that the object is already in the requested state. */
export function isAlready(error: unknown): boolean {
  return engineStatus(error) === ALREADY;
}
