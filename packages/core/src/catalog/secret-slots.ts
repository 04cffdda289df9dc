// What a slot declares, and its hash: what a person reviewed in one word, so that a binding holds for exactly that
// (contract 4b).
import { hash } from 'node:crypto';
import { type DeclaredSlot, type Manifest, type SecretSlot, secretSlot } from '@platform/contract';

/** What a manifest says of a slot. */
export type SlotDeclaration = SecretSlot;

/**
 * The slots of a manifest with their hashes. Packages from before the rules of today may hold others, which could lead
 * out of their path; those count as not declared.
 */
export function declaredSlots({ secretSlots = [] }: Pick<Manifest, 'secretSlots'>): DeclaredSlot[] {
  return secretSlots.flatMap((slot) => {
    const { success, data } = secretSlot.safeParse(slot);
    return success ? [{ ...data, declarationHash: declarationHash(data) }] : [];
  });
}

/** SHA-256 of the declaration in its RFC 8785 form, hexadecimal. */
export function declarationHash(declaration: SlotDeclaration): string {
  return hash('sha256', canonicalDeclaration(declaration), 'hex');
}

/**
 * The RFC 8785 form of a declaration. Its members are named here in their order, and its texts are ASCII without quotes,
 * backslashes and controls, for which `JSON.stringify` writes what the RFC demands (section 3.2.2.2).
 */
export function canonicalDeclaration({ name, origin, pathPrefix, methods }: SlotDeclaration): string {
  return JSON.stringify({ methods: [...new Set(methods)].sort(), name, origin, pathPrefix });
}
