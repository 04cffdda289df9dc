// Every request vector and every path vector, byte for byte over a connection, against one front of the platform: one
// test for each. A front with a recording handler behind it is judged by what arrived there as well.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hidesDotSegment } from '@platform/contract';
import { openRaw, type RawAnswer, type RawConnection, type RawTarget } from './raw-exchange.ts';
import { headerValues, type RecordedRequest } from './recording-upstream.ts';

export interface Front {
  readonly to: RawTarget;
  /** The `Host` that it serves, in place of `gw.example.test`. */
  readonly host: string;
  /** What precedes the targets of the path vectors, and fields of their requests. Default: nothing. */
  readonly prefix?: string;
  readonly fields?: readonly string[];
  /** Whether this is how it answers a request that is in order; any other answer is a refusal. */
  readonly isServed: (answer: RawAnswer) => boolean;
  /** Takes what arrived behind it since the last call. */
  readonly takeArrived: () => readonly RecordedRequest[];
  /** It answers requests in order itself, so that nothing at all may arrive. Default: every one arrives. */
  readonly answersItself?: boolean;
  /** The `Host` under which it passes requests on; absent where it is the end of their way. */
  readonly carriesTo?: string;
}

/** What the vectors do not know of one front, each with the reason that specification, contract or an RFC gives. */
export interface Narrowing {
  /** Accepted by their vector and refused here. Each is still run. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Refused by their vector for their size and taken here. Each is still run. */
  readonly served?: Readonly<Record<string, string>>;
}

type Expected = 'reject' | 'accept-one' | 'accept-n' | 'accept-then-reject' | 'incomplete' | 'either';

interface VectorFile {
  readonly cases: readonly {
    readonly name: string;
    readonly raw: string;
    readonly rawWithHost?: string;
    readonly expected: Expected;
    readonly expectedServer?: Expected;
    readonly expectedWithHost?: Expected;
    readonly count?: number;
  }[];
}

export interface Case {
  readonly name: string;
  readonly raw: string;
  readonly expected: Expected;
  readonly count: number;
}

const VECTOR_HOST = 'gw.example.test';

/** The rules of the platform that are stricter than those of the vectors, on every front. */
const REFUSED: Readonly<Record<string, string>> = {
  'connection.md:84': 'no Host: contract 1 asks for one in HTTP/1.0 as well',
  'content-length.md:264': 'no Host: contract 1 asks for one in HTTP/1.0 as well',
  'method.md:138': 'asterisk form names no resource (RFC 9112 3.2.4 has it for OPTIONS alone)',
  'uri.md:55': 'absolute form of another host: contract 1 takes it for the own host only',
  'uri.md:78': 'absolute form of another host: contract 1 takes it for the own host only',
  'uri.md:128': 'absolute form of another host: contract 1 takes it for the own host only',
  'uri.md:225': 'absolute form of another host, with userinfo, which RFC 9110 4.2.4 has refused',
  'transfer-encoding.md:754': 'the deflate transfer coding is not implemented: RFC 9112 6.1 has it refused',
  'transfer-encoding.md:796': 'the deflate transfer coding is not implemented: RFC 9112 6.1 has it refused',
};

/** `mustHold` of the vectors, as checks on what arrived. */
const MUST_HOLD: Readonly<Record<string, (request: RecordedRequest) => void>> = {
  'cl/two-identical': ({ body }) => assert.equal(body, 'abc'),
  'cl/leading-zeros-octal-trap': ({ body }) => assert.equal(body, '0123456789'),
  'cl/get-with-body': ({ body }) => assert.equal(body.length, 49),
  'te/valid-upper': ({ body }) => assert.equal(body, 'abc'),
  'te/value-leading-comma': ({ body }) => assert.equal(body, 'abc'),
  'te/valid-ows': ({ body }) => assert.equal(body, 'abc'),
  'te/underscore-name-cl': (request) => {
    assert.equal(request.body, '3\r\nabc\r\n0\r\n\r\n');
    assert.deepEqual(headerValues(request, 'transfer-encoding'), []);
  },
  'chunk/size-trailing-space': ({ body }) => assert.equal(body, 'abc'),
  'chunk/valid-ext-token': ({ body }) => assert.equal(body, 'abc'),
  'chunk/valid-upper-hex': ({ body }) => assert.equal(body, '0123456789'),
  'chunk/valid-data-looks-like-request': ({ body }) => assert.equal(body.length, 49),
  'chunk/trailer-forbidden-cookie': (request) => assert.deepEqual(headerValues(request, 'cookie'), []),
  'field/obs-text-latin1': (request) => assert.deepEqual(headerValues(request, 'x'), ['caf\u00e9']),
  'line/method-lower': ({ method }) => assert.equal(method, 'get'),
  'line/double-slash': ({ url }) => assert.equal(url, '//evil.example/x'),
  'line/absolute-upper': ({ url }) => assert.equal(url, '/x'),
  'hygiene/method-override': ({ method }) => assert.equal(method, 'GET'),
};

