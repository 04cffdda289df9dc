// Which fields of a workload's answer to the internet may pass. Its public name is an origin of its own, so the app
// states its own policies there; what passes beyond that origin does not. Why for each: docs/decisions/public-side-of-nodes.md.
import { ANSWERED_BY, errors } from '@platform/contract';
import { type ResponseFilter, responseFilter } from '@platform/http';

const DROPPED_IN_PUBLIC = new Set([
  // Cookies can be set for, and cleared of, the domain that all public names share; and none ever comes back.
  ...['set-cookie', 'set-cookie2', 'clear-site-data'],
  // How the name is reached is up to the Ingress: over TLS or not, at which address, under which key.
  ...['strict-transport-security', 'public-key-pins', 'public-key-pins-report-only', 'expect-ct', 'alt-svc', 'nel'],
  // The caller's `Authorization` never arrives, so a prompt would only collect a password.
  ...['www-authenticate', 'authentication-info'],
  // Browsers keep these for the whole site, the domain that all public names share.
  ...['set-login', 'observe-browsing-topics', 'activate-storage-access', 'secure-session-registration'],
  // Orders to proxies in front.
  ...['x-sendfile', 'x-lighttpd-send-file', 'x-reproxy-url', 'surrogate-control', 'surrogate-key'],
  // The platform's own word.
  ...['x-request-id', 'forwarded', 'via', 'x-real-ip'],
]);
const DROPPED_PREFIXES_IN_PUBLIC = [
  ...['platform-', 'x-platform-', 'x-forwarded-', 'x-accel-', 'sec-', 'secure-session-'],
  ...['attribution-reporting-', 'ad-auction-'],
];

/** What the platform itself says to an Ingress of a name that is not here. */
const UNKNOWN_HOST = errors.unknown_host.status;

/** A header that the node has already set on `res` wins over the workload's. */
const withoutHostileFields = responseFilter(
  (name, res) =>
    DROPPED_IN_PUBLIC.has(name) ||
    res.hasHeader(name) ||
    DROPPED_PREFIXES_IN_PUBLIC.some((prefix) => name.startsWith(prefix)),
);

/** For the Gateway that reaches the workload itself. Of a status that could be the platform's it says whose it is. */
export const filterPublicResponse: ResponseFilter = (headers, res) => {
  const passed = withoutHostileFields(headers, res);
  if (res.statusCode === UNKNOWN_HOST) passed.push(ANSWERED_BY, 'workload');
  return passed;
};

/** For the Runtime's end of a sidecar, whose Gateway may have refused by itself. */
export const filterSidecarPublicResponse: ResponseFilter = (headers, res) => {
  const passed = withoutHostileFields(headers, res);
  if (res.statusCode === UNKNOWN_HOST && headers[ANSWERED_BY] === 'workload') passed.push(ANSWERED_BY, 'workload');
  return passed;
};
