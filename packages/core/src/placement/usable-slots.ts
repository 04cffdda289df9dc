// Which secret slots a Gateway may use, as its policy says: calls under way end when their slot is no longer among them,
// or what it is bound to has changed. Whether a call may begin is decided when it does (outbound/authorize-call.ts).
import { hash } from 'node:crypto';
import type { Grant, Manifest } from '@platform/contract';
import { declaredSlots } from '../catalog/face.ts';
import { allows } from '../grants/grant-coverage.ts';

/** A row of `secret_bindings`, as assignments read it. */
export interface AssignedBinding {
  readonly slot: string;
  readonly secret_name: string;
  readonly declaration_hash: string;
  readonly inject_in: string;
  readonly inject_name: string;
  readonly inject_scheme: string;
}

/** The slots of a version that the grants allow, bound or not. */
export function grantedSlots(grants: readonly Grant[], manifest: Pick<Manifest, 'secretSlots'>) {
  return declaredSlots(manifest).filter(
    ({ name, origin }) => allows(grants, 'secrets.use', name) && allows(grants, 'network.connect', origin),
  );
}

/** By name, each with a word that changes with its binding and reveals nothing of it. */
export function usableSlots(
  grants: readonly Grant[],
  manifest: Pick<Manifest, 'secretSlots'>,
  bindings: readonly AssignedBinding[],
): Record<string, string> {
  const usable = grantedSlots(grants, manifest).flatMap(({ name, declarationHash }) => {
    const binding = bindings.find(({ slot }) => slot === name);
    if (binding?.declaration_hash !== declarationHash) return [];
    const { secret_name, inject_in, inject_name, inject_scheme } = binding;
    const made = JSON.stringify([declarationHash, secret_name, inject_in, inject_name, inject_scheme]);
    return [[name, hash('sha256', made, 'base64url').slice(0, 22)] as const];
  });
  return Object.fromEntries(usable);
}
