// Reads a JSON body within its limit, strictly: media type, size, UTF-8, depth; nothing is buffered beyond the limit.
import type { IncomingMessage } from 'node:http';
import { limits, refuse } from '@platform/contract';
import { readBody } from '@platform/http';

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });
const JSON_MEDIA_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * @returns the text and its parsed value
 * @throws RefusalError `unsupported_media_type`, `payload_too_large` or `invalid_request`
 */
export async function readJsonBody(request: IncomingMessage, limit: number): Promise<{ text: string; value: unknown }> {
  if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) throw refuse('unsupported_media_type');
  if (request.headers['content-encoding'] !== undefined)
    throw refuse('unsupported_media_type', 'Send the body without a content encoding.');
  const text = decode(await readBody(request, { limit, milliseconds: limits.bodySeconds.value * 1_000 }));
  if (tooDeep(text))
    throw refuse('invalid_request', `The body is nested deeper than ${limits.jsonDepth.value} levels.`);
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    throw refuse('invalid_request', 'The body is not valid JSON.');
  }
}

function decode(bytes: Buffer): string {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    throw refuse('invalid_request', 'The body is not valid UTF-8.');
  }
}

/** Counts brackets outside strings, before parsing: JSON.parse would recurse as deep as the body says. */
function tooDeep(text: string): boolean {
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
