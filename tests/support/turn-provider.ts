// A FAKE AI provider for tests: on loopback, of the OpenAI dialect, it plays what a test says that the model does. No model is
// behind it.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface AskedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

/** What the model was asked. */
export interface Asked {
  readonly model: string;
  readonly messages: readonly AskedMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
}

/** What it does. */
export interface Played {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: object }[];
  /** In place of an answer. */
  readonly status?: number;
  /** Between the first half of the text and the second. */
  readonly hold?: Promise<unknown>;
  /** Default: 100. */
  readonly tokens?: number;
}

export interface TurnProvider {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  readonly asked: readonly Asked[];
  /** From now on. */
  play(player: (asked: Asked) => Played): void;
  close(): Promise<void>;
}

export async function startTurnProvider(): Promise<TurnProvider> {
  const asked: Asked[] = [];
  let player: (asked: Asked) => Played = () => ({ text: 'Nothing is played.' });

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: ['embed-1', 'scripted'].map((id) => ({ id })) }));
      return;
    }
    const { model, messages, tools = [] } = JSON.parse(body.toString());
    const one = { model, messages, tools: tools.map((tool: { function: object }) => tool.function) };
    asked.push(one);
    await answer(response, model, player(one));
  });

  async function answer(response: ServerResponse, model: string, played: Played): Promise<void> {
    const { text = '', calls = [], status, hold, tokens = 100 } = played;
    if (status !== undefined) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'The scripted model fails.', type: 'server_error', code: null } }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({
          ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, ...more },
          choices: [{ index: 0, delta, finish_reason: finish }],
        })}\n\n`,
      );
    const half = Math.ceil(text.length / 2);
    if (text !== '') send({ role: 'assistant', content: text.slice(0, half) });
    await hold;
    if (text.length > half) send({ content: text.slice(half) });
    for (const [index, { name, arguments: args }] of calls.entries())
      send({
        tool_calls: [
          {
            index,
            id: `call-${asked.length}-${index}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(args) },
          },
        ],
      });
    send({}, calls.length > 0 ? 'tool_calls' : 'stop');
    const usage = { prompt_tokens: tokens - 10, completion_tokens: 10, total_tokens: tokens };
    response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', model, choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    play(next) {
      player = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
