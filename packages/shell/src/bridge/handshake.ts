// The first message of a frame (contract 5): who may open a port, and that no greeting opens two.
import { BRIDGE_VERSION, type BridgeHello } from '@platform/contract';
import { isPlainObject } from './plain-data.ts';

const NONCE = /^[A-Za-z0-9_-]{8,128}$/;
/** A document that reloads greets again; one frame that does so this often is not an app that works. */
const GREETINGS = 64;

/** The hello in a message, or `null` for anything else; other scripts and extensions post messages too. */
export function readHello(data: unknown): BridgeHello | null {
  if (!isPlainObject(data) || data.type !== 'platform.hello' || data.version !== BRIDGE_VERSION) return null;
  const nonce = data.nonce;
  if (typeof nonce !== 'string' || !NONCE.test(nonce) || Object.keys(data).length !== 3) return null;
  return { type: 'platform.hello', version: BRIDGE_VERSION, nonce };
}

/**
 * Judges the greetings of one frame. Its window was compared by identity already; here the exact origin and the nonce
 * are. A fresh nonce is accepted again, because a document that reloads must reach the shell; the caller then closes
 * the port of the former document. A nonce that was seen before is a replay.
 */
export function createGreeter(frameOrigin: string): { accepts(origin: string, hello: BridgeHello): boolean } {
  const seen = new Set<string>();
  return {
    accepts(origin, hello) {
      if (origin !== frameOrigin || seen.has(hello.nonce) || seen.size >= GREETINGS) return false;
      seen.add(hello.nonce);
      return true;
    },
  };
}
