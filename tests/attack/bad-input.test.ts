// Every route answers every malformed request with a problem document, and writes nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RouteSpec, routes, type SystemRole } from '@platform/contract';
import * as z from 'zod';
import { openFrontend } from '../../packages/core/test-support/apps.ts';
import { type Cast, makeCast } from '../support/cast.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { problemCode, type RawAnswer } from '../support/raw-http.ts';
import { ZOD_PHRASES } from '../support/zod-phrases.ts';

const UUID = '01890000-0000-7000-8000-000000000000';

/** Lists whose cursors belong to what the path names, which is not there: that is said first. */
const OF_ITS_PARENT: ReadonlySet<string> = new Set([
  'services.messaging.messages',
  'services.content.items',
  'services.content.members',
  'account.collections.members',
]);

let constellation: Constellation;
let cast: Cast;
/** Of the apps that alone may manage something, by their role. */
const managers = new Map<SystemRole, Record<string, string>>();
let rowsBefore: Record<string, string>;

before(async () => {
  // The account of the cast is the master account: what is checked first at every route of the operator is who calls.
  constellation = await startConstellation({ config: { masterAccount: 'castowner' } });
  cast = await makeCast(constellation);
  for (const [role, appId] of [
    ['schedules.manager-ui', 'schedules'],
    ['files.user-manager', 'files'],
  ] as const) {
    const { origin, capability } = await openFrontend(constellation, cast.account, appId);
    managers.set(role, { authorization: `Bearer ${capability}`, origin });
  }
  rowsBefore = await rowCounts();
});
after(() => constellation.close());

async function rowCounts(): Promise<Record<string, string>> {
  const { pool } = constellation.core.context;
  const tables = await pool.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations' ORDER BY 1",
  );
  const counts: Record<string, string> = {};
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ state: string }>(
      `SELECT count(*) || ':' || coalesce(md5(string_agg(t::text, '' ORDER BY t::text)), '') AS state FROM ${name} t`,
    );
    counts[name] = rows[0]?.state ?? '';
  }
  return counts;
}

function pathOf(spec: RouteSpec): string {
  return spec.path
    .replace('/node/installations/:id', `/node/installations/inst-${UUID}`)
    .replace('/drafts/:id', `/drafts/drf-${UUID}`)
    .replace('/web-search/:id', `/web-search/wsr-${UUID}`)
    .replace('/collections/:id', `/collections/col-${UUID}`)
    .replace('/content-invitations/:id', `/content-invitations/civ-${UUID}`)
    .replace('-files/:id', `-files/fil-${UUID}`)
    .replace('/files/:id', `/files/fil-${UUID}`)
    .replace('/files/shared/:id', `/files/shared/fil-${UUID}`)
    .replace(':memberId', `mem-${UUID}`)
    .replace(':key', 'some-key')
    .replace('/notifications/:id', `/notifications/ntf-${UUID}`)
    .replace('/work-leases/:id', `/work-leases/lease-${UUID}`)
    .replace(':appId', 'castowner-mighty')
    .replace(':version', '2.0.0')
    .replace(':hash', '0'.repeat(64))
    .replace(':name', 'some-name')
    .replace(':slot', 'some-slot')
    .replace(':provider', 'some-provider')
    .replace(':entryId', 'entry')
    .replace(':workflowId', `wf-${UUID}`)
    .replace(':activityId', `act-${UUID}`)
    .replace(':step', 'step')
    .replace(':scheduleId', `sch-${UUID}`)
    .replace(':contactId', `ctc-${UUID}`)
    .replace('/wallet/proposals/:id', `/wallet/proposals/wpr-${UUID}`)
    .replace('/policies/:id', `/policies/pol-${UUID}`)
    .replace('/receipts/:id', `/receipts/rcp-${UUID}`)
    .replace('/proposals/:id', `/proposals/prop-${UUID}`)
    .replace(':setting', 'registration')
    .replace(':id', 'some-id');
}

