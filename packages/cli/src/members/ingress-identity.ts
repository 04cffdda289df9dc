// Who this machine is as an Ingress: a key that is made in its data folder and never leaves it.
import * as path from 'node:path';
import { reasonOf, StartError } from '@platform/core/start';
import { type LinkKey, loadKey, loadOrMakeKey } from '@platform/link';

export function ingressKeyFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'ingress', 'ingress.key');
}

/** Makes the key where there is none. @throws StartError `ingress_key_unusable` */
export function openIngressKey(dataDirectory: string): LinkKey {
  return usable(dataDirectory, loadOrMakeKey);
}

/** For what only looks: makes none. @returns `null` without one; @throws StartError `ingress_key_unusable` */
export function findIngressKey(dataDirectory: string): LinkKey | null {
  return usable(dataDirectory, loadKey);
}

function usable<Key>(dataDirectory: string, load: (file: string) => Key): Key {
  const file = ingressKeyFile(dataDirectory);
  try {
    return load(file);
  } catch (error) {
    throw new StartError(
      'ingress_key_unusable',
      `The key of this Ingress, ${file}, cannot be used: ${reasonOf(error)}. Restore it from a backup, or remove it: this machine is a new Ingress then.`,
    );
  }
}
