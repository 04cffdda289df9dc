// The official client of the Model Context Protocol, against the hub of a running core.
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { request } from 'undici';

export interface HubClientOptions extends Pick<ClientOptions, 'capabilities' | 'listChanged'> {
  /** Default: `/v1/services/mcp`. */
  readonly path?: string;
  /** Of the page that calls. Default: a program calls. */
  readonly origin?: string;
  /** Default: 2026-07-28, and nothing else. */
  readonly revision?: 'modern' | 'legacy';
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HubClient extends AsyncDisposable {
  readonly client: Client;
}

/** @param at the core, and the host that it is called by */
export async function connectHub(
  at: { readonly port: number; readonly origin: string },
  credential: string,
  { path = '/v1/services/mcp', origin, revision = 'modern', headers = {}, ...options }: HubClientOptions = {},
): Promise<HubClient> {
  const transport = new StreamableHTTPClientTransport(new URL(path, at.origin), {
    async fetch(url, init = {}) {
      const { pathname, search } = new URL(url);
      const answer = await request(`http://127.0.0.1:${at.port}${pathname}${search}`, {
        method: (init.method ?? 'GET') as 'GET' | 'POST' | 'DELETE',
        headers: {
          ...Object.fromEntries(new Headers(init.headers as HeadersInit)),
          ...headers,
          host: new URL(at.origin).host,
          authorization: `Bearer ${credential}`,
          ...(origin === undefined ? {} : { origin }),
        },
        body: (init.body as string | undefined) ?? null,
        signal: init.signal ?? null,
      });
      const bodiless = answer.statusCode === 202 || answer.statusCode === 204;
      if (bodiless) await answer.body.dump();
      const fields = Object.entries(answer.headers).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      return new Response(bodiless ? null : (answer.body as unknown as ReadableStream), {
        status: answer.statusCode,
        headers: fields,
      });
    },
  });
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { ...options, versionNegotiation: { mode: revision === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );
  await client.connect(transport);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  };
}
