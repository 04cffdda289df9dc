// Reads the body of an answer within limits of size and time.
import { sizeText } from '@platform/contract/sizes';

/** @throws Error when the body is longer than `limit` bytes or not UTF-8 */
export async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let text = '';
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new Error(`the answer has more than ${sizeText(limit)}`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The lines of a body as they arrive, without their line breaks; what follows the last one is not given. Reads no
 * further than its consumer asks.
 *
 * @throws Error when a line is longer than `limit` bytes or not UTF-8
 */
export async function* readLines(response: Response, limit: number): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      parts.push(chunk.subarray(start, end));
      yield decoder.decode(Buffer.concat(parts));
      parts = [];
      size = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    size += chunk.byteLength - start;
    if (size > limit) throw new Error(`a line of the answer has more than ${sizeText(limit)}`);
  }
}
