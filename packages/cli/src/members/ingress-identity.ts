// Who this machine is as an Ingress: a key that is made in its data folder and never leaves it.
import * as path from 'node:path';
import { reasonOf, StartError } from '@platform/core/start';
import { type LinkKey, loadOrMakeKey } from '@platform/link';

export function ingressKeyFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'ingress', 'ingress.key');
}

/** @throws StartError `ingress_key_unusable` */
export function openIngressKey(dataDirectory: string): LinkKey {
  const file = ingressKeyFile(dataDirectory);
  try {
    return loadOrMakeKey(file);
  } catch (error) {
    throw new StartError(
      'ingress_key_unusable',
      `The key of this Ingress, ${file}, cannot be used: ${reasonOf(error)}. Restore it from a backup, or remove it: this machine is a new Ingress then.`,
    );
  }
}
