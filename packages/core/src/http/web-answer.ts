// An answer in the shape of the fetch standard, as libraries give it, through the reply of a route.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';

/** Takes over the reply. Resolves when the answer was sent, or nobody takes it any more. */
export async function sendWebAnswer(reply: FastifyReply, answer: Response): Promise<{ readonly streamed: true }> {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.setHeader('cache-control', 'no-store');
  for (const [name, value] of answer.headers) raw.setHeader(name, value);
  raw.writeHead(answer.status);
  if (answer.body === null) raw.end();
  else {
    raw.flushHeaders();
    await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), raw).catch(() => undefined);
  }
  return { streamed: true };
}
