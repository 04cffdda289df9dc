// What a person decides about one secret slot: which secret, one of theirs or a new one, and where in the request it goes.
import type { Injection } from '@platform/contract';

/** In place of a name: a secret that is being added. No name is like it. */
export const NEW = '+';

export interface Draft {
  /** A name, `NEW`, or empty for none. */
  readonly secret: string;
  readonly newName: string;
  readonly newValue: string;
  readonly place: 'bearer' | 'header' | 'query';
  /** Of the header or the query parameter. */
  readonly placeName: string;
}

export const NO_DRAFT: Draft = { secret: '', newName: '', newValue: '', place: 'bearer', placeName: '' };

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** A name that people type as one that core takes. */
export function nameOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 64);
}

/** What is missing before the draft can be saved, for the person; `null` when nothing is. */
export function missingIn(
  { secret, newName, newValue, place, placeName }: Draft,
  taken: readonly string[],
): string | null {
  if (secret === NEW) {
    if (!NAME.test(nameOf(newName))) return 'Give the new secret a name.';
    if (taken.includes(nameOf(newName)))
      return `You have a secret named ${nameOf(newName)} already. Choose it, or use another name.`;
    if (newValue.trim() === '') return 'Paste the key or token that the service gave you.';
  }
  if (secret !== '' && place !== 'bearer' && placeName.trim() === '')
    return place === 'header' ? 'Name the header.' : 'Name the query parameter.';
  return null;
}

/** Where the secret goes, as core takes it. */
export function injectionOf({ place, placeName }: Draft) {
  if (place === 'header') return { in: 'header', name: placeName.trim(), scheme: '' } as const;
  if (place === 'query') return { in: 'query', name: placeName.trim() } as const;
  return { in: 'header', name: 'Authorization', scheme: 'Bearer' } as const;
}

/** The draft that stands for a binding as it is. */
export function draftOf(secret: string | null, inject: Injection | null): Draft {
  if (secret === null || inject === null) return NO_DRAFT;
  if (inject.in === 'query') return { ...NO_DRAFT, secret, place: 'query', placeName: inject.name };
  if (inject.name.toLowerCase() === 'authorization' && inject.scheme === 'Bearer') return { ...NO_DRAFT, secret };
  return { ...NO_DRAFT, secret, place: 'header', placeName: inject.name };
}
