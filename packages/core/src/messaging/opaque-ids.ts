// The ids by which one installation knows conversations and messages: what names it inside, and a MAC for this installation, so
// that the id of another one names nothing here, and none can be made up.
import { timingSafeEqual } from 'node:crypto';
import { type ConversationId, type InstallationId, type MessageId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { keyedHash } from '../credentials/master-key.ts';

const UUID_BYTES = 16;
const MAC_BYTES = 16;

interface Prefixes {
  readonly conv: ConversationId;
  readonly msg: MessageId;
}

type KeyHolder = Pick<CoreContext, 'masterKey'>;

/** @param id a UUID */
export function opaqueId<Prefix extends keyof Prefixes>(
  context: KeyHolder,
  prefix: Prefix,
  installationId: InstallationId,
  id: string,
): Prefixes[Prefix] {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const text = Buffer.concat([bytes, macOf(context, prefix, installationId, bytes)]).toString('base64url');
  return `${prefix}-${text}` as Prefixes[Prefix];
}

/** @returns the UUID. @throws RefusalError `not_found` for an id that this installation was never given */
export function openId<Prefix extends keyof Prefixes>(
  context: KeyHolder,
  prefix: Prefix,
  installationId: InstallationId,
  opaque: Prefixes[Prefix],
): string {
  const text = opaque.startsWith(`${prefix}-`) ? opaque.slice(prefix.length + 1) : '';
  const bytes = Buffer.from(text, 'base64url');
  // Decoding is lenient: one id has one spelling.
  if (bytes.length !== UUID_BYTES + MAC_BYTES || bytes.toString('base64url') !== text) throw refuse('not_found');
  const id = bytes.subarray(0, UUID_BYTES);
  if (!timingSafeEqual(bytes.subarray(UUID_BYTES), macOf(context, prefix, installationId, id)))
    throw refuse('not_found');
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function macOf({ masterKey }: KeyHolder, prefix: string, installationId: InstallationId, id: Buffer): Buffer {
  return keyedHash(masterKey, 'messaging-id', `${prefix}\0${installationId}\0${id.toString('hex')}`).subarray(
    0,
    MAC_BYTES,
  );
}
