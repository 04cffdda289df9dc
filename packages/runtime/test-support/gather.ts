// What a stream has said so far.

export function gather(stream: NodeJS.ReadableStream): { text: () => string; closed: Promise<unknown> } {
  let text = '';
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  stream.resume();
  return { text: () => text, closed };
}
