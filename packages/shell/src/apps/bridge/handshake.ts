// The first message of a frame (contract 5): who may open a port, and that no greeting opens two.
import { BRIDGE_VERSION, type BridgeHello, type BridgeLaunchRequest } from '@platform/contract';
import { isPlainObject } from './plain-data.ts';

const NONCE = /^[A-Za-z0-9_-]{8,128}$/;
/** A document that reloads greets again; one frame that does so this often is not an app that works. */
const GREETINGS = 64;

/**
 * What a document says before it has a port: its hello, or that it needs launch data. `null` for anything else; other
 * scripts and extensions post messages too.
 */
export function readGreeting(data: unknown): BridgeHello | BridgeLaunchRequest | null {
  if (!isPlainObject(data) || data.version !== BRIDGE_VERSION) return null;
  const { type, nonce } = data;
  if (type !== 'platform.hello' && type !== 'platform.launch') return null;
  if (typeof nonce !== 'string' || !NONCE.test(nonce) || Object.keys(data).length !== 3) return null;
  return { type, version: BRIDGE_VERSION, nonce };
}

/**
 * Judges the greetings of one frame. Its window was compared by identity already; here the exact origin and the nonce
 * are. A fresh nonce is accepted again, because a document that reloads must reach the shell; the caller then closes
 * the port of the former document. A nonce that was seen before is a replay.
 */
export function createGreeter(frameOrigin: string): {
  accepts(origin: string, greeting: { readonly nonce: string }): boolean;
} {
  const seen = new Set<string>();
  return {
    accepts(origin, { nonce }) {
      if (origin !== frameOrigin || seen.has(nonce) || seen.size >= GREETINGS) return false;
      seen.add(nonce);
      return true;
    },
  };
}
