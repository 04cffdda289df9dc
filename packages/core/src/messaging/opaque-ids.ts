// The ids by which one installation knows conversations and messages: what names it inside, and a MAC for this installation, so
// that the id of another one names nothing here, and none can be made up.
import { timingSafeEqual } from 'node:crypto';
import { type ConversationId, type InstallationId, type MessageId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { keyedHash, seal, unseal } from '../credentials/master-key.ts';

const UUID_BYTES = 16;
const MAC_BYTES = 16;
const NONCE_BYTES = 12;

interface Prefixes {
  readonly conv: ConversationId;
  readonly msg: MessageId;
}

type KeyHolder = Pick<CoreContext, 'masterKey'>;

/** Before what the bridge calls a conversation or a message, so that it is never taken for a UUID. */
const BRIDGE = 'bridge/';
/** Before what is opaque of it: no base64url has a full stop. */
const BRIDGE_TEXT = 'b.';

/** How core knows what the bridge calls so. */
export function ofBridge(id: string): string {
  return BRIDGE + id;
}

/** What the bridge calls it; `null` for a UUID. */
export function bridgeIdOf(id: string): string | null {
  return id.startsWith(BRIDGE) ? id.slice(BRIDGE.length) : null;
}

/** @param id a UUID, or of the bridge; the same id gives the same */
export function opaqueId<Prefix extends keyof Prefixes>(
  context: KeyHolder,
  prefix: Prefix,
  installationId: InstallationId,
  id: string,
): Prefixes[Prefix] {
  const ofTheBridge = bridgeIdOf(id);
  if (ofTheBridge !== null)
    return `${prefix}-${BRIDGE_TEXT}${sealedId(context, placeOf(prefix, installationId), ofTheBridge)}` as Prefixes[Prefix];
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const text = Buffer.concat([bytes, macOf(context, prefix, installationId, bytes)]).toString('base64url');
  return `${prefix}-${text}` as Prefixes[Prefix];
}

/** @returns the UUID, or the id of the bridge. @throws RefusalError `not_found` for an id that this installation was never given */
export function openId<Prefix extends keyof Prefixes>(
  context: KeyHolder,
  prefix: Prefix,
  installationId: InstallationId,
  opaque: Prefixes[Prefix],
): string {
  const text = opaque.startsWith(`${prefix}-`) ? opaque.slice(prefix.length + 1) : '';
  if (text.startsWith(BRIDGE_TEXT))
    return ofBridge(unsealedId(context, placeOf(prefix, installationId), text.slice(BRIDGE_TEXT.length)));
  const bytes = Buffer.from(text, 'base64url');
  // Decoding is lenient: one id has one spelling.
  if (bytes.length !== UUID_BYTES + MAC_BYTES || bytes.toString('base64url') !== text) throw refuse('not_found');
  const id = bytes.subarray(0, UUID_BYTES);
  if (!timingSafeEqual(bytes.subarray(UUID_BYTES), macOf(context, prefix, installationId, id)))
    throw refuse('not_found');
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function placeOf(prefix: string, installationId: InstallationId): string {
  return `${prefix}\0${installationId}`;
}

/** The nonce follows from the id, so that one id has one text, and from nothing that anybody can choose elsewhere. */
function sealedId({ masterKey }: KeyHolder, place: string, id: string): string {
  const nonce = (bytes: number): Buffer =>
    keyedHash(masterKey, 'messaging-id-nonce', `${place}\0${id}`).subarray(0, bytes);
  return seal(masterKey, 'messaging-bridge-id', place, Buffer.from(id, 'utf8'), nonce).toString('base64url');
}

function unsealedId({ masterKey }: KeyHolder, place: string, text: string): string {
  const sealed = Buffer.from(text, 'base64url');
  if (sealed.length <= NONCE_BYTES + MAC_BYTES || sealed.toString('base64url') !== text) throw refuse('not_found');
  try {
    return unseal(masterKey, 'messaging-bridge-id', place, sealed).toString('utf8');
  } catch {
    throw refuse('not_found');
  }
}

function macOf({ masterKey }: KeyHolder, prefix: string, installationId: InstallationId, id: Buffer): Buffer {
  return keyedHash(masterKey, 'messaging-id', `${prefix}\0${installationId}\0${id.toString('hex')}`).subarray(
    0,
    MAC_BYTES,
  );
}
