// A backend that serves resources, prompts and questions by hand, in every wrong way.
import { createServer, type ServerResponse } from 'node:http';
import { QUESTIONS } from './hostile-questions.ts';

const cached = { ttlMs: 0, cacheScope: 'private' };
const WORDS = 'word\u202e '.repeat(2_000);

const resources: readonly unknown[] = [
  ...['', 'no-scheme', 'a b:c', 'evil://a b', 'evil://ä', 'evil://\u202ex', `evil://${'x'.repeat(3_000)}`].map(
    (uri) => ({
      uri,
      name: 'x',
    }),
  ),
  ...[null, 7, 'evil://text', {}, { uri: 'evil://nameless' }, { uri: 'evil://number', name: 7 }, { name: 'x' }],
  { uri: 'evil://twice', name: 'one' },
  { uri: 'evil://twice', name: 'other' },
  {
    ...{ uri: 'evil://lies', name: 'li\u202ees', title: 'T'.repeat(500), description: WORDS },
    ...{ mimeType: 'text/html\r\nx: y', size: -1, annotations: { audience: ['everybody'], priority: 7 } },
    ...{ icons: [{ src: 'http://169.254.169.254/' }], _meta: { 'platform/app': { id: 'platform' }, other: 1 } },
  },
  ...['fine', 'none', 'huge', 'garbage', 'silent', 'error', 'asks'].map((name) => ({ uri: `evil://${name}`, name })),
];
const templates: readonly unknown[] = [
  { uriTemplate: 'evil://{id}', name: 'by id' },
  { uriTemplate: 'no scheme {id}', name: 'x' },
  { uriTemplate: 'evil://{other}' },
];
const prompts: readonly unknown[] = [
  ...['', 'a b', 'ä', 'x'.repeat(129), 'line\nbreak'].map((name) => ({ name })),
  ...[null, 7, { name: 7 }, { name: 'twice' }, { name: 'twice', title: 'x' }],
  { name: 'no-list', arguments: 'a' },
  { name: 'many', arguments: Array.from({ length: 65 }, (_, at) => ({ name: `a${at}` })) },
  { name: 'bad-argument', arguments: [{ name: 'a b' }] },
  { name: 'talks', description: WORDS, arguments: [{ name: 'a', description: WORDS, required: 'yes' }], icons: [{}] },
  { name: 'no-messages' },
];

type Answer = (response: ServerResponse, id: unknown) => void;

function result(response: ServerResponse, id: unknown, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...value } }));
}

function refusal(response: ServerResponse, id: unknown, error: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
}

const contents = (text: string, more: object = {}) => ({
  contents: [{ uri: 'evil://fine', text, ...more }],
  ...cached,
});

const reads: Readonly<Record<string, Answer>> = {
  'evil://fine': (response, id) =>
    result(
      response,
      id,
      contents('fine', { _meta: { 'platform/app': 1, own: 1 }, icons: [{ src: 'http://127.0.0.1/' }] }),
    ),
  'evil://none': (response, id) => result(response, id, {}),
  'evil://huge': (response, id) => result(response, id, contents('x'.repeat(5 * 1_024 * 1_024))),
  'evil://garbage': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
  'evil://silent': () => undefined,
  'evil://error': (response, id) =>
    refusal(response, id, { code: -32_000, message: 'No.\u202e', data: { uri: 'https://evil.example/', secret: 1 } }),
  'evil://asks': (response, id) =>
    result(response, id, { resultType: 'input_required', ...QUESTIONS['url-elsewhere']?.result, requestState: 'mine' }),
};
const gets: Readonly<Record<string, Answer>> = {
  talks: (response, id) =>
    result(response, id, {
      description: WORDS,
      messages: [
        { role: 'user', content: { type: 'text', text: 'hello', _meta: { 'platform/app': 1 } } },
        {
          role: 'user',
          content: { type: 'resource_link', uri: 'evil://fine', name: 'x', icons: [{ src: 'http://127.0.0.1/' }] },
        },
      ],
    }),
  'no-messages': (response, id) => result(response, id, { messages: 'none' }),
};
const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {}, experimental: { 'platform/x': {} } };

const methods: Readonly<Record<string, (response: ServerResponse, id: unknown, params: Params) => void>> = {
  'server/discover': (response, id) =>
    result(response, id, {
      ...{ capabilities, serverInfo: { name: 'hostile', version: '1' }, supportedVersions: ['2026-07-28'] },
      ...cached,
    }),
  'tools/list': (response, id) =>
    result(response, id, {
      tools: [...Object.keys(QUESTIONS), 'stateful'].map((name) => ({ name, inputSchema: { type: 'object' } })),
      ...cached,
    }),
  'resources/list': (response, id, { cursor }) =>
    result(response, id, { resources: cursor === undefined ? resources : [], nextCursor: 'again', ...cached }),
  'resources/templates/list': (response, id) => result(response, id, { resourceTemplates: templates, ...cached }),
  'prompts/list': (response, id) => result(response, id, { prompts, ...cached }),
  'resources/read': (response, id, { uri = '' }) => reads[uri]?.(response, id),
  'prompts/get': (response, id, { name = '' }) => gets[name]?.(response, id),
  'completion/complete': (response, id) =>
    result(response, id, { completion: { values: Array.from({ length: 50 }, () => WORDS), total: 50 } }),
  'tools/call'(response, id, { name = '', requestState }) {
    if (name !== 'stateful') return result(response, id, { resultType: 'input_required', ...QUESTIONS[name]?.result });
    if (requestState !== undefined) return result(response, id, { content: [{ type: 'text', text: requestState }] });
    return result(response, id, { resultType: 'input_required', requestState: 'mine' });
  },
};

interface Params {
  readonly name?: string;
  readonly uri?: string;
  readonly cursor?: string;
  readonly requestState?: string;
}

createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => {
    body += piece;
  });
  request.on('end', () => {
    const { id, method, params = {} } = JSON.parse(body || '{}');
    const serve = methods[method];
    if (serve === undefined) response.writeHead(202).end();
    else serve(response, id, params);
  });
}).listen(Number(process.env.PORT));
