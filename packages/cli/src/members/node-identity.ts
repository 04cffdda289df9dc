// Who this machine is as a node: a key that is made in its data folder and never leaves it.
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import * as path from 'node:path';
import { nodeName } from '@platform/contract';
import { reasonOf, StartError } from '@platform/core/start';
import { type LinkKey, loadKey, loadOrMakeKey } from '@platform/link';

export interface NodeIdentity {
  readonly key: LinkKey;
  /** The folder has volumes of workloads already, perhaps from before nodes had keys. */
  readonly inherits: boolean;
}

export function nodeKeyFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'node', 'node.key');
}

/** Makes the key where there is none. @throws StartError `node_key_unusable` */
export function openNodeIdentity(dataDirectory: string): NodeIdentity {
  return {
    key: usable(dataDirectory, loadOrMakeKey),
    inherits: existsSync(path.join(dataDirectory, 'volumes')),
  };
}

/**
 * For a machine that is a node: with another key core would take it for a new node, and give it none of its volumes.
 *
 * @throws StartError `node_key_missing`, `node_key_unusable`
 */
export function requireNodeKey(dataDirectory: string): void {
  if (findNodeKey(dataDirectory) !== null) return;
  throw new StartError(
    'node_key_missing',
    `This machine is a node of a platform, and its key, ${nodeKeyFile(dataDirectory)}, is missing. Restore it from a backup. If it is lost, run \`./platform node adopt <name>\` on the machine of core, and the command that it prints here: the node gets a new key and keeps its volumes.`,
  );
}

/** For what only looks: makes none. @returns `null` without one; @throws StartError `node_key_unusable` */
export function findNodeKey(dataDirectory: string): LinkKey | null {
  return usable(dataDirectory, loadKey);
}

function usable<Key>(dataDirectory: string, load: (file: string) => Key): Key {
  const file = nodeKeyFile(dataDirectory);
  try {
    return load(file);
  } catch (error) {
    throw new StartError(
      'node_key_unusable',
      `The key of this machine, ${file}, cannot be used: ${reasonOf(error)}. Restore it from a backup, or remove it: the machine then joins as a new node and loses access to the volumes of the old one.`,
    );
  }
}

/** The machine's own name, as far as it can be a node's. */
export function machineName(): string {
  const cleaned = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50);
  return nodeName.safeParse(cleaned).success ? cleaned : 'node';
}
