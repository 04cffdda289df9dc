// What apps encrypt so that only their person reads it: any app may, for itself, and none makes the shell ask for anything.
import type { MethodsOf } from '../method.ts';
import { text } from '../params.ts';

/** Characters of 32 KiB in base64url, and of what they are sealed in. */
const PLAIN_CHARACTERS = Math.ceil((32_768 * 4) / 3);
const SEALED_CHARACTERS = Math.ceil(((32_768 + 57) * 4) / 3);

const upTo = (characters: number) => new RegExp(`^[A-Za-z0-9_-]{0,${characters}}$`);
const plaintext = text(upTo(PLAIN_CHARACTERS), 'at most 32 KiB in base64url without padding');
const sealed = text(upTo(SEALED_CHARACTERS), 'a result of `recipient.seal`');

export const recipientMethods: MethodsOf<'recipient'> = {
  'recipient.status': { params: {}, run: async ({ shell }) => (await shell.recipient()).status() },
  'recipient.seal': {
    params: { plaintext },
    run: async ({ shell, caller, params }) => (await shell.recipient()).seal(caller.appId, params.plaintext),
  },
  'recipient.open': {
    params: { sealed },
    run: async ({ shell, caller, params }) => (await shell.recipient()).open(caller.appId, params.sealed),
  },
};
