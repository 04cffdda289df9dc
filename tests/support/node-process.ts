// A node as an operator runs it beside core: the command line in a process and a data folder of its own, joined over
// the loopback interface.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { unmountBelow } from '../../packages/runtime/test-support/unmount.ts';
import { freePort } from './free-port.ts';
import { inherited, type LongCommand, type PlatformPlace, runCommand, startCommand } from './platform-process.ts';

export interface NodePlace {
  readonly dataDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly nodePort: number;
  remove(): Promise<void>;
}

/** A data folder and ports that stay the same over several starts. */
export async function nodePlace(more: NodeJS.ProcessEnv = {}): Promise<NodePlace> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'platform-node-'));
  const [nodePort, controlPort, publicPort] = [await freePort(), await freePort(), await freePort()];
  return {
    dataDirectory,
    nodePort,
    environment: {
      ...inherited,
      PLATFORM_DATA_DIR: dataDirectory,
      PLATFORM_NODE_ORIGIN: `http://node.platform.localhost:${nodePort}`,
      PLATFORM_NODE_CONTROL: `127.0.0.1:${controlPort}`,
      PLATFORM_NODE_PUBLIC: `127.0.0.1:${publicPort}`,
      ...more,
    },
    async remove() {
      unmountBelow(dataDirectory);
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

const KNOWN = 'Core knows this node.';

/**
 * Joins the node to the core that runs at `core`. Resolves when core knows it.
 *
 * @param options `url`: where. Default: over plain http
 */
export async function joinNode(
  core: PlatformPlace,
  node: NodePlace,
  {
    name,
    labels = ['platform-hosted'],
    url = `http://127.0.0.1:${core.port}`,
  }: { readonly name: string; readonly labels?: readonly string[]; readonly url?: string },
): Promise<LongCommand> {
  const said = await runCommand(['node', 'token', ...labels.flatMap((label) => ['--label', label])], core.environment);
  const token = /pne_\S+/.exec(said)?.[0];
  if (token === undefined) throw new Error(`no token was printed: ${said}`);
  return startCommand(['node', 'join', url, token, '--name', name], node.environment, KNOWN);
}

/** Runs a node that has joined before. Resolves when core knows it. */
export function startNode(node: NodePlace): Promise<LongCommand> {
  return startCommand(['node', 'start'], node.environment, KNOWN);
}
