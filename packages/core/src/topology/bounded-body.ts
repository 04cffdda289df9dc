// Reads the body of an answer up to a limit: the other side decides neither our memory nor our patience.

/** @throws Error when the body is longer than `limit` bytes or not UTF-8 */
export async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let text = '';
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new Error(`the answer has more than ${limit} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
