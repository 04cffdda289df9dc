// What a workload may not say on the node's origin, which all apps of the node share. The Gateway filters too; this
// stands at the last moment before the head leaves, so that no way around the first filter is enough.
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { mergeVary } from '@platform/http';

const OURS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // An answer opened as a page runs nothing and shares nothing with other answers of the node.
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

const DROPPED = new Set([
  'set-cookie',
  'set-cookie2',
  'service-worker-allowed',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'public-key-pins',
  'content-security-policy-report-only',
  'report-to',
  'reporting-endpoints',
  'nel',
  'refresh',
  'www-authenticate',
  'origin-agent-cluster',
]);

/** Ours and that of the workload: a cache needs both. */
const VARY = 'vary';

/** Makes the head of this answer ours: call after CORS headers are set and before the answer is given away. */
export function guardAnswer(res: ServerResponse): void {
  for (const [name, value] of Object.entries(OURS)) res.setHeader(name, value);
  const platform = new Set(res.getHeaderNames());
  const writeHead = res.writeHead.bind(res);
  const guarded = (status: number, ...rest: unknown[]): ServerResponse => {
    const message = typeof rest[0] === 'string' ? rest[0] : undefined;
    const headers = pairs(message === undefined ? rest[0] : rest[1]).filter(([name]) => {
      const lower = name.toLowerCase();
      return lower === VARY || (!platform.has(lower) && !DROPPED.has(lower) && !lower.startsWith('access-control-'));
    });
    for (const [name, value] of headers)
      res.setHeader(name, name.toLowerCase() === VARY ? mergeVary(res.getHeader(VARY), value) : value);
    return message === undefined ? writeHead(status) : writeHead(status, message);
  };
  res.writeHead = guarded;
}

type Given = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** Both forms that writeHead takes; repeated names become lists. */
function pairs(given: unknown): [string, string | number | string[]][] {
  if (typeof given !== 'object' || given === null) return [];
  const found = new Map<string, string | number | string[]>();
  const add = (name: string, value: OutgoingHttpHeader | undefined) => {
    if (value === undefined) return;
    const former = found.get(name);
    found.set(name, former === undefined ? value : [former, value].flat().map(String));
  };
  const headers = given as Given;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) add(name, value as OutgoingHttpHeader);
  } else {
    for (let index = 0; index + 1 < headers.length; index += 2)
      add(String(headers[index]).toLowerCase(), headers[index + 1]);
  }
  return [...found];
}