function headersOf(spec: RouteSpec): Record<string, string> {
  if (spec.systemRole !== undefined) return { ...managers.get(spec.systemRole) };
  const kind = spec.callers[0] ?? 'anonymous';
  const headers = cast.credentials(kind);
  return spec.origin === 'app' ? { ...headers, origin: cast.credentials('frontend').origin ?? '' } : headers;
}

const DEEP = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
const INVALID_UTF8 = Buffer.concat([Buffer.from('{"topic":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);

interface BadBody {
  readonly what: string;
  readonly body: string | Buffer;
  readonly type?: string;
  readonly encoding?: string;
  readonly code: string;
  /** What the refusal must say, where a later check would refuse the same body for something else. */
  readonly says?: RegExp;
}

const UNSTORABLE = /holds NUL \(U\+0000\) or half of a surrogate pair/;
const TWICE = /names a member twice/;
const badBodies: readonly BadBody[] = [
  { what: 'no JSON', body: '{"topic":', code: 'invalid_request' },
  { what: 'an array', body: '[]', code: 'invalid_request' },
  { what: 'a string', body: '"text"', code: 'invalid_request' },
  { what: 'a number', body: '1', code: 'invalid_request' },
  { what: 'null', body: 'null', code: 'invalid_request' },
  { what: 'an unknown member', body: '{"surely-unknown":1}', code: 'invalid_request' },
  { what: 'a member named __proto__', body: '{"__proto__":{"x":1}}', code: 'invalid_request' },
  {
    what: 'members of the wrong type',
    body: '{"name":[],"topic":{},"entries":7,"permissions":"all","appId":4,"label":{},"challengeId":[]}',
    code: 'invalid_request',
  },
  { what: 'forty levels', body: DEEP, code: 'invalid_request' },
  { what: 'invalid UTF-8', body: INVALID_UTF8, code: 'invalid_request' },
  { what: 'NUL', body: '{"a":[{"b":"c\\u0000d"}]}', code: 'invalid_request', says: UNSTORABLE },
  { what: 'half of a surrogate pair', body: '{"a":"\\uD83D b"}', code: 'invalid_request', says: UNSTORABLE },
  { what: 'the other half', body: '{"a":"\\udc00\\ud83d"}', code: 'invalid_request', says: UNSTORABLE },
  { what: 'a member named with NUL', body: '{"a\\u0000":1}', code: 'invalid_request', says: UNSTORABLE },
  { what: 'a byte order mark and nothing', body: Buffer.from([0xef, 0xbb, 0xbf]), code: 'invalid_request' },
  { what: 'a member twice', body: '{"a":1,"a":1}', code: 'invalid_request', says: TWICE },
  { what: 'a member twice, deep in it', body: '{"b":[{"a":1,"\\u0061":1}]}', code: 'invalid_request', says: TWICE },
  ...[
    'application',
    '/',
    'a/',
    '/json',
    'application/json, text/plain',
    'application/js on',
    'application/json;=',
    '"',
  ].map((type) => ({ what: `the media type ${type}`, body: '{}', type, code: 'unsupported_media_type' })),
  { what: 'another media type', body: '{}', type: 'text/plain', code: 'unsupported_media_type' },
  { what: 'a form', body: 'a=b', type: 'application/x-www-form-urlencoded', code: 'unsupported_media_type' },
  { what: 'another charset', body: '{}', type: 'application/json; charset=utf-16', code: 'unsupported_media_type' },
  { what: 'a content encoding', body: '{}', encoding: 'gzip', code: 'unsupported_media_type' },
];

/** Of each member: absent, of another kind, too long, too small, too many. */
const WRONG_MEMBERS: readonly (readonly [what: string, value: unknown])[] = [
  ['no member it has', undefined],
  ['null everywhere', null],
  ['a truth value everywhere', true],
  ['a fraction everywhere', -1.5],
  ['an empty text everywhere', ''],
  ['a list everywhere', [null]],
  ['an object everywhere', { unknwon: 1 }],
];

/** The names of the members that a schema has. */
function membersOf(schema: z.ZodType): string[] {
  const { properties, anyOf = [] } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });
  const all = [properties, ...anyOf.map((one) => (typeof one === 'object' ? one.properties : {}))];
  return [...new Set(all.flatMap((one) => Object.keys(one ?? {})))];
}

/** A person reads `detail`, and a form the message of each member. */
function assertOwnWords({ text }: RawAnswer): void {
  const { detail, errors = [] } = JSON.parse(text) as { detail: string; errors?: { message: string }[] };
  for (const words of [detail, ...errors.map(({ message }) => message)]) assert.doesNotMatch(words, ZOD_PHRASES);
  assert.match(detail, / is not valid: (?:it |`).+\.$/);
  for (const { message } of errors) assert.match(message, /^[a-z`]/);
}

for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
  const request = { method: spec.method, path: pathOf(spec) };

  if (spec.body !== undefined && 'schema' in spec.body) {
    const { limit, cleansText } = spec.body;
    for (const { what, body, type = 'application/json', encoding, code, says } of badBodies) {
      test(`${id} refuses ${what}`, async () => {
        const headers = {
          ...headersOf(spec),
          'content-type': type,
          ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        };
        const answer = await cast.send({ ...request, headers, body });
        assert.equal(problemCode(answer), code);
        if (says !== undefined && cleansText !== true) assert.match(answer.text, says);
      });
    }
    test(`${id} says in plain words what is wrong with the members of its body`, async () => {
      const { schema } = spec.body as { readonly schema: z.ZodType };
      const names = membersOf(schema);
      // As long as the limit of the whole body allows, which another refusal is for.
      const long = 'x'.repeat(Math.min(1_500, Math.floor(limit / (2 * names.length + 2))));
      for (const [what, value] of [...WRONG_MEMBERS, ['a long text everywhere', long]] as const) {
        // The last one is never right, so nothing is done even where all others fit.
        const body = { ...Object.fromEntries(names.map((name) => [name, value])), 'surely-unknown': 1 };
        const headers = { ...headersOf(spec), 'content-type': 'application/json' };
        const answer = await cast.send({ ...request, headers, body: JSON.stringify(body) });
        assert.equal(problemCode(answer), 'invalid_request', `${what}: ${answer.text}`);
        assertOwnWords(answer);
      }
    });
    test(`${id} refuses a body over its limit, said or not, without reading it all`, async () => {
      const headers = { ...headersOf(spec), 'content-type': 'application/json' };
      const said = await cast
        .send({ ...request, headers: { ...headers, 'content-length': String(limit + 1) }, body: Buffer.alloc(0) })
        .catch(() => null);
      if (said !== null) assert.equal(problemCode(said), 'payload_too_large');
      if (limit > 4 * 1024 * 1024) return;
      const answer = await cast
        .send({ ...request, headers, body: `"${'x'.repeat(limit)}"` })
        .catch((error: NodeJS.ErrnoException) => error);
      if (answer instanceof Error) assert.ok(['EPIPE', 'ECONNRESET'].includes(String(answer.code)), String(answer));
      else assert.equal(problemCode(answer), 'payload_too_large');
    });
  } else if (spec.body === undefined) {
    test(`${id} refuses a body it does not take`, async () => {
      const headers = { ...headersOf(spec), 'content-type': 'application/json' };
      assert.equal(problemCode(await cast.send({ ...request, headers, body: '{}' })), 'invalid_request');
    });
  }

  test(`${id} refuses query parameters it does not know`, async () => {
    const headers = headersOf(spec);
    if (spec.body !== undefined)
      headers['content-type'] = 'schema' in spec.body ? 'application/json' : spec.body.mediaType;
    const answer = await cast.send({ ...request, path: `${request.path}?surely-unknown=1`, headers });
    assert.equal(problemCode(answer), 'invalid_request');
  });

  if (spec.query !== undefined) {
    test(`${id} says in plain words what is wrong with its query`, async () => {
      const names = membersOf(spec.query as z.ZodType);
      for (const value of ['', '-1', 'x', '%F0%9F%98%80', 'x'.repeat(3_000)]) {
        const query = [...names.map((name) => `${name}=${value}`), 'surely-unknown=1'].join('&');
        const answer = await cast.send({ ...request, path: `${request.path}?${query}`, headers: headersOf(spec) });
        assert.equal(problemCode(answer), 'invalid_request', answer.text);
        assertOwnWords(answer);
      }
    });
    test(`${id} refuses NUL in its query`, async () => {
      const answer = await cast.send({ ...request, path: `${request.path}?q=a%00b`, headers: headersOf(spec) });
      assert.equal(problemCode(answer), 'invalid_request');
      assert.match(answer.text, UNSTORABLE);
    });
  }

  if (spec.query?.safeParse({ limit: '1' }).success === true) {
    test(`${id} refuses pages that are not pages`, async () => {
      for (const limit of ['0', '-1', '201000', '1.5', 'many', '', '1e1000', '٣']) {
        const answer = await cast.send({
          ...request,
          path: `${request.path}?limit=${encodeURIComponent(limit)}`,
          headers: headersOf(spec),
        });
        assert.equal(problemCode(answer), 'invalid_request', limit);
      }
    });
  }

  if (spec.query?.safeParse({ cursor: 'x' }).success === true) {
    test(`${id} refuses cursors that are not its own`, async () => {
      const foreign = constellation.core.context.cursors.encode('another list', 'x');
      for (const cursor of ['x', '%', 'AAAA', foreign, 'A'.repeat(500)]) {
        const answer = await cast.send({
          ...request,
          path: `${request.path}?cursor=${encodeURIComponent(cursor)}`,
          headers: headersOf(spec),
        });
        assert.equal(problemCode(answer), OF_ITS_PARENT.has(id) ? 'not_found' : 'invalid_cursor', cursor);
      }
    });
  }
}

