// How the value of a secret is kept: under the master key, for one account and name, so that a row that is copied to
// another place opens nothing there.
import type { CoreContext } from '../context.ts';
import { seal, unseal } from '../credentials/master-key.ts';

const PURPOSE = 'account-secret';

export interface SecretPlace {
  readonly accountKey: string;
  readonly name: string;
}

export function sealSecret(
  { masterKey, random }: Pick<CoreContext, 'masterKey' | 'random'>,
  place: SecretPlace,
  value: Buffer,
): Buffer {
  return seal(masterKey, PURPOSE, contextOf(place), value, random);
}

/** The caller wipes it. @throws Error when it was sealed for another place or with another key */
export function openSecret({ masterKey }: Pick<CoreContext, 'masterKey'>, place: SecretPlace, sealed: Buffer): Buffer {
  return unseal(masterKey, PURPOSE, contextOf(place), sealed);
}

function contextOf({ accountKey, name }: SecretPlace): string {
  return JSON.stringify([accountKey, name]);
}
