// Which fields of a workload's answer may pass. It is hostile, and appears on an origin that all apps of the node share.
import { ANSWERED_BY, errors } from '@platform/contract';
import { type ResponseFilter, responseFilter } from '@platform/http';

/**
 * What a workload may not say on the node's origin, which all apps of the node share: cookies, storage and compression
 * dictionaries, sign-in states, service workers, transport and content policies, cross-origin permissions, reporting,
 * prompts for credentials, instructions to proxies in front, and the platform's own names.
 */
const DROPPED_FROM_WORKLOAD = new Set([
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
  ...['set-login', 'use-as-dictionary', 'activate-storage-access', 'observe-browsing-topics', 'delegate-ch'],
  ...['connection-allowlist', 'connection-allowlist-report-only', 'integrity-policy', 'integrity-policy-report-only'],
  ...['document-isolation-policy', 'document-isolation-policy-report-only', 'document-policy-report-only'],
  'permissions-policy-report-only',
  ...['x-request-id', 'x-sendfile', 'forwarded', 'via'],
]);
const DROPPED_PREFIXES_FROM_WORKLOAD = [
  'access-control-',
  'x-platform-',
  'platform-',
  'x-accel-',
  'sec-',
  'attribution-reporting-',
  'ad-auction-',
  'x-forwarded-',
];

/** A header that the node listener has already set on `res` wins over the workload's. */
const withoutHostileFields = responseFilter(
  (name, res) =>
    DROPPED_FROM_WORKLOAD.has(name) ||
    res.hasHeader(name) ||
    DROPPED_PREFIXES_FROM_WORKLOAD.some((prefix) => name.startsWith(prefix)),
);

/** What the platform itself says to an Ingress of a name that is not here. */
const UNKNOWN_HOST = errors.unknown_host.status;

/** For the Gateway that reaches the workload itself. */
export const filterWorkloadResponse: ResponseFilter = (headers, res) => {
  const passed = withoutHostileFields(headers, res);
  if (res.hasHeader(ANSWERED_BY) || res.statusCode === UNKNOWN_HOST) passed.push(ANSWERED_BY, 'workload');
  return passed;
};

/** For the Runtime's end of a sidecar, which has filtered the answer or gives a refusal of its own, and says which. */
export const filterSidecarResponse: ResponseFilter = (headers, res) => {
  const passed = withoutHostileFields(headers, res);
  const isOfWorkload = headers[ANSWERED_BY] === 'workload';
  if (res.hasHeader(ANSWERED_BY)) passed.push(ANSWERED_BY, isOfWorkload ? 'workload' : 'platform');
  else if (res.statusCode === UNKNOWN_HOST && isOfWorkload) passed.push(ANSWERED_BY, 'workload');
  return passed;
};
