// A FAKE AI provider for tests: it speaks both dialects over TLS on loopback, with the stream shapes that OpenAI and
// Anthropic document, and does what the name of the model says. It counts what it reports, as a provider would for its
// bill.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { certificateFor } from './tls-front.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface ScriptedProvider {
  /** `https://localhost:<port>`. */
  readonly origin: string;
  /** The certificate, PEM, for processes that are started with `NODE_EXTRA_CA_CERTS`. */
  readonly cert: string;
  readonly seen: SeenRequest[];
  /** Tokens of the answers that were sent to their end. */
  readonly billed: { inputTokens: number; outputTokens: number; requests: number };
  /** Answers that are held until this is called. */
  release(): void;
  /** Exchanges that its client broke off. */
  aborted(): number;
  close(): Promise<void>;
}

/** Each answer has five words, a token each. */
const WORDS = ['Hello', ' from', ' the', ' scripted', ' provider'];
const INPUT_TOKENS = 11;
const OUTPUT_TOKENS = WORDS.length;

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const { key, cert } = await certificateFor(['localhost']);
  setDefaultCACertificates([...getCACertificates('default'), cert]);
  const seen: SeenRequest[] = [];
  const billed = { inputTokens: 0, outputTokens: 0, requests: 0 };
  let aborted = 0;
  let released = Promise.withResolvers<void>();

  function bill(outputTokens = OUTPUT_TOKENS): void {
    billed.requests += 1;
    billed.inputTokens += INPUT_TOKENS;
    billed.outputTokens += outputTokens;
  }

  const server = createServer({ key, cert }, (req, res) => {
    res.on('close', () => {
      if (!res.writableFinished) aborted += 1;
    });
    answer(req, res).catch(() => res.destroy());
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part);
    const body = Buffer.concat(parts);
    const path = req.url ?? '';
    seen.push({ method: req.method ?? '', path, headers: req.headers, body });
    const asked = /json/.test(req.headers['content-type'] ?? '') ? JSON.parse(body.toString()) : {};
    const model = String(asked.model ?? '');
    res.setHeader('x-request-id', `req-of-provider-${seen.length}`);
    res.setHeader('set-cookie', '__cf_bm=of-the-provider');
    res.setHeader('x-ratelimit-remaining-tokens', '1234');
    const isAnthropic = path.includes('messages');
    if (!path.startsWith('/v1/')) return refuse(res, 404, isAnthropic);
    const status = /^[345]\d\d$/.test(model) ? Number(model) : 200;
    if (status >= 300 && status < 400) res.setHeader('location', '/v1/services/outbound/any/thing');
    if (status !== 200) return refuse(res, status, isAnthropic);
    if (model === 'hang') {
      await released.promise;
      return void res.destroy();
    }
    if (model === 'echo') res.setHeader('x-echo', `${req.headers.authorization}${req.headers['x-api-key'] ?? ''}`);
    if (req.method === 'GET' && /\/models$/.test(path.split('?')[0] ?? '')) {
      const data = ['small', 'large', 'gpt-1'].map((id) => ({ id, object: 'model' }));
      if (req.headers.range !== undefined) res.statusCode = 206;
      return json(res, { object: 'list', data });
    }
    if (/count_tokens/.test(path)) return json(res, { input_tokens: INPUT_TOKENS });
    if (/audio\/transcriptions/.test(path)) {
      bill();
      return json(res, { text: WORDS.join(''), usage: tokens('input_tokens', 'output_tokens') });
    }
    if (/embeddings/.test(path)) {
      bill(0);
      return json(res, {
        object: 'list',
        model,
        data: [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }],
        usage: { prompt_tokens: INPUT_TOKENS, total_tokens: INPUT_TOKENS },
      });
    }
    if (/responses/.test(path)) return asked.stream === true ? streamResponse(res, model) : wholeResponse(res, model);
    const last = asked.messages?.at(-1);
    // Once it has the result, the model named after tools writes text only.
    const calls = model === 'tools' && last?.role !== 'tool' && last?.content?.[0]?.type !== 'tool_result';
    if (isAnthropic) return asked.stream === true ? streamMessage(res, model, calls) : wholeMessage(res, model);
    if (asked.stream === true)
      return streamChat(res, { model, withUsage: asked.stream_options?.include_usage === true, calls });
    return wholeChat(res, model);
  }

  function tokens(input: string, output: string): Record<string, number> {
    return { [input]: INPUT_TOKENS, [output]: OUTPUT_TOKENS, total_tokens: INPUT_TOKENS + OUTPUT_TOKENS };
  }

  /** What the models named so report instead. */
  function reported(model: string, usage: Record<string, unknown>): Record<string, unknown> | undefined {
    if (model === 'no-usage') return undefined;
    const bad = { negative: -5, absurd: 1e300, fraction: 1.5, text: '9' }[model];
    return bad === undefined ? usage : Object.fromEntries(Object.keys(usage).map((name) => [name, bad]));
  }

  function wholeChat(res: ServerResponse, model: string): void {
    bill();
    json(res, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: WORDS.join('') }, finish_reason: 'stop' }],
      usage: reported(model, tokens('prompt_tokens', 'completion_tokens')),
    });
  }

  async function streamChat(
    res: ServerResponse,
    { model, withUsage, calls }: { readonly model: string; readonly withUsage: boolean; readonly calls: boolean },
  ): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
    const usage = withUsage ? { usage: null } : {};
    const send = (data: object) => res.write(`data: ${JSON.stringify(data)}\n\n`);
    if (model === 'long-line') {
      res.write('data: ');
      for (let mebibytes = 0; mebibytes < 100; mebibytes += 1)
        if (!res.write(Buffer.alloc(1024 * 1024, 'x'))) await once(res, 'drain');
      return void res.end();
    }
    for (const [index, content] of WORDS.entries()) {
      const delta = index === 0 ? { role: 'assistant', content } : { content };
      send({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }], ...usage });
      if (index === 1 && model === 'half') {
        // What was written leaves first.
        await delay(20);
        return void res.destroy();
      }
      if (index === 1 && model === 'slow') await released.promise;
      if (index === 1 && model === 'error-inside') {
        send({ error: { message: 'The server had an error.', type: 'server_error', code: null } });
        return void res.end();
      }
      await delay(2);
    }
    if (calls) {
      const call = { index: 0, id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } };
      send({ ...chunk, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }], ...usage });
    }
    send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }], ...usage });
    if (withUsage) {
      bill();
      const last = reported(model, tokens('prompt_tokens', 'completion_tokens'));
      if (last !== undefined) send({ ...chunk, choices: [], usage: last });
    }
    res.end('data: [DONE]\n\n');
  }

  function responseOf(model: string, status: string): Record<string, unknown> {
    const content = [{ type: 'output_text', text: WORDS.join(''), annotations: [] }];
    return {
      id: 'resp-1',
      object: 'response',
      created_at: 1,
      status,
      model,
      output: status === 'completed' ? [{ id: 'msg-1', type: 'message', role: 'assistant', status, content }] : [],
      usage: status === 'completed' ? reported(model, tokens('input_tokens', 'output_tokens')) : null,
    };
  }

  function wholeResponse(res: ServerResponse, model: string): void {
    bill();
    json(res, responseOf(model, 'completed'));
  }

  async function streamResponse(res: ServerResponse, model: string): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const send = (type: string, data: object) =>
      res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    send('response.created', { response: responseOf(model, 'in_progress') });
    const [item] = responseOf(model, 'completed').output as [{ readonly content: readonly [object] }];
    const [part] = item.content;
    const at = { item_id: 'msg-1', output_index: 0, content_index: 0 };
    send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } });
    send('response.content_part.added', { ...at, part: { ...part, text: '' } });
    for (const delta of WORDS) send('response.output_text.delta', { ...at, delta });
    send('response.output_text.done', { ...at, text: WORDS.join('') });
    send('response.content_part.done', { ...at, part });
    send('response.output_item.done', { output_index: 0, item });
    bill();
    send('response.completed', { response: responseOf(model, 'completed') });
    res.end();
  }

  function wholeMessage(res: ServerResponse, model: string): void {
    bill();
    json(res, {
      id: 'msg-1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: WORDS.join('') }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: reported(model, cached({ output_tokens: OUTPUT_TOKENS })),
    });
  }

  function cached(more: object): Record<string, number> {
    return { input_tokens: INPUT_TOKENS - 4, cache_creation_input_tokens: 1, cache_read_input_tokens: 3, ...more };
  }

  async function streamMessage(res: ServerResponse, model: string, calls: boolean): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const send = (type: string, data: object) =>
      res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const message = { id: 'msg-1', type: 'message', role: 'assistant', model, content: [], stop_reason: null };
    send('message_start', { message: { ...message, usage: cached({ output_tokens: 1 }) } });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    send('ping', {});
    for (const [index, text] of WORDS.entries()) {
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
      if (index === 1 && model === 'half') {
        // What was written leaves first.
        await delay(20);
        return void res.destroy();
      }
      if (index === 1 && model === 'slow') await released.promise;
      if (index === 1 && model === 'error-inside') {
        send('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
        return void res.end();
      }
      await delay(2);
    }
    send('content_block_stop', { index: 0 });
    if (calls) {
      const call = { type: 'tool_use', id: 'toolu-1', name: 'look', input: {} };
      send('content_block_start', { index: 1, content_block: call });
      for (const partial_json of ['{"at":', '"it"}'])
        send('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json } });
      send('content_block_stop', { index: 1 });
    }
    bill();
    send('message_delta', {
      delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: OUTPUT_TOKENS },
    });
    send('message_stop', {});
    res.end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    origin: `https://localhost:${port}`,
    cert,
    seen,
    billed,
    release() {
      released.resolve();
      released = Promise.withResolvers();
    },
    aborted: () => aborted,
    async close() {
      released.resolve();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function json(res: ServerResponse, body: unknown): void {
  res.writeHead(res.statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(res: ServerResponse, status: number, isAnthropic: boolean): void {
  const error = { type: status === 529 ? 'overloaded_error' : 'api_error', message: `scripted ${status}` };
  if (status === 429) res.setHeader('retry-after', '7');
  res
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify(isAnthropic ? { type: 'error', error } : { error: { ...error, param: null, code: null } }));
}
