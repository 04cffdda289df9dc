// Parses and validates the bytes of a JSON body strictly: UTF-8, depth, no member twice, storable values, schema. Pure, so that it runs
// in any thread.
import { fieldErrors, type JsonBody, limits, notValid, refuse, repeatsMember } from '@platform/contract';
import { refuseAlteredJson } from './altered-json.ts';
import { refuseLargeJson } from './large-json.ts';
import { refuseUnstorableJson } from './storable-values.ts';

/** Finds key material in the text of a body. */
export type FindSecrets = (text: string) => { readonly path: string; readonly kind: string } | null;

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param findSecrets for bodies that refuse key material
 * @throws RefusalError `invalid_request`, `forbidden_material`, or what `keepsJson` says
 */
export function parseBody(bytes: Uint8Array, body: JsonBody, findSecrets?: FindSecrets): unknown {
  const text = decodeShallow(bytes);
  if (body.keepsJson !== undefined) refuseLargeJson(text, body.keepsJson);
  const value = parseJson(text);
  const found = body.refusesSecrets === true ? findSecrets?.(text) : null;
  if (found != null)
    throw refuse('forbidden_material', undefined, { errors: [{ path: found.path, message: found.kind }] });
  refuseRepeated(text, value);
  if (body.keepsJson !== undefined) refuseAlteredJson(text);
  if (body.cleansText !== true) refuseUnstorableJson(text, value);
  // A member named __proto__ is own data to JSON.parse; no schema knows it, so it is unknown like any other.
  const result = body.schema.safeParse(value);
  if (result.success) return result.data;
  throw notValid('The body', fieldErrors(result.error));
}

/**
 * What JSON from elsewhere says, such as the answer of a service.
 *
 * @throws RefusalError `invalid_request` for what is no UTF-8 or JSON, is too deep, or names a member twice
 */
export function decodeJson(bytes: Uint8Array): unknown {
  const text = decodeShallow(bytes);
  const value = parseJson(text);
  refuseRepeated(text, value);
  return value;
}

function decodeShallow(bytes: Uint8Array): string {
  const text = decode(bytes);
  if (tooDeep(text))
    throw refuse('invalid_request', `The body is nested deeper than ${limits.jsonDepth.value} levels.`);
  return text;
}

function refuseRepeated(text: string, value: unknown): void {
  if (repeatsMember(text, value)) throw refuse('invalid_request', 'The body names a member twice.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('invalid_request', 'The body is not valid JSON.');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    throw refuse('invalid_request', 'The body is not valid UTF-8.');
  }
}

/** Counts brackets outside strings, before parsing: what reads the values would recurse as deep as the text says. */
export function tooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limits.jsonDepth.value) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}
