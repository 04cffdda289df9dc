// Reads the bytes of a JSON body within its limit and its time; nothing is buffered beyond the limit.
import type { IncomingMessage } from 'node:http';
import { limits, refuse } from '@platform/contract';
import { readBody } from '@platform/http';

const JSON_MEDIA_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** @throws RefusalError `unsupported_media_type`, `payload_too_large`, or what `readBody` refuses */
export async function readJsonBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) throw refuse('unsupported_media_type');
  if (request.headers['content-encoding'] !== undefined)
    throw refuse('unsupported_media_type', 'Send the body without a content encoding.');
  return readBody(request, { limit, milliseconds: limits.bodySeconds.value * 1_000 });
}
