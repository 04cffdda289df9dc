// Fields that say another path or host than the request line: servers obey them, and only the request line was decided about.

/** Of WebDAV, of servers behind rewriting proxies, of CGI and of frameworks. */
const PLACES = new Set([
  ...[
    'destination',
    'x-destination',
    'x-http-destinationurl',
    'path-info',
    'script-name',
    'x-script-name',
    'x-path-info',
  ],
  ...[
    'request-uri',
    'x-request-uri',
    'x-requested-uri',
    'request-url',
    'x-request-url',
    'x-request-path',
    'x-uri',
    'x-url',
  ],
  ...['x-path', 'base-url', 'x-base-url', 'http-url', 'x-http-url', 'x-http-path-override', 'x-http-url-override'],
  ...[
    'x-path-override',
    'x-url-override',
    'x-override-url',
    'x-override-path',
    'x-http-host-override',
    'x-host-override',
  ],
  ...[
    'x-host',
    'x-backend-host',
    'x-waws-unencoded-url',
    'x-proxy-url',
    'x-proxy-path',
    'x-proxy-host',
    'x-ingress-path',
  ],
  ...['x-matched-path', 'x-invoke-path', 'x-invoke-query', 'x-invoke-output', 'x-now-route-matches', 'x-replaced-path'],
  ...['x-envoy-original-path', 'x-envoy-original-host', 'x-mod-rewrite', 'x-accel-redirect', 'x-sendfile', 'location'],
  ...['x-original', 'x-rewrite', 'x-lighttpd-send-file', 'x-reproxy-url', 'x-up-destination'],
]);
const PLACE_PREFIXES = ['x-original-', 'x-rewrite-', 'x-rewritten-'];

/** @param spelled in lower case, with `-` for every other mark */
export function isPlace(spelled: string): boolean {
  return PLACES.has(spelled) || PLACE_PREFIXES.some((prefix) => spelled.startsWith(prefix));
}
