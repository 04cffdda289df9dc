// What the measured server says of itself, and how the measuring side writes to it and waits for news.
import http from 'node:http';
import type { MessagingNews } from '@platform/contract';

export interface BenchWriter {
  /** Core service credential of its app. */
  readonly credential: string;
  readonly conversationId: string;
  /** The place of the one it writes to, in the list of all. */
  readonly other: number;
}

export interface BenchServer {
  readonly port: number;
  readonly host: string;
  readonly writers: readonly BenchWriter[];
}

const BASE = '/v1/services/messaging';
const agent = new http.Agent({ keepAlive: true });

/** @throws Error for an answer of another status */
function call(server: BenchServer, writer: BenchWriter, path: string, body: object, expected: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port, host } = server;
    const headers = { host, authorization: `Bearer ${writer.credential}`, 'content-type': 'application/json' };
    const request = http.request({ host: '127.0.0.1', port, path: BASE + path, method: 'POST', headers, agent });
    request.once('error', reject).once('response', (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece;
        })
        .once('end', () => {
          if (response.statusCode === expected) resolve(text);
          else reject(new Error(`${path} was answered ${response.statusCode}: ${text}`));
        });
    });
    request.end(JSON.stringify(body));
  });
}

let transactions = 0;

/** A message as people write them: 80 characters. */
export async function send(server: BenchServer, writer: BenchWriter, title: string): Promise<void> {
  transactions += 1;
  const body = { transactionId: `${process.pid}-${transactions}`, message: { body: title.padEnd(80, '.') } };
  await call(server, writer, `/conversations/${writer.conversationId}/messages`, body, 201);
}

export async function sync(
  server: BenchServer,
  writer: BenchWriter,
  cursor?: string,
  timeoutMs = 0,
): Promise<MessagingNews> {
  const body = cursor === undefined ? {} : { cursor, timeoutMs, limit: 100 };
  return JSON.parse(await call(server, writer, '/sync', body, 200)) as MessagingNews;
}