const NEVER_CARRIED = [
  ...['cookie', 'keep-alive', 'x-real-ip', 'forwarded', 'x-forwarded-for', 'upgrade', 'te', 'trailer'],
  ...['transfer_encoding', 'content_length', 'proxy-authorization'],
];

/** Beside the files: sizes of chunks that overflow or lose digits in a number of 53, 63 or 64 bits. */
const LARGE_CHUNKS: readonly Case[] = (
  [
    ['20000000000003', 'incomplete'],
    ['8000000000000003', 'incomplete'],
    ['10000000000000000', 'reject'],
    ['10000000000000003', 'reject'],
  ] as const
).map(([size, expected]) => ({
  name: `chunk/size-0x${size}`,
  raw: `POST /p HTTP/1.1\r\nHost: ${VECTOR_HOST}\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\nabc\r\n0\r\n\r\n`,
  expected,
  count: 1,
}));

/** Cases whose last head is in order and whose body is not: who answers at the head has answered them. */
const FAULTY_BODY =
  /^(?:chunk\/|pipe\/bad-chunk|hygiene\/ws-upgrade-with-body|pipelining\.md:7$|content-length\.md:(?:293|320)$|transfer-encoding\.md:(?:9|241|369|427|880|914|1187)$)/;

function vectorsOf(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../test-vectors/${file}`, import.meta.url), 'utf8'));
}

function readCases(file: string): Case[] {
  const { cases } = vectorsOf(file) as VectorFile;
  return cases.flatMap((item) => {
    const count = item.count ?? 1;
    const name = item.name.replace(/^request\//, '');
    const raw = latin1(item.raw);
    const found: Case[] = [{ name, raw, count, expected: item.expectedServer ?? item.expected }];
    if (item.expectedWithHost === undefined) return found;
    const named =
      item.rawWithHost === undefined
        ? raw.replaceAll(' HTTP/1.1\r\n', ` HTTP/1.1\r\nHost: ${VECTOR_HOST}\r\n`)
        : latin1(item.rawWithHost);
    return [...found, { name: `${name} (with Host)`, raw: named, count, expected: item.expectedWithHost }];
  });
}

function latin1(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1');
}

/** Every request vector, as bytes of Latin-1. */
export const requestCases: readonly Case[] = [
  ...readCases('http-request-cases.json'),
  ...readCases('http-request-llhttp.json'),
  ...LARGE_CHUNKS,
];

/** Every request vector under this host, byte for byte: for tests of what its bytes do behind other requests. */
export function requestVectorsUnder(host: string): { readonly name: string; readonly raw: string }[] {
  return requestCases.map((item) => ({ name: item.name, raw: underHost(item, host) }));
}

/** The key of a case in {@link Narrowing}: its name, for those of llhttp without their title. */
const keyOf = ({ name }: Case): string => name.split(' ', 1)[0] ?? '';

/** Registers a test for each request vector. `front` is called when they run. */
export function testRequestVectors(
  name: string,
  front: () => Front,
  { refused = {}, served = {} }: Narrowing = {},
): void {
  const narrowed = { ...REFUSED, ...refused };
  test(`${name}: each exception from a request vector names a vector`, () => {
    const known = new Set([...requestCases.map(keyOf), ...requestCases.map((item) => item.name)]);
    for (const key of [...Object.keys(narrowed), ...Object.keys(served), ...Object.keys(MUST_HOLD)])
      assert.ok(known.has(key), key);
  });
  for (const vector of requestCases) {
    const larger = served[keyOf(vector)];
    const reason = narrowed[keyOf(vector)] ?? larger;
    const differing = larger === undefined ? 'reject' : 'accept-one';
    const expected = reason === undefined ? vector.expected : differing;
    test(`${name}: ${vector.name} is ${expected}${reason === undefined ? '' : `, since ${reason}`}`, async () => {
      await run({ ...vector, expected }, front());
    });
  }
}

async function run(item: Case, front: Front): Promise<void> {
  front.takeArrived();
  const connection = await openRaw(front.to, Buffer.from(underHost(item, front.host), 'latin1'));
  if (item.expected.startsWith('accept')) await connection.until(() => connection.answers().length >= item.count);
  else await roundTrip(front);
  connection.halfClose();
  await connection.closed();
  const arrived = front.takeArrived().filter(({ url }) => !url.endsWith('/settled'));
  judgeAnswers(item, connection, front);
  if (front.answersItself === true) assert.deepEqual(arrived, []);
  else judgeArrived(item, arrived, front);
}

/**
 * The bytes with the host of the front. Heads only: bodies keep their lengths. Accepted cases of llhttp name hosts of
 * their own.
 */
export function underHost({ name, raw, expected, count }: Case, host: string): string {
  if (name.includes('.md:') && expected.startsWith('accept'))
    return raw.replace(/\r\nhost: *[^\r\n]*/gi, `\r\nHost: ${host}`);
  const pipelined = count > 1 || name.startsWith('pipe/');
  return raw.replace(new RegExp(VECTOR_HOST.replaceAll('.', '\\.'), pipelined ? 'gi' : 'i'), host);
}

/** One request of its own, after which the front has looked at everything that was sent before, and its upstream too. */
async function roundTrip({ to, host, isServed, answersItself = false }: Front): Promise<void> {
  // One for another host costs nothing of what a Gateway counts against its workload.
  const target = answersItself ? 'other.invalid' : host;
  const connection = await openRaw(to, `GET /settled HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`);
  await connection.closed();
  const [answer] = connection.answers();
  assert.ok(answer !== undefined && (answersItself ? answer.status === 421 : isServed(answer)), connection.received());
}

function judgeAnswers(item: Case, connection: RawConnection, { isServed, answersItself = false }: Front): void {
  const { expected, count } = item;
  const answers = connection.answers();
  const served = answers.map((answer) => isServed(answer));
  const note = `${expected}, got ${connection.received().slice(0, 600)}`;
  assert.ok(
    answers.every(({ status }) => status < 500),
    note,
  );
  if (expected === 'either') return;
  const before = expected.startsWith('accept') ? count : 0;
  // An answer given at the head may end the connection rather than read the body away.
  const isEnded = answersItself && /\r\nconnection: close/i.test(answers.at(-1)?.head ?? '');
  if (!isEnded || answers.length === 0) assert.ok(answers.length >= before, note);
  // Behind the last message in order comes one answer at most, a refusal, and with it the end.
  assert.ok(answers.length <= before + 1, note);
  const isAnsweredAtHead = answersItself && FAULTY_BODY.test(keyOf(item));
  for (const [index, isIt] of served.entries()) assert.ok(index < before ? isIt : !isIt || isAnsweredAtHead, note);
}

function judgeArrived(item: Case, arrived: readonly RecordedRequest[], { carriesTo }: Front): void {
  const note = `${item.expected}, arrived: ${JSON.stringify(arrived).slice(0, 600)}`;
  if (item.expected === 'either') assert.ok(arrived.length <= 2, note);
  else assert.equal(arrived.length, item.expected.startsWith('accept') ? item.count : 0, note);
  for (const request of arrived) {
    MUST_HOLD[item.name]?.(request);
    if (carriesTo === undefined) continue;
    assert.deepEqual(headerValues(request, 'host'), [carriesTo], note);
    for (const field of NEVER_CARRIED) assert.deepEqual(headerValues(request, field), [], `${field}: ${note}`);
    const framing = ['content-length', 'transfer-encoding'].flatMap((field) => headerValues(request, field));
    assert.ok(framing.length <= 1, note);
  }
}

export interface PathCase {
  readonly name: string;
  readonly class: string;
  readonly target: string;
}

export const { cases: pathCases } = vectorsOf('paths.json') as { readonly cases: readonly PathCase[] };
const INVALID = new Set(['encoded-slash', 'overlong-utf8', 'bad-percent', 'nul', 'control']);
const CLIMBING = new Set(['dot-segments', 'encoded-dots', 'backslash']);
const CLIMBS = /(^|[/\\])(\.|%2e){1,2}([/\\?]|$)|\\|%5c/i;

/** Registers a test for each path vector: it arrives exactly as it was sent, or is refused as `invalid_path`. */
export function testPathVectors(name: string, front: () => Front): void {
  for (const item of pathCases) {
    const mustFail = INVALID.has(item.class) || (CLIMBING.has(item.class) && CLIMBS.test(item.target));
    test(`${name}: the path ${item.name} ${mustFail ? 'is refused' : 'arrives as it is or is refused'}`, async () => {
      const { to, host, prefix = '', fields = [], isServed, takeArrived } = front();
      takeArrived();
      const target = prefix + item.target;
      const head = [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...fields];
      const connection = await openRaw(to, `${head.join('\r\n')}\r\n\r\n`);
      await connection.closed();
      const [answer, ...more] = connection.answers();
      assert.ok(answer !== undefined && more.length === 0, connection.received());
      const isIn = isServed(answer);
      if (mustFail) assert.equal(isIn, false, connection.received());
      // Public routes refuse what some server could read as a climbing path like one that is not open.
      if (!isIn && hidesDotSegment(item.target) && answer.status === 404)
        assert.match(answer.body, /"code":"not_found"/);
      else if (!isIn) {
        assert.equal(answer.status, 400, connection.received());
        assert.match(answer.body, /"code":"invalid_(path|request)"/);
      }
      assert.deepEqual(
        takeArrived().map(({ url }) => url),
        isIn ? [target] : [],
      );
    });
  }
}
