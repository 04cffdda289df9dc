// Which secret slots a Gateway may use, as its policy says: calls under way end when their slot is no longer among them,
// or what it is bound to has changed. Whether a call may begin is decided when it does (authorize-call.ts).
import { hash } from 'node:crypto';
import type { DeclaredSlot } from '@platform/contract';
import { declaredSlots } from '../catalog/face.ts';
import { allows } from '../grants/grant-coverage.ts';
import type { Allowed, Bound, Circumstances, Granted } from '../policy.ts';

/** Slots by name, each with a word that changes with its binding and reveals nothing of it. */
export function outboundPolicy({ grants, manifest }: Granted, now: Circumstances | null): Allowed {
  const slots = declaredSlots(manifest)
    .filter(({ name, origin }) => allows(grants, 'secrets.use', name) && allows(grants, 'network.connect', origin))
    .flatMap((slot) => {
      const word = now === null ? slot.declarationHash : wordOf(slot, now.bindings);
      return word === undefined ? [] : [[slot.name, word] as const];
    });
  return slots.length === 0 ? {} : { gateway: { outbound: Object.fromEntries(slots) } };
}

/** `undefined` while the slot is bound to nothing, or its binding is of another declaration. */
function wordOf({ name, declarationHash }: DeclaredSlot, bindings: readonly Bound[]): string | undefined {
  const binding = bindings.find(({ slot }) => slot === name);
  if (binding?.declaration_hash !== declarationHash) return undefined;
  const { secret_name, inject_in, inject_name, inject_scheme } = binding;
  const made = JSON.stringify([declarationHash, secret_name, inject_in, inject_name, inject_scheme]);
  return hash('sha256', made, 'base64url').slice(0, 22);
}
