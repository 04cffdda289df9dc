// How a contact is called and found.
import type { Contact } from '@platform/sdk/browser';

export function nameOf({ label, address }: Pick<Contact, 'label' | 'address'>): string {
  return label === '' ? address : label;
}

export function byName(one: Contact, other: Contact): number {
  return nameOf(one).localeCompare(nameOf(other));
}

export function matches({ label, address, note }: Contact, words: string): boolean {
  const text = `${label} ${address} ${note}`.toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .trim()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
