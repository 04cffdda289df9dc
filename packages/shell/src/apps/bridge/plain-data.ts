// What an app may send over the bridge: plain JSON data of bounded size. Structured clone lets maps, cycles, buffers
// and megabytes through; all of that is refused here, before any method looks at it. A file may be a parameter itself: it is a
// handle, whatever its size.
import { BridgeRefusal } from './refusal.ts';

/** The largest call is `state.set` with its 64 KiB. */
export const MESSAGE_LIMITS = { depth: 8, nodes: 2_000, characters: 65 * 1024 } as const;

export type PlainObject = Readonly<Record<string, unknown>>;

export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Walks the value once and stops at the first excess, so a hostile value costs no more than an allowed one.
 * @throws BridgeRefusal `payload_too_large` or `invalid_request`
 */
export function requirePlainData(value: unknown): void {
  const budget = { nodes: MESSAGE_LIMITS.nodes, characters: MESSAGE_LIMITS.characters };
  walk(value, 0, budget);
}

function walk(value: unknown, depth: number, budget: { nodes: number; characters: number }): void {
  budget.nodes -= 1;
  if (typeof value === 'string') budget.characters -= value.length;
  if (budget.nodes < 0 || budget.characters < 0 || depth > MESSAGE_LIMITS.depth) {
    throw new BridgeRefusal('payload_too_large', 'The message is too large or too deep for the bridge.');
  }
  if (value === undefined || value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) walk(item, depth + 1, budget);
    return;
  }
  if (isPlainObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      budget.characters -= key.length;
      walk(item, depth + 1, budget);
    }
    return;
  }
  if (depth === 1 && value instanceof Blob) return;
  throw new BridgeRefusal('invalid_request', 'The bridge carries plain JSON data only.');
}
