// One AI call to a Gateway, as a workload without any client would make it.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { IntelligenceApp } from './intelligence-world.ts';

export const CHAT = '/v1/services/intelligence/openai/chat/completions';
export const MESSAGES = '/v1/services/intelligence/anthropic/v1/messages';

export interface AskModel {
  /** Default: a chat of the `openai` dialect. */
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export interface ModelAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** It did not arrive whole. */
  readonly cut: boolean;
}

/** @throws Error of the connection when no answer begins */
export function askModel(
  { port, token }: Pick<IntelligenceApp, 'port' | 'token'>,
  { path = CHAT, method = 'POST', headers = {}, body }: AskModel,
): Promise<ModelAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      ...{ host: '127.0.0.1', port, method, path, agent: false },
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        // Node says it of POST by itself, and of GET it would send a body without saying so.
        ...(body === undefined || headers['transfer-encoding'] !== undefined
          ? {}
          : { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', () => undefined);
      response.on('close', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(parts).toString(),
          cut: !response.complete,
        }),
      );
    });
    request.end(body);
  });
}
