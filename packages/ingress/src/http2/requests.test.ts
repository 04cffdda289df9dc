// A request over HTTP/2 means what it means over HTTP/1.1, to the handler and to whoever refuses it; what HTTP/2 alone
// could say, it cannot say here.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { hasBody, type IncomingRequest, readBody } from '@platform/http';
import { FLAGS, FRAMES, frame, headersFrame, openRawHttp2 } from '../../test-support/http2-frames.ts';
import { answerOf, ask, HOST, openFrontUnderTest } from '../../test-support/tls-front-under-test.ts';

/** What a handler sees. */
async function seen({ req, head, path, query, expectsContinue, res }: IncomingRequest): Promise<unknown> {
  if (expectsContinue) res.writeContinue();
  const body = hasBody(req) ? await readBody(req, { limit: 1_000_000, milliseconds: 10_000 }) : Buffer.alloc(0);
  const { forwarded, ...rest } = head;
  const fields = forwarded.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
  return { method: req.method, url: req.url, path, query, ...rest, fields, body: body.toString('latin1') };
}

const answerSeen = (incoming: IncomingRequest) => {
  void seen(incoming).then((what) => incoming.res.end(JSON.stringify(what)));
  return null;
};

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly fields?: readonly (readonly [string, string])[];
  readonly body?: string;
  /** Over HTTP/2 the length is left out, over HTTP/1.1 the body is chunked. */
  readonly unknownLength?: true;
}

const same: Readonly<Record<string, Asked>> = {
  'a plain request': {},
  'a query': { path: '/a/b?c=%20d&e' },
  'a body of known length': { method: 'POST', body: 'text', fields: [['content-type', 'text/plain']] },
  'an empty body of known length': { method: 'POST', fields: [['content-length', '0']] },
  'a body of unknown length': { method: 'PUT', body: 'x'.repeat(100_000), unknownLength: true },
  'a body behind 100 Continue': { method: 'POST', body: 'text', fields: [['expect', '100-continue']] },
  'credentials, cookies, and what only proxies may say': {
    fields: [
      ['authorization', 'Bearer x'],
      ['cookie', 'a=b'],
      ['cookie', 'c=d'],
      ['x-forwarded-for', '192.0.2.1'],
      ['forwarded', 'for=192.0.2.1'],
      ['platform-client-address', '192.0.2.1'],
      ['te', 'trailers'],
      ['x-kept', 'one'],
      ['x-kept', 'two'],
    ],
  },
  'bytes beyond ASCII': { fields: [['x-name', 'J\u00fcrgen']] },
  HEAD: { method: 'HEAD' },
  'an encoded slash in the path': { path: '/a%2fb' },
  'dot segments': { path: '/a/../b' },
  'a path of another form': { path: '//a' },
  'a backslash': { path: '/a\\b' },
  'a fragment': { path: '/a#b' },
  'a method that is refused': { method: 'TRACE' },
  'an unknown method': { method: 'BREW' },
  'an expectation that cannot be met': { fields: [['expect', 'everything']] },
  'too many fields': { fields: Array.from({ length: 101 }, (_, index) => [`x-${index}`, ''] as const) },
  'a port that is none': { fields: [['host', `${HOST}:port`]] },
};

