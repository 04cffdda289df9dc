// A FAKE search engine for tests: it answers over HTTP on loopback as SearXNG (`/search?format=json`) and the Brave Search API
// (`/res/v1/web/search`) document it, with whatever results a test gives it.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeResult {
  readonly title?: unknown;
  readonly url?: unknown;
  readonly text?: unknown;
}

export interface FakeEngine {
  readonly origin: string;
  /** What it was asked, in order. */
  readonly seen: {
    readonly path: string;
    readonly query: URLSearchParams;
    readonly headers: http.IncomingHttpHeaders;
  }[];
  results: readonly FakeResult[];
  /** Answers in place of results. */
  instead: ((response: http.ServerResponse) => void) | null;
  close(): Promise<void>;
}

export async function startFakeEngine(): Promise<FakeEngine> {
  const seen: FakeEngine['seen'] = [];
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://engine');
    seen.push({ path: url.pathname, query: url.searchParams, headers: request.headers });
    if (engine.instead !== null) return engine.instead(response);
    response.setHeader('content-type', 'application/json');
    response.setHeader('set-cookie', 'tracking=1');
    response.end(
      JSON.stringify(url.pathname === '/search' ? asSearxng(url, engine.results) : asBrave(url, engine.results)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const engine: FakeEngine = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    results: [],
    instead: null,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return engine;
}

function asSearxng(url: URL, results: readonly FakeResult[]): object {
  return {
    query: url.searchParams.get('q'),
    number_of_results: results.length,
    results: results.map(({ title, url: address, text }) => ({
      ...{ title, url: address, content: text },
      ...{ engine: 'wikipedia', engines: ['wikipedia'], score: 1, category: 'general', positions: [1] },
    })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  };
}

function asBrave(url: URL, results: readonly FakeResult[]): object {
  const found = results.map(({ title, url: address, text }) => ({
    ...{ title, url: address, description: text, type: 'search_result' },
    ...{ is_source_local: false, language: 'en', family_friendly: true },
  }));
  return {
    type: 'search',
    query: { original: url.searchParams.get('q') },
    ...(found.length > 0 && { web: { type: 'search', results: found } }),
  };
}
