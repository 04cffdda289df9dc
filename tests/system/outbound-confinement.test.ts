// Outbound calls stay on their slot's origin and below its path, with the secret and nothing else: every case is a request
// of a workload, byte for byte, through a real Gateway and a real core, judged by what arrives at a real upstream.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { secretSlot } from '@platform/contract';
import { createDialer } from '@platform/http';
import { openRaw, type RawAnswer } from '../../packages/http/test-support/raw-exchange.ts';
import {
  GATEWAY_CREDENTIAL,
  type Inject,
  type OutboundWorld,
  SECRET,
  startOutboundWorld,
} from '../support/outbound-world.ts';
import type { ArrivedRequest } from '../support/tls-upstream.ts';

interface Case {
  readonly name: string;
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly inject?: Inject;
  readonly arrives?: string;
  readonly drops?: string;
  readonly passes?: readonly [string, string];
  readonly status?: number;
  readonly code?: string;
  readonly refused?: true;
}

function casesOf<One>(file: URL): readonly One[] {
  return JSON.parse(readFileSync(file, 'utf8')).cases;
}

let world: OutboundWorld;
before(async () => {
  world = await startOutboundWorld();
});
after(() => world.close());

const host = () => `127.0.0.1:${world.port}`;
const filled = (text: string) =>
  text
    .replaceAll('{host}', host())
    .replaceAll('{credential}', GATEWAY_CREDENTIAL)
    .replaceAll('{secret}', encodeURIComponent(SECRET));

/** Sends exactly these bytes and ends; returns the answers, and what arrived at the upstream. */
async function exchange(bytes: string): Promise<{ answers: RawAnswer[]; arrived: ArrivedRequest[]; received: string }> {
  world.upstream.arrived.length = 0;
  const connection = await openRaw(world.port, Buffer.from(bytes, 'latin1'));
  await connection.until(() => connection.answers().length > 0);
  connection.halfClose();
  await connection.closed();
  return {
    answers: connection.answers(),
    arrived: [...world.upstream.arrived],
    received: connection.received(),
  };
}

function valuesOf({ rawHeaders }: ArrivedRequest, name: string): string[] {
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name.toLowerCase(),
  );
}

/** What holds for whatever arrives there, however it was sent. */
function assertConfined(request: ArrivedRequest, inject: Inject, below: string): void {
  const note = JSON.stringify(request);
  const { pathname, host: to } = new URL(request.target, world.upstream.origin);
  assert.equal(to, new URL(world.upstream.origin).host, note);
  assert.ok(pathname === below || pathname.startsWith(below.endsWith('/') ? below : `${below}/`), note);
  assert.deepEqual(valuesOf(request, 'host'), [new URL(world.upstream.origin).host], note);
  const authorization = inject === undefined ? [`Bearer ${SECRET}`] : [];
  assert.deepEqual(valuesOf(request, 'authorization'), authorization, note);
  assert.deepEqual(valuesOf(request, 'cookie'), [], note);
  if (inject?.in === 'header') assert.deepEqual(valuesOf(request, inject.name), [SECRET], note);
  if (inject?.in === 'query') {
    assert.deepEqual(new URL(request.target, world.upstream.origin).searchParams.getAll(inject.name), [SECRET], note);
  } else assert.ok(!request.target.includes(encodeURIComponent(SECRET)), note);
  for (const name of ['te', 'trailer', 'upgrade', 'proxy-authorization', 'x-forwarded-host', 'x-http-method-override'])
    assert.deepEqual(valuesOf(request, name), [], `${name}: ${note}`);
  assert.ok(['content-length', 'transfer-encoding'].flatMap((name) => valuesOf(request, name)).length <= 1, note);
  assert.ok(!note.includes(GATEWAY_CREDENTIAL), 'the credential of the workload stays here');
  assert.ok(!note.includes(world.app.credential), 'and so does the one of core');
}

const PREFIXES: Readonly<Record<string, string>> = { root: '/', slash: '/base/' };

