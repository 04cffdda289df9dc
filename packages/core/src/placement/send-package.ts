// Streams a package blob to the node that is to run it.
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { refuse } from '@platform/contract';
import type { FastifyReply } from 'fastify';
import { systemCode } from '../config/start-error.ts';

/**
 * Takes over the reply. A node that goes away in the middle ends the stream and nothing else.
 *
 * @throws RefusalError `unavailable` when the package is missing
 */
export async function sendPackage(file: string, reply: FastifyReply): Promise<void> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw refuse(
      'unavailable',
      'The package of this app is missing in the store of the platform. Its operator has to restore it.',
    );
  });
  try {
    const { size } = await handle.stat();
    reply.hijack();
    const response = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) response.setHeader(name, value);
    }
    response.writeHead(200, {
      'content-type': 'application/gzip',
      'content-length': size,
      'cache-control': 'no-store',
    });
    await pipeline(handle.createReadStream({ start: 0, autoClose: false }), response);
  } catch (error) {
    if (!reply.raw.headersSent) throw error;
    // The head is already sent: closing the connection fails the node's download, which the package's hash would too.
    reply.raw.destroy();
  } finally {
    await handle.close();
  }
}
