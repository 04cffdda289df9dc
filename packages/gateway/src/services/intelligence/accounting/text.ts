// How much text an answer has, where nothing reports its tokens. What is known to be no text of a model is left out; text in
// members that nobody knows counts.
import { member } from '../dialect.ts';

/** Whatever they hold: sounds, pictures, vectors and addresses, reports, and what repeats or judges text beside it. */
const OPAQUE = new Set([
  ...['b64_json', 'partial_image_b64', 'embedding', 'image_url', 'url'],
  ...['usage', 'x_groq', 'timings', 'obfuscation', 'annotations'],
  ...['logprobs', 'top_logprobs', 'prompt_logprobs'],
  ...['prompt_filter_results', 'content_filter_results', 'content_filter_offsets'],
]);
/** Names and kinds, as long as they are short. */
const LABELS = new Set([
  ...['id', 'object', 'type', 'role', 'model', 'status', 'provider', 'phase', 'format', 'created_at'],
  ...['finish_reason', 'native_finish_reason', 'stop_reason', 'stop_sequence'],
  ...['call_id', 'item_id', 'response_id', 'tool_use_id', 'tool_call_id', 'system_fingerprint', 'service_tier'],
]);
const LONGEST_LABEL = 256;
/** What a stored response repeats of its request. */
const ECHOED = new Set([
  ...['instructions', 'tools', 'tool_choice', 'metadata', 'text', 'reasoning', 'prompt', 'conversation', 'user'],
  ...['truncation', 'previous_response_id', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'],
]);

/** UTF-8 bytes of the text in a value of any shape and depth. */
export function textBytes(answer: unknown): number {
  let bytes = 0;
  const waiting: { readonly value: unknown; readonly isFree: boolean }[] = [{ value: answer, isFree: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, isFree } = next;
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (isFree && (typeof value === 'number' || typeof value === 'boolean')) bytes += String(value).length;
    else if (Array.isArray(value)) for (const one of value) waiting.push({ value: one, isFree });
    else if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) {
        if (isFree) bytes += Buffer.byteLength(name);
        else if (isNoText(value, name, one)) continue;
        waiting.push({
          value: !isFree && name === 'audio' ? withoutSound(one) : one,
          isFree: isFree || isOfModel(name, one),
        });
      }
  }
  return bytes;
}

function isNoText(holder: object, name: string, value: unknown): boolean {
  if (OPAQUE.has(name)) return true;
  if (LABELS.has(name)) return typeof value === 'string' && value.length <= LONGEST_LABEL;
  if (ECHOED.has(name)) return member(holder, 'object') === 'response';
  return name === 'result' && member(holder, 'type') === 'image_generation_call';
}

/** What is spoken has its transcript beside. */
function withoutSound(audio: unknown): unknown {
  return typeof audio === 'object' && audio !== null ? { ...audio, data: null } : audio;
}

/** An object whose members a model named. */
function isOfModel(name: string, value: unknown): boolean {
  return (name === 'input' || name === 'arguments') && typeof value === 'object';
}

export interface Texts {
  /** @param copy which copy of the text of its answer this is */
  add(copy: string, bytes: number): void;
  /** Bytes of the largest copy. */
  bytes(): number;
}

/** Streams may repeat their text, piece by piece and as a whole. */
export function openTexts(): Texts {
  const copies = new Map<string, number>();
  return {
    add: (copy, bytes) => void copies.set(copy, (copies.get(copy) ?? 0) + bytes),
    bytes: () => Math.max(0, ...copies.values()),
  };
}
