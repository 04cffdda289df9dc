// Ways through the Gateway: towards core with another identity, to routes that are no services, to other hosts; and
// back, towards callers, the log and the Runtime.
import type { Control, SeenRequest, Targets, Way } from '../way.ts';

const head = (t: Targets, target: string, more = '', method = 'GET', token = t.ownCredential) =>
  `${method} ${target} HTTP/1.1\r\nHost: ${t.gatewayHost}:${t.gatewayPort}\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;

/** A route of core that no workload may reach. */
const INNER = '/v1/node/assignments';
const innerSeen = ({ target }: SeenRequest) => target.includes('/v1/node/') || target.includes('smuggled');
const smuggled = (t: Targets) =>
  `GET ${INNER}?smuggled HTTP/1.1\r\nHost: ${t.gatewayHost}:${t.gatewayPort}\r\nAuthorization: Bearer ${t.neighbourCredential}\r\n\r\n`;

/** A message whose end two parsers might see in different places; behind it stands a second request. */
function smuggle(
  name: string,
  framing: string,
  body: (t: Targets) => string,
  method = 'POST',
  control: Control = 'at core',
): Way {
  return {
    name,
    control,
    attempt: {
      kind: 'request',
      bytes: (t) => `${head(t, '/v1/services/notifications', framing, method)}${body(t)}`,
      reaches: innerSeen,
    },
  };
}

/** Whatever parser is at hand for the control is as strict; the vectors of the Gateway hold the rest. */
const STRICT: Control = {
  because: 'the parser of the control refuses it too; see request-vectors.test.ts of the Gateway',
};
/** Core takes such a segment as the name it is; a server that did not would be told by the Gateway's path as well. */
const LITERAL: Control = {
  because: 'core takes the segment as a name; only a server that decodes twice would be fooled',
};

function path(name: string, target: string, control: Control = 'at core'): Way {
  return {
    name,
    control,
    attempt: {
      kind: 'request',
      bytes: (t) => head(t, target, 'Connection: close\r\n'),
      reaches: ({ target: seen }) => !isService(seen.slice(seen.indexOf(' ') + 1)),
    },
  };
}

/** Whether it stays below the services for whoever resolves it as a URL. */
function isService(target: string): boolean {
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('\\')) return false;
  return /^\/v1\/services\/(?!.*(%2f|%5c|%00))/i.test(new URL(target, 'http://core.test').pathname);
}

function header(
  name: string,
  lines: string,
  reaches: (seen: SeenRequest, t: Targets) => boolean,
  control: Control = 'at core',
): Way {
  return {
    name,
    control,
    attempt: {
      kind: 'request',
      bytes: (t) =>
        head(t, '/v1/services/apps', `${lines.replaceAll('<other>', t.neighbourCredential)}Connection: close\r\n`),
      reaches,
    },
  };
}

const has =
  (field: string) =>
  ({ headers }: SeenRequest) =>
    headers[field] !== undefined;

export const gatewayWays: readonly Way[] = [
  ...(
    [
      ['uses the Gateway with the credential of another installation', (t: Targets) => t.neighbourCredential],
      ['uses the Gateway with the credential of an earlier start', (t: Targets) => t.formerCredential],
      ['uses the Gateway with a guessed core credential', () => `pcs_${'A'.repeat(43)}`],
      ['uses the Gateway without a credential', () => ''],
    ] as const
  ).map(
    ([name, token]): Way => ({
      name,
      control: 'at core',
      attempt: {
        kind: 'request',
        bytes: (t) => head(t, '/v1/services/apps?stolen', 'Connection: close\r\n', 'GET', token(t)),
        reaches: ({ target }) => target.includes('stolen'),
      },
    }),
  ),
  header('shows two credentials, its own and another', 'Authorization: Bearer <other>\r\nX-Two: 1\r\n', has('x-two')),
  header(
    'hides its credential from the swap by naming it hop-by-hop',
    'Connection: authorization\r\nX-Hop: 1\r\n',
    ({ authorization, headers }) => headers['x-hop'] !== undefined && !/^Bearer pcs_/.test(authorization ?? ''),
  ),
  header(
    'states the identity of another installation in a header',
    'X-Platform-Installation: inst-other\r\nPlatform-Account: acct-other\r\n',
    (seen) => has('x-platform-installation')(seen) || has('platform-account')(seen),
  ),
  header(
    'states the address of its caller in headers',
    'X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nX_Forwarded_For: 127.0.0.1\r\n',
    (seen) => ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x_forwarded_for'].some((field) => has(field)(seen)),
  ),
  header(
    'brings the session cookie and origin of a person',
    'Cookie: platform_session=x\r\nOrigin: http://shell.platform.localhost\r\n',
    (seen) => has('cookie')(seen) || has('origin')(seen),
  ),
  header(
    'rewrites the target in a header',
    'X-Original-URL: /v1/node/assignments\r\nX-Rewrite-URL: /v1/node/assignments\r\nX-HTTP-Method-Override: DELETE\r\n',
    (seen) => has('x-original-url')(seen) || has('x-rewrite-url')(seen),
  ),
  header(
    'breaks a header with a bare carriage return',
    'X-A: b\rAuthorization: Bearer pcs_other\r\nX-Bare: 1\r\n',
    has('x-bare'),
    STRICT,
  ),
  header('breaks a header with a bare line feed', 'X-A: b\nX-Feed: 1\r\n', has('x-feed')),
  header('folds a header over two lines', 'X-A: b\r\n X-Folded: 1\r\nX-Fold: 1\r\n', has('x-fold')),
  header('puts a blank before the colon of a header', 'X-Blank : 1\r\nX-Behind: 1\r\n', has('x-behind'), STRICT),
  header('puts a NUL into a header', 'X-Nul: a\0b\r\nX-Behind: 1\r\n', has('x-behind')),
  smuggle(
    'hides a request behind Content-Length and Transfer-Encoding (CL.TE)',
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    (t) => `0\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind Transfer-Encoding and Content-Length (TE.CL)',
    'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n',
    (t) => `0\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind a disguised Transfer-Encoding',
    'Transfer-Encoding : chunked\r\nContent-Length: 5\r\n',
    (t) => `0\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind an unknown coding',
    'Transfer-Encoding: xchunked, chunked\r\n',
    (t) => `0\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind two lengths',
    'Content-Length: 0\r\nContent-Length: 10\r\n',
    (t) => smuggled(t),
    'POST',
    STRICT,
  ),
  smuggle('hides a request behind a length with a sign', 'Content-Length: +0\r\n', (t) => smuggled(t), 'POST', STRICT),
  smuggle('hides a request in the body of a GET', 'Content-Length: 0\r\n', (t) => smuggled(t), 'GET'),
  smuggle(
    'hides a request behind a broken chunk size',
    'Transfer-Encoding: chunked\r\n',
    (t) => `0x0\r\n\r\n${smuggled(t)}`,
    'POST',
    STRICT,
  ),
  smuggle(
    'hides a request behind a chunk extension with line ends',
    'Transfer-Encoding: chunked\r\n',
    (t) => `0;a=\n\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request in trailers',
    'Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n',
    (t) => `0\r\nAuthorization: Bearer ${t.neighbourCredential}\r\n\r\n${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind a length that is hop-by-hop',
    'Connection: content-length\r\nContent-Length: 4\r\n',
    (t) => `abcd${smuggled(t)}`,
  ),
  smuggle(
    'hides a request behind an upgrade',
    'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n',
    (t) => smuggled(t),
  ),
  smuggle(
    'hides a request in a WebSocket that is none',
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
    (t) => smuggled(t),
    'GET',
  ),
  path('asks for a route that is no service', INNER),
  path('climbs out of the services with dots', `/v1/services/../node/assignments`),
  path('climbs out of the services with encoded dots', `/v1/services/%2e%2e/node/assignments`),
  path('climbs out of the services with encoded slashes', `/v1/services/..%2f..%2fv1%2fnode%2fassignments`),
  path('climbs out of the services with twice encoded dots', `/v1/services/%252e%252e/node/assignments`, LITERAL),
  path('climbs out of the services with backslashes', `/v1/services/..\\..\\v1\\node\\assignments`),
  path('climbs out of the services with a parameter behind the dots', `/v1/services/..;/node/assignments`, LITERAL),
  path('doubles the slashes', `//v1/services//../../node/assignments`),
  path('cuts the path with a NUL', `/v1/services/apps%00/../../node/assignments`),
  path('writes the path in another case', `/V1/SERVICES/../node/assignments`),
  path('asks for the workflows of the other path in a roundabout way', `/services/workflows/../../v1/node/assignments`),
  path('asks another host in the absolute form', `http://127.0.0.1:1/v1/services/apps`),
  path('asks for core by its own name in the absolute form', `http://core.test/v1/services/apps`),
  path('asks for a target of no form', `v1/services/apps`, STRICT),
  {
    name: 'asks with the Host of core',
    control: 'at core',
    attempt: {
      kind: 'request',
      bytes: (t) =>
        `GET /v1/services/apps?host HTTP/1.1\r\nHost: core.test\r\nAuthorization: Bearer ${t.ownCredential}\r\nConnection: close\r\n\r\n`,
      reaches: ({ target }) => target.includes('host'),
    },
  },
  {
    name: 'asks with two Hosts',
    control: 'at core',
    attempt: {
      kind: 'request',
      bytes: (t) => head(t, '/v1/services/apps?hosts', 'Host: core.test\r\nConnection: close\r\n'),
      reaches: ({ target }) => target.includes('hosts'),
    },
  },
  {
    name: 'uses the Gateway as a proxy (CONNECT)',
    control: { because: 'core is no proxy either; the attempt looks for an open tunnel' },
    attempt: {
      kind: 'request',
      bytes: (t) =>
        `CONNECT 127.0.0.1:${t.corePort} HTTP/1.1\r\nHost: 127.0.0.1:${t.corePort}\r\nAuthorization: Bearer ${t.ownCredential}\r\n\r\n${smuggled(t)}`,
      reaches: innerSeen,
    },
  },
  {
    name: 'has its own request echoed, with the credential that core is shown (TRACE)',
    control: 'at core',
    attempt: {
      kind: 'request',
      bytes: (t) => head(t, '/v1/services/apps?trace', 'Connection: close\r\n', 'TRACE'),
      reaches: ({ target }) => target.startsWith('TRACE'),
    },
  },
  {
    name: 'speaks HTTP/2 to what expects HTTP/1.1',
    control: { because: 'core does not speak it either; nothing may reach it' },
    attempt: { kind: 'request', bytes: (t) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${smuggled(t)}`, reaches: innerSeen },
  },
  {
    name: 'speaks HTTP/0.9, without a head',
    control: { because: 'core does not speak it either; nothing may reach it' },
    attempt: { kind: 'request', bytes: (t) => `GET /v1/services/apps\r\n\r\n${smuggled(t)}`, reaches: innerSeen },
  },
];

const answer = (
  name: string,
  lines: string,
  fools: (headers: Readonly<Record<string, string | string[] | undefined>>, text: string) => boolean,
): Way => ({
  name,
  control: 'directly',
  attempt: {
    kind: 'answer',
    bytes: `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n${lines}\r\nok`,
    fools: (seen) => fools(seen.headers, seen.text),
  },
});
const given = (field: string) => (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  headers[field] !== undefined;

export const answerWays: readonly Way[] = [
  answer(
    'sets a cookie for all apps of the node',
    'Set-Cookie: platform_session=evil; Path=/\r\n',
    given('set-cookie'),
  ),
  answer(
    'opens its answers to every page',
    'Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\n',
    given('access-control-allow-origin'),
  ),
  answer(
    'installs a service worker for the whole origin',
    'Service-Worker-Allowed: /\r\n',
    given('service-worker-allowed'),
  ),
  answer('clears the storage of all apps of the node', 'Clear-Site-Data: "*"\r\n', given('clear-site-data')),
  answer('asks the person for a password', 'WWW-Authenticate: Basic realm="platform"\r\n', given('www-authenticate')),
  answer(
    'moves the origin to another server',
    'Alt-Svc: h3=":1"\r\nStrict-Transport-Security: max-age=1\r\n',
    given('alt-svc'),
  ),
  answer(
    'speaks in the name of the platform',
    'X-Platform-Installation: inst-other\r\nX-Request-Id: forged\r\n',
    (headers) => headers['x-platform-installation'] !== undefined || headers['x-request-id'] === 'forged',
  ),
  answer(
    'gives orders to the proxy in front',
    'X-Accel-Redirect: /etc/passwd\r\nX-Sendfile: /etc/passwd\r\n',
    (headers) => headers['x-accel-redirect'] !== undefined || headers['x-sendfile'] !== undefined,
  ),
  {
    name: 'puts a second answer behind the first, for the next caller',
    control: { because: 'a caller of Node ignores what stands behind; the next call through the Gateway is looked at' },
    attempt: {
      kind: 'answer',
      bytes:
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Second: 1\r\n\r\nforged',
      fools: (seen) => seen.text.includes('forged') || seen.headers['x-second'] !== undefined,
    },
  },
  {
    name: 'splits its answer with a bare carriage return in a header',
    control: { because: 'a strict caller refuses it as well; what matters is that nothing of it passes' },
    attempt: {
      kind: 'answer',
      bytes: 'HTTP/1.1 200 OK\r\nX-A: b\rSet-Cookie: a=b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok',
      fools: (seen) =>
        seen.status === 200 && (seen.headers['set-cookie'] !== undefined || String(seen.headers['x-a']).includes('\r')),
    },
  },
  {
    name: 'frames its answer in two ways',
    control: { because: 'a strict caller refuses it as well; what matters is that nothing of it passes' },
    attempt: {
      kind: 'answer',
      bytes:
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nforged',
      fools: (seen) => seen.status === 200,
    },
  },
];

const print = (name: string, bytes: string, fools: (line: string) => boolean): Way => ({
  name,
  control: 'directly',
  attempt: { kind: 'print', bytes, fools: (lines) => lines.some(({ line }) => fools(line)) },
});

export const logWays: readonly Way[] = [
  print(
    'steers the terminal of who reads its log: colours, titles, the clipboard',
    '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b]52;c;ZXZpbA==\u0007 mark-terminal\n',
    (line) => line.includes('\u001b'),
  ),
  print(
    'overwrites what stands in its log with backspaces and carriage returns',
    'bad\b\b\bgood \rgone mark-overwrite\n',
    (line) => line.includes('\b') || line.includes('\r'),
  ),
  print('speaks in control characters of eight bits', 'a\u009b31m mark-eight\n', (line) => line.includes('\u009b')),
  {
    name: 'writes a line as if the platform had said it',
    control: { because: 'the stream is stored beside the line, which the workload cannot set' },
    attempt: {
      kind: 'print',
      bytes: '{"n":1,"at":"2026-01-01T00:00:00.000Z","stream":"system","line":"mark-forged"}\n',
      fools: (lines) => lines.some(({ stream, line }) => stream === 'system' && line.includes('mark-forged')),
    },
  },
];