test('tricks with paths are refused before any route sees them', async () => {
  for (const path of [
    '/v1/../v1/apps',
    '/v1/%2e%2e/apps',
    '/v1/apps%2fx',
    '/v1/apps\\x',
    '/v1/apps/%00',
    '/v1/apps/%ff',
    '/v1/apps/%zz',
    '/v1/./apps',
  ]) {
    assert.equal(problemCode(await cast.send({ path, headers: cast.credentials('session') })), 'invalid_path', path);
  }
});

test('hosts that are not ours are refused', async () => {
  for (const host of [
    'evil.example',
    '127.0.0.1',
    `localhost:${constellation.port}`,
    'shell.platform.localhost',
    `x.${new URL(constellation.origin).host}`,
    '',
  ]) {
    assert.ok(
      ['unknown_host', 'invalid_request'].includes(
        problemCode(await cast.send({ path: '/v1/health', headers: { host } })),
      ),
      host,
    );
  }
});

test('methods that nobody offers are refused', async () => {
  for (const method of ['TRACE', 'PROPFIND', 'PURGE']) {
    assert.equal(problemCode(await cast.send({ method, path: '/v1/apps' })), 'method_not_allowed', method);
  }
});

test('after all of that the database is as it was, and the log names no bug', async () => {
  const now = await rowCounts();
  // Options routes keep a challenge for each well-formed start, the malformed ones above keep none; and what is refused
  // counts against the rate of who asked. Housekeeping goes on meanwhile, and the time is noted, also that of the last
  // use of a connection.
  const changing = ['challenges', 'rate_buckets', 'periodic_tasks', 'clock_readings', 'connections'];
  const others = (rows: typeof now) =>
    Object.fromEntries(Object.entries(rows).filter(([name]) => !changing.includes(name)));
  assert.deepEqual(others(now), others(rowsBefore));
  assert.deepEqual(
    constellation.log.filter(({ level }) => level === 'error'),
    [],
  );
});