for (const [what, asked] of Object.entries(same)) {
  test(`it means the same: ${what}`, async (t) => {
    const under = await openFrontUnderTest(t, { onRequest: answerSeen });
    const { method = 'GET', path = '/', fields = [], body, unknownLength } = asked;
    const host = fields.find(([name]) => name === 'host')?.[1] ?? HOST;
    const others = fields.filter(([name]) => name !== 'host');
    const framing: (readonly [string, string])[] =
      body === undefined || unknownLength ? [] : [['content-length', String(body.length)]];

    const socket = under.tls({ ALPNProtocols: ['http/1.1'] });
    const lines = [['host', host], ...others, ...framing, ...(unknownLength ? [['transfer-encoding', 'chunked']] : [])];
    const sent = unknownLength ? `${body?.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : (body ?? '');
    socket.write(
      Buffer.from(
        `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}connection: close\r\n\r\n${sent}`,
        'latin1',
      ),
    );
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    await once(socket, 'close');
    const [, status, rest] =
      /(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d+) .*?\r\n\r\n([\s\S]*)$/s.exec(text) ?? [];

    const session = await under.http2();
    const http2Fields: Record<string, string | string[]> = {};
    for (const [name, value] of [...others, ...framing])
      http2Fields[name] = name in http2Fields ? [http2Fields[name] ?? [], value].flat() : value;
    const stream = session.request(
      { ':method': method, ':path': path, ':authority': host, ...http2Fields },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    const answer = await answerOf(stream);

    assert.equal(answer.status, Number(status), text);
    const http1Body = Buffer.from(rest ?? '', 'latin1')
      .toString()
      .replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, '');
    const codeOf = (body: string) => (body === '' ? '' : JSON.parse(body).code);
    if (answer.status === 200) assert.equal(answer.body, http1Body);
    else assert.equal(codeOf(answer.body), codeOf(http1Body));
    assert.deepEqual(under.faults, []);
  });
}

test('cookies are one field, as many as browsers hold for a site: pages of other apps may have set them', async (t) => {
  const under = await openFrontUnderTest(t, { onRequest: answerSeen });
  const cookie = Array.from({ length: 180 }, (_, index) => `c${index}=x`);
  assert.equal((await ask(await under.http2(), { cookie })).status, 200);
});

const PROTOCOL_ERROR = 1;
const base = (path = '/'): (readonly [string, string])[] => [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', path],
  [':authority', HOST],
];
const withField = (name: string, value: string) => [...base(), [name, value] as const];
const changed = (name: string, value: string) =>
  base().map((field) => (field[0] === name ? ([name, value] as const) : field));

/** Nothing of these reaches a handler: the stream or the connection ends, or 400. */
const tricks: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'two :authority': [...base(), [':authority', 'b.example.org']],
  'two :path': [...base(), [':path', '/b']],
  'two :method': [...base(), [':method', 'POST']],
  'a pseudo-field behind others': [...base().slice(0, 3), ['x-a', 'b'], [':authority', HOST]],
  'an unknown pseudo-field': withField(':version', 'HTTP/1.1'),
  'the pseudo-field of answers': withField(':status', '200'),
  'the pseudo-field of other protocols': [...changed(':method', 'CONNECT'), [':protocol', 'websocket']],
  'no :path': base().filter(([name]) => name !== ':path'),
  'no :scheme': base().filter(([name]) => name !== ':scheme'),
  'no :method': base().filter(([name]) => name !== ':method'),
  'an empty :path': changed(':path', ''),
  'a :path in absolute form': changed(':path', `http://${HOST}/`),
  'a :path with a space': changed(':path', '/a b'),
  'a :path with a line': changed(':path', '/ HTTP/1.1\r\nx: y'),
  'a :path of an asterisk': changed(':path', '*'),
  'a :method with a line': changed(':method', 'GET / HTTP/1.1\r\nx: y\r\n\r\nGET'),
  'a :method in lower case': changed(':method', 'get'),
  'an :authority with user information': changed(':authority', `user@${HOST}`),
  'an :authority with a line': changed(':authority', `${HOST}\r\nx: y`),
  'an :authority with a path': changed(':authority', `${HOST}/x`),
  'an empty :authority': changed(':authority', ''),
  'no :authority and no Host': base().filter(([name]) => name !== ':authority'),
  'no :authority and two Host': [...base().slice(0, 3), ['host', HOST], ['host', 'b.example.org']],
  'a Host that differs': withField('host', 'b.example.org'),
  'two Host that agree with :authority and one that differs': [...withField('host', HOST), ['host', 'b.example.org']],
  'the scheme http': changed(':scheme', 'http'),
  'another scheme, with a path in absolute form': [
    ...changed(':scheme', 'ftp').filter(([name]) => name !== ':path'),
    [':path', `http://${HOST}/`],
  ],
  'a name in upper case': withField('X-A', 'b'),
  Connection: withField('connection', 'x-a'),
  'Keep-Alive': withField('keep-alive', '1'),
  'Proxy-Connection': withField('proxy-connection', 'close'),
  'Transfer-Encoding': withField('transfer-encoding', 'chunked'),
  Upgrade: withField('upgrade', 'websocket'),
  'TE with more than trailers': withField('te', 'gzip'),
  'two Content-Length': [...withField('content-length', '0'), ['content-length', '1']],
  'a Content-Length that is none': withField('content-length', '1x'),
  'a Content-Length without its body': withField('content-length', '5'),
};

for (const [what, fields] of Object.entries(tricks)) {
  test(`no handler sees ${what}`, async (t) => {
    let handled = 0;
    const onRequest = ({ res }: IncomingRequest) => {
      handled += 1;
      res.end();
      return null;
    };
    const under = await openFrontUnderTest(t, { onRequest });
    const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
    raw.send(headersFrame(1, fields));
    const outcome = await raw.outcome(1);
    assert.ok(outcome === 'head' || outcome === PROTOCOL_ERROR || outcome === null, String(outcome));
    assert.equal(handled, 0);
    assert.deepEqual(under.faults, []);
    raw.socket.destroy();
    // And the front goes on.
    assert.equal((await ask(await under.http2())).status, 200);
  });
}

/** nghttp2 drops such a field and keeps the rest, so there is nothing left to be read in two ways. */
const dropped: Readonly<Record<string, readonly [string, string]>> = {
  'a name with a colon': ['a:b', 'c'],
  'a name with a space': ['a b', 'c'],
  'a name with a line': ['a\r\nb', 'c'],
  'an empty name': ['', 'c'],
  'a value with a line': ['a', 'b\r\nx: y'],
  'a value with a zero': ['a', 'b\u0000c'],
  'a value that begins with a space': ['a', ' b'],
};
for (const [what, [name, value]] of Object.entries(dropped)) {
  test(`nothing is left of a field that is none: ${what}`, async (t) => {
    const fields: string[][] = [];
    const onRequest = ({ req, res }: IncomingRequest) => {
      fields.push(req.rawHeaders);
      res.end();
      return null;
    };
    const under = await openFrontUnderTest(t, { onRequest });
    const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
    raw.send(headersFrame(1, withField(name, value)));
    assert.equal(await raw.outcome(1), 'head');
    assert.deepEqual(fields, [['host', HOST]]);
    raw.socket.destroy();
  });
}

test('Host alone, and Host beside an equal :authority, are one host', async (t) => {
  const under = await openFrontUnderTest(t, { onRequest: answerSeen });
  const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
  raw.send(
    headersFrame(1, [...base().slice(0, 3), ['host', HOST]]),
    headersFrame(3, withField('host', HOST.toUpperCase())),
  );
  assert.equal(await raw.outcome(1), 'head');
  assert.equal(await raw.outcome(3), 'head');
  raw.socket.destroy();
});

test('a body that is longer or shorter than its Content-Length ends the stream, and is no whole body to its reader', async (t) => {
  const ends: string[] = [];
  const under = await openFrontUnderTest(t, {
    onRequest: (incoming) => {
      seen(incoming).then(
        () => ends.push('whole'),
        () => ends.push('broken'),
      );
      return null;
    },
  });
  for (const body of ['1234', '123456']) {
    const raw = await openRawHttp2(under.tls({ ALPNProtocols: ['h2'] }));
    raw.send(
      headersFrame(1, [...changed(':method', 'POST'), ['content-length', '5']], FLAGS.endHeaders),
      frame(FRAMES.data, FLAGS.endStream, 1, Buffer.from(body)),
    );
    const outcome = await raw.outcome(1);
    assert.ok(outcome === PROTOCOL_ERROR || outcome === null, String(outcome));
    raw.socket.destroy();
  }
  while (ends.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ends, ['broken', 'broken']);
});
