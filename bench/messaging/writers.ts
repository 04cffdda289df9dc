// What the measured server says of itself, and how the measuring side writes to it and waits for news.
import http from 'node:http';
import type { MessagingNews } from '@platform/contract';
import { type BenchCore, post } from '../post.ts';

export interface BenchWriter {
  /** Core service credential of its app. */
  readonly credential: string;
  readonly conversationId: string;
  /** The place of the one it writes to, in the list of all. */
  readonly other: number;
}

export interface BenchServer extends BenchCore {
  /** Says at `/` how many statements core has sent to its database, at `/held` how many bytes it holds. */
  readonly statePort: number;
  readonly writers: readonly BenchWriter[];
}

const BASE = '/v1/services/messaging';
const agent = new http.Agent({ keepAlive: true });

let transactions = 0;

/** A message as people write them: 80 characters. */
export async function send(server: BenchServer, writer: BenchWriter, title: string): Promise<void> {
  transactions += 1;
  const body = JSON.stringify({
    transactionId: `${process.pid}-${transactions}`,
    message: { body: title.padEnd(80, '.') },
  });
  const path = `${BASE}/conversations/${writer.conversationId}/messages`;
  await post(server, { credential: writer.credential, path, body, expected: 201 }, agent);
}

export async function sync(
  server: BenchServer,
  writer: BenchWriter,
  cursor?: string,
  timeoutMs = 0,
): Promise<MessagingNews> {
  const body = JSON.stringify(cursor === undefined ? {} : { cursor, timeoutMs, limit: 100 });
  const asked = { credential: writer.credential, path: `${BASE}/sync`, body, expected: 200 };
  return JSON.parse(await post(server, asked, agent)) as MessagingNews;
}

/** That core has sent to its database so far. */
export async function statementsOf({ statePort }: BenchServer): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${statePort}/`)).text());
}

/** Bytes of its heap and buffers, without what requests left behind. */
export async function heldBy({ statePort }: BenchServer): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${statePort}/held`)).text());
}
