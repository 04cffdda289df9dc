// Reads the bytes of a JSON body within its limit and its time; nothing is buffered beyond the limit.
import type { IncomingMessage } from 'node:http';
import { limits, refuse } from '@platform/contract';
import { readBody } from '@platform/http';

const JSON_MEDIA_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** @throws RefusalError `unsupported_media_type` for anything but plain JSON in UTF-8 */
export function requireJson(request: IncomingMessage): void {
  if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) throw refuse('unsupported_media_type');
  if (request.headers['content-encoding'] !== undefined)
    throw refuse('unsupported_media_type', 'Send the body without a content encoding.');
}

/** @throws RefusalError `payload_too_large`, or what `readBody` refuses */
export function readJsonBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return readBody(request, { limit, milliseconds: limits.bodySeconds.value * 1_000 });
}
