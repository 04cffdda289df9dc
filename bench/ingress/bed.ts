// What every part of this bench stands on: where its files are, which servers run, and the way of a public request through
// Ingress, public side and Gateway, two processes on one core.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RETURNING_MEMORY } from '../../packages/cli/test-support/internals.ts';
import { type RunningServer, startScript } from '../gateway/processes.ts';

export const PROXY_CORE = 0;
export const LOAD_CORE = 1;
export const DOMAIN = 'public.platform.localhost';
/** Public names, each of an installation of its own. */
export const NAMES = Array.from({ length: 50 }, (_, at) => `bench-${at}--aaaabbbbccccddddeeee.${DOMAIN}`);
export const [NAME = ''] = NAMES;
export const ANSWER = '{"ok":true,"text":"The quick brown fox jumps over the lazy dog."}';
const CREDENTIAL = 'pni_bench-0123456789abcdefghijklmnopqrstuvwxyzABC';
const LOOPBACK = '127.0.0.1';

export interface Way {
  readonly node: RunningServer;
  readonly ingress: RunningServer;
}

export interface WayOptions {
  /** Socket of the workload. */
  readonly workload: string;
  /** Whether clients come through a proxy, and so without limits of each. Default: true. */
  readonly behindProxy?: boolean;
  /** Folder of certificates. Default: plain HTTP. */
  readonly certificates?: string;
  /** Where the Ingress listens. Default: the loopback interface. */
  readonly host?: string;
}

export class Bed implements AsyncDisposable {
  readonly folder: string;
  /** Of all servers. */
  readonly pids: number[] = [];
  readonly #parts = new AsyncDisposableStack();

  private constructor(folder: string) {
    this.folder = folder;
    this.#parts.defer(() => rm(folder, { recursive: true, force: true }));
  }

  static async make(): Promise<Bed> {
    return new Bed(await mkdtemp(join(tmpdir(), 'bench-ingress-')));
  }

  /** Stops it at the end. */
  async keep<Server extends RunningServer>(starting: Promise<Server>): Promise<Server> {
    const server = await starting;
    this.#parts.defer(() => server.stop());
    this.pids.push(server.pid);
    return server;
  }

  async write(name: string, text: string): Promise<string> {
    const file = join(this.folder, name);
    await writeFile(file, text);
    return file;
  }

  async startWay({ workload, behindProxy = true, certificates = '', host = LOOPBACK }: WayOptions): Promise<Way> {
    const start = (name: string, args: readonly string[]) =>
      this.keep(startScript(new URL(name, import.meta.url), PROXY_CORE, args, RETURNING_MEMORY));
    const node = await start('./node-server.ts', [workload, NAMES.join(), CREDENTIAL]);
    const trusted = behindProxy ? LOOPBACK : '';
    const args = [String(node.port), NAMES.join(), CREDENTIAL, trusted, certificates, host];
    return { node, ingress: await start('./ingress-server.ts', args) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}
