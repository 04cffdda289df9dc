// Between Gateways and core: holds requests and answers at moments, and keeps the lease tokens that core gave, so that a
// test can write with one that is no longer the last.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Tokens {
  readonly runId: string;
  /** Oldest first. */
  readonly tokens: string[];
}

export interface RecordingProxy {
  readonly origin: string;
  /** By activity. */
  readonly leases: ReadonlyMap<string, Tokens>;
  close(): Promise<void>;
}

/**
 * @param port of core
 * @param at called with the request before core has it, and before the Gateway has its answer
 */
export async function startRecordingProxy(
  port: number,
  at: (when: 'forwarded' | 'answered', request: http.IncomingMessage) => Promise<void> | undefined,
): Promise<RecordingProxy> {
  const leases = new Map<string, Tokens>();

  function record(path: string, body: string): void {
    const runId = /\/workflows\/([^/]+)\/activities\/[^/]+\/claim$/.exec(path)?.[1];
    if (runId === undefined) return;
    const { activity } = JSON.parse(body) as { activity?: { id: string; leaseToken?: string } };
    if (activity?.leaseToken === undefined) return;
    const known = leases.get(activity.id) ?? { runId, tokens: [] };
    // A claim that is repeated answers with the same.
    if (!known.tokens.includes(activity.leaseToken)) known.tokens.push(activity.leaseToken);
    leases.set(activity.id, known);
  }

  const server = http.createServer(async (request, response) => {
    const body = await bytesOf(request);
    await at('forwarded', request);
    const upstream = http.request({
      host: '127.0.0.1',
      port,
      method: request.method,
      path: request.url,
      headers: { ...request.headers, 'content-length': body.length },
      agent: false,
    });
    upstream.on('error', () => response.destroy());
    upstream.on('response', async (answer) => {
      try {
        const text = await bytesOf(answer);
        if (answer.statusCode === 200) record(request.url ?? '', text.toString('utf8'));
        await at('answered', request);
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(text);
      } catch {
        response.destroy();
      }
    });
    upstream.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leases,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
