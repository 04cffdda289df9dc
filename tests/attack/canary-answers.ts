// Answers of FAKE services that received a key with a request, for canary-services.test.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Gets the key as it arrived. */
export type Answers = (res: ServerResponse, key: string, req: IncomingMessage) => void;

const json = { 'content-type': 'application/json' };
const evil = (key: string) => `https://evil.example/?key=${encodeURIComponent(key)}#${key}`;

/** What no workload is to learn a key from. The status is what the workload sees; without one the exchange breaks off. */
export const UNTELLING: Readonly<Record<string, readonly [Answers, number | undefined]>> = {
  success: [(res) => res.writeHead(200, json).end('{"usage":{"input_tokens":1,"output_tokens":1}}'), 200],
  'a stream': [
    (res) =>
      void res
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n'),
    200,
  ],
  'a reason phrase': [(res, key) => void res.writeHead(401, `no ${key}`, json).end('{}'), 401],
  'a challenge and cookies': [
    (res, key) =>
      void res
        .writeHead(401, { ...json, 'set-cookie': [`key=${key}`, `k=${encodeURIComponent(key)}`] })
        .end('{"error":"invalid key"}'),
    401,
  ],
  'an interim answer': [
    (res, key) => {
      res.writeEarlyHints({ link: `<${evil(key)}>; rel=preload` });
      res.writeHead(200, json).end('{}');
    },
    200,
  ],
  trailers: [
    (res, key) => {
      res.writeHead(200, { ...json, trailer: 'x-key' });
      res.write('{}');
      res.addTrailers({ 'x-key': key });
      res.end();
    },
    200,
  ],
  'a status line that is none': [(_res, key, req) => void req.socket.end(`HTTP/1.1 ${key}\r\n\r\n${key}`), 502],
  'a field that is none': [(_res, key, req) => void req.socket.end(`HTTP/1.1 200 OK\r\n${key}\r\n\r\n`), 502],
  'an upgrade': [
    (_res, key, req) =>
      void req.socket.end(`HTTP/1.1 101 Switching\r\nUpgrade: ${key}\r\nConnection: upgrade\r\n\r\n${key}`),
    502,
  ],
  'a head too large': [
    (_res, key, req) => void req.socket.end(`HTTP/1.1 200 OK\r\n${`X: ${key}\r\n`.repeat(9_000)}\r\n`),
    502,
  ],
  'an answer broken off at its head': [(_res, key, req) => void req.socket.end(`HTTP/1.1 200 OK\r\nX: ${key}`), 502],
  'no answer': [(_res, _key, req) => void req.socket.destroy(), 502],
  'half an answer': [
    (res) => {
      res.writeHead(200, { ...json, 'content-length': '100' });
      res.write('{"half":', () => res.destroy());
    },
    200,
  ],
  'half a stream': [
    (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"choices":[]}\n\n', () => res.destroy());
    },
    200,
  ],
};

/** None passes. */
export const REDIRECTS: Answers = (res, key) =>
  void res
    .writeHead(302, {
      location: evil(key),
      'content-location': `/x?${encodeURIComponent(key)}`,
      refresh: `0;url=${key}`,
    })
    .end();
/** Those of an AI provider that repeat the key do not pass; a slot’s service says what it likes. */
export const FIELDS: Answers = (res, key) =>
  void res
    .writeHead(401, {
      ...json,
      'x-echo': key,
      'x-quoted': JSON.stringify({ key }),
      'www-authenticate': `Bearer ${key}`,
    })
    .end('{}');

/** Bodies pass as they are. */
export const TELLING: Readonly<Record<string, Answers>> = {
  'a refusal that quotes the key': (res, key) =>
    void res.writeHead(401, json).end(JSON.stringify({ error: { message: `Wrong key ${key}` } })),
  'a failure that quotes the key': (res, key) =>
    void res.writeHead(500, { 'content-type': 'text/html' }).end(`<p>${key}</p>`),
  'an answer of the key': (res, key) => void res.writeHead(200, json).end(JSON.stringify({ key, usage: { key } })),
  'a stream of the key': (res, key) =>
    void res
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: ${key}\ndata: ${JSON.stringify({ key })}\n\ndata: ${key}\n\n`),
  'a stream that breaks off after the key': (res, key) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${JSON.stringify({ key })}\n\ndata: ${key}`, () => res.destroy());
  },
  'a line of the key without end': (res, key) =>
    void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${key.repeat(50_000)}`),
};
