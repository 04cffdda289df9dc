// The agent's Gateway: the one address that it reaches, for models, tools and everything else.
import http from 'node:http';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type AgentOrder, agentOrder } from '@platform/contract/agents';

export interface Platform {
  /** Without a slash at its end. */
  readonly origin: string;
  readonly token: string;
  /**
   * Without a limit of time, unlike the global one: a tool, and a person who is asked, may take minutes. Adds the
   * credential of the Gateway unless the call has one.
   */
  readonly fetch: typeof globalThis.fetch;
}

export interface Surroundings {
  readonly platform: Platform;
  readonly order: AgentOrder;
  readonly port: number;
  /** Without one, which its owner may not have granted yet, what is kept ends with the process. */
  readonly volume: string;
}

/** @throws Error when the platform did not start it as an agent */
export function readSurroundings(environment: NodeJS.ProcessEnv): Surroundings {
  const read = (name: string) => {
    const value = environment[name];
    if (value === undefined) throw new Error(`${name} is not set: this program is started by the platform.`);
    return value;
  };
  const token = read('PLATFORM_GATEWAY_TOKEN');
  return {
    platform: { origin: read('PLATFORM_API_URL'), token, fetch: openFetch(token) },
    order: agentOrder.parse(JSON.parse(read('PLATFORM_AGENT_JSON'))),
    port: Number(read('PORT')),
    volume: environment.PLATFORM_VOLUME_DIR ?? tmpdir(),
  };
}

const BODILESS = [204, 205, 304];

export function openFetch(token: string): typeof globalThis.fetch {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  return async (input, init) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const headers = Object.fromEntries(request.headers);
    if (headers.authorization === undefined && headers['x-api-key'] === undefined)
      headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers['content-length'] = String(body.length);
    return new Promise<Response>((resolve, reject) => {
      const { signal, method } = request;
      const sent = http.request(request.url, { method, headers, agent, signal }, (answer) => {
        const status = answer.statusCode ?? 500;
        const fields = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
          value === undefined ? [] : [[name, String(value)]],
        );
        const stream = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
        if (BODILESS.includes(status)) answer.resume();
        resolve(new Response(BODILESS.includes(status) ? null : (stream as BodyInit), { status, headers: fields }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  };
}