describe('authored cases', () => {
  let bound: string | undefined;
  const cases = casesOf<Case>(new URL('../../packages/gateway/test-vectors/outbound-cases.json', import.meta.url));
  test('there are more than 200', () => assert.ok(cases.length > 200, String(cases.length)));
  for (const item of cases) {
    test(item.name, async () => {
      const inject = JSON.stringify(item.inject);
      if (inject !== bound) await world.bind('base', item.inject);
      bound = inject;
      const target = filled(item.target);
      const fields = (item.headers ?? []).map(([name, value]) => `${name}: ${filled(value)}\r\n`).join('');
      const { answers, arrived, received } = await exchange(
        `${item.method ?? 'GET'} ${target} HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer ${GATEWAY_CREDENTIAL}\r\n${fields}\r\n`,
      );
      assert.ok(!received.includes(SECRET) && !received.includes(encodeURIComponent(SECRET)));
      const [answer] = answers;
      if (item.arrives === undefined) {
        assert.deepEqual(arrived, [], received);
        if (item.refused === true) assert.ok(answer === undefined || answer.status >= 400, received);
        else {
          assert.equal(answer?.status, item.status, received);
          // The answer to HEAD has no body.
          if (item.method !== 'HEAD') assert.equal(JSON.parse(answer?.body ?? '').code, item.code, received);
        }
        return;
      }
      assert.equal(answer?.status, 200, received);
      const [request, ...more] = arrived;
      assert.ok(request !== undefined && more.length === 0, received);
      assert.equal(request.target, filled(item.arrives));
      assert.equal(request.method, item.method ?? 'GET');
      const slot = /\/outbound\/([a-z]+)/.exec(item.target)?.[1] ?? '';
      assertConfined(request, item.inject, PREFIXES[slot] ?? '/base');
      if (item.drops !== undefined) assert.deepEqual(valuesOf(request, item.drops), []);
      if (item.passes !== undefined) assert.deepEqual(valuesOf(request, item.passes[0]), [item.passes[1]]);
    });
  }
  after(() => world.bind('base'));
});

describe('path vectors below a slot', () => {
  for (const item of casesOf<{ name: string; target: string }>(
    new URL('../../packages/contract/test-vectors/paths.json', import.meta.url),
  )) {
    test(item.name, async () => {
      const { answers, arrived, received } = await exchange(
        `GET /v1/services/outbound/base${item.target} HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer ${GATEWAY_CREDENTIAL}\r\nConnection: close\r\n\r\n`,
      );
      if (answers[0]?.status === 200) {
        assert.equal(arrived.length, 1);
        for (const request of arrived) {
          assertConfined(request, undefined, '/base');
          assert.equal(request.target, `/base/${item.target.replace(/^\/+/, '')}`.replace(/^\/base\/$/, '/base'));
        }
      } else {
        assert.deepEqual(arrived, [], received);
        assert.match(received, /"code":"(invalid_path|invalid_request|head_too_large|not_found)"/);
      }
    });
  }
});

describe('request vectors to a slot', () => {
  for (const item of casesOf<{ name: string; raw: string; expected: string }>(
    new URL('../../packages/http/test-vectors/http-request-cases.json', import.meta.url),
  )) {
    test(item.name, async () => {
      const raw = Buffer.from(item.raw, 'base64')
        .toString('latin1')
        .replaceAll('gw.example.test', host())
        .replace(/^([A-Z]+) \/[^ \r\n]* HTTP\/1\.1\r\n/, (_line, method) => {
          const fields = `Authorization: Bearer ${GATEWAY_CREDENTIAL}\r\n`;
          return `${method} /v1/services/outbound/base/x HTTP/1.1\r\n${fields}`;
        });
      world.upstream.arrived.length = 0;
      const connection = await openRaw(world.port, Buffer.from(raw, 'latin1'));
      connection.halfClose();
      await connection.closed();
      for (const request of world.upstream.arrived) assertConfined(request, undefined, '/base');
      if (item.expected === 'reject') assert.deepEqual(world.upstream.arrived, [], connection.received());
      assert.ok(world.upstream.arrived.length <= 1, 'what is behind the first request has no credential');
      assert.ok(!connection.received().includes(SECRET));
    });
  }
});

describe('addresses of the operator’s network', () => {
  /** What a name of a vector resolves to. */
  interface SsrfCase {
    readonly name: string;
    readonly input: string;
    readonly expected: string;
    readonly class: string;
    readonly dns?: readonly { readonly A?: readonly string[]; readonly AAAA?: readonly string[] }[];
  }
  for (const item of casesOf<SsrfCase>(new URL('../../packages/contract/test-vectors/ssrf.json', import.meta.url))) {
    // An allow-list, schemes and redirects are not the business of addresses.
    if (item.expected !== 'refuse' || ['allow-list', 'redirect', 'port'].includes(item.class)) continue;
    test(`no connection is made for ${item.name}: ${item.input}`, async () => {
      const url = item.input.replace(/^http:/i, 'https:');
      const origin = URL.canParse(url) ? new URL(url).origin : url;
      const declared = secretSlot.safeParse({ name: 's', origin, pathPrefix: '/', methods: ['GET'] });
      if (!declared.success) return;
      const opened: string[] = [];
      const dialer = createDialer({
        resolve: async () => item.dns?.flatMap(({ A = [], AAAA = [] }) => [...A, ...AAAA]) ?? ['127.0.0.1'],
        open({ host: address }) {
          opened.push(address);
          throw new Error('a connection was made');
        },
      });
      const { hostname, port } = new URL(origin);
      await assert.rejects(
        dialer.connect({ host: hostname, port: Number(port || 443), allow: [world.upstream.origin] }),
        { name: 'BlockedAddressError' },
      );
      assert.deepEqual(opened, []);
    });
  }
});
