// What the measured server says of itself, and how the measuring side publishes to it and listens.
import http from 'node:http';
import { type EventReader, openEvents } from '../../tests/support/event-reader.ts';
import { type BenchCore, post } from '../post.ts';

export interface BenchAccount {
  readonly cookie: string;
  /** Core service credential of its app. */
  readonly credential: string;
}

export interface BenchServer extends BenchCore {
  readonly accounts: readonly BenchAccount[];
}

export const PUBLISH = '/v1/services/notifications';

/** A message as apps send them: 200 characters of text. */
export function messageOf(title: string): string {
  return JSON.stringify({ topic: 'news', title, body: 'x'.repeat(200), priority: 'normal' });
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** @throws Error for an answer other than 201 */
export async function publish(server: BenchServer, { credential }: BenchAccount, title: string): Promise<void> {
  await post(server, { credential, path: PUBLISH, body: messageOf(title), expected: 201 }, agent);
}

export async function listen({ port, host }: BenchServer, account: BenchAccount): Promise<EventReader> {
  const stream = await openEvents({ port, path: '/v1/events', headers: { host, cookie: account.cookie } });
  if (stream.status !== 200) throw new Error(`a stream was answered ${stream.status}`);
  return stream;
}
