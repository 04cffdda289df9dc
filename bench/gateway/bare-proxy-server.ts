// The least a proxy of node:http and undici can do: no credential, no rules, no limits, no streams. What it reaches is
// the ground that the Gateway stands on.
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';

// The Gateway's own copy; what a bench finds by the name alone is the one of @fastify/http-proxy, an older major.
const { Pool }: typeof import('undici') = createRequire(
  new URL('../../packages/gateway/package.json', import.meta.url),
)('undici');

const [origin = ''] = process.argv.slice(2);
const pool = new Pool(origin, { pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });

const HOP_BY_HOP = new Set(['host', 'connection', 'keep-alive']);

function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** The whole answer, which a small one is, in one write. */
function answerTo(res: ServerResponse): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      for (const name of HOP_BY_HOP) delete headers[name];
      res.writeHead(
        status,
        Object.entries(headers).flatMap(([name, value]) => [name, value ?? '']),
      );
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      res.end(Buffer.concat(chunks).toString('latin1'), 'latin1');
    },
    onResponseError(_controller, error) {
      res.destroy(error);
    },
  };
}

const server = createServer({ keepAliveTimeout: 0, optimizeEmptyRequests: true }, (req, res) => {
  res.sendDate = false;
  const { method = 'GET', url = '/' } = req;
  const body = method === 'GET' ? null : req;
  pool.dispatch({ path: url, method, headers: endToEnd(req.rawHeaders), body }, answerTo(res));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  console.log(JSON.stringify({ port: address.port }));
});
process.on('SIGTERM', () => process.exit());
