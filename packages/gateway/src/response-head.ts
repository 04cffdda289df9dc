// Which headers of an answer may pass to the other side. The answer of a workload is hostile; that of core is ours but
// its connection and its cookies are not the workload's business.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** Hop-by-hop fields (RFC 9110 section 7.6.1) and framing, which each connection states anew. */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['proxy-authentication-info', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
];

/** Core speaks to the Gateway's credential, so its challenges and cookies end here. */
const DROPPED_FROM_CORE = new Set([
  ...HOP_BY_HOP,
  ...['set-cookie', 'set-cookie2', 'www-authenticate', 'authentication-info', 'alt-svc'],
]);

/**
 * What a workload may not say on the node's origin, which all apps of the node share: cookies and storage, service
 * workers, transport and content policies, cross-origin permissions, reporting, credentials prompts, instructions to
 * proxies in front, and the platform's own names.
 */
const DROPPED_FROM_WORKLOAD = new Set([
  ...HOP_BY_HOP,
  ...['set-cookie', 'set-cookie2', 'clear-site-data', 'www-authenticate', 'authentication-info'],
  ...['service-worker-allowed', 'strict-transport-security', 'public-key-pins', 'expect-ct', 'alt-svc'],
  ...['content-security-policy', 'content-security-policy-report-only', 'x-frame-options', 'permissions-policy'],
  ...['feature-policy', 'cross-origin-opener-policy', 'cross-origin-embedder-policy', 'origin-agent-cluster'],
  ...['cross-origin-opener-policy-report-only', 'cross-origin-embedder-policy-report-only', 'document-policy'],
  ...[
    'cross-origin-resource-policy',
    'timing-allow-origin',
    'x-permitted-cross-domain-policies',
    'supports-loading-mode',
  ],
  ...['report-to', 'reporting-endpoints', 'nel', 'critical-ch', 'accept-ch', 'speculation-rules', 'refresh'],
  ...['x-request-id', 'x-sendfile', 'forwarded', 'via'],
]);
const DROPPED_PREFIXES_FROM_WORKLOAD = [
  'access-control-',
  'x-platform-',
  'platform-',
  'x-accel-',
  'sec-',
  'x-forwarded-',
];

/** Chooses what of an answer passes, as name, value, name, value …; `res` is the answer it will be written to. */
export type ResponseFilter = (headers: IncomingHttpHeaders, res: ServerResponse) => (string | string[])[];

export const filterCoreResponse: ResponseFilter = (headers) => {
  const named = connectionFields(headers);
  const kept: (string | string[])[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || DROPPED_FROM_CORE.has(name) || named?.has(name)) continue;
    kept.push(name, value);
  }
  return kept;
};

/** A header that the node listener has already set on `res` wins over the workload's. */
export const filterWorkloadResponse: ResponseFilter = (headers, res) => {
  const named = connectionFields(headers);
  const kept: (string | string[])[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || DROPPED_FROM_WORKLOAD.has(name) || named?.has(name) || res.hasHeader(name)) continue;
    if (DROPPED_PREFIXES_FROM_WORKLOAD.some((prefix) => name.startsWith(prefix))) continue;
    kept.push(name, value);
  }
  return kept;
};

function connectionFields(headers: IncomingHttpHeaders): Set<string> | null {
  const connection = headers.connection;
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null;
  return new Set(
    String(connection)
      .split(',')
      .map((token) => token.trim().toLowerCase()),
  );
}
