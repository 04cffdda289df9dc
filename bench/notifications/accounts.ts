// What the measured server says of itself, and how the measuring side publishes to it and listens.
import http from 'node:http';
import { type EventReader, openEvents } from '../../tests/support/event-reader.ts';

export interface BenchAccount {
  readonly cookie: string;
  /** Core service credential of its app. */
  readonly credential: string;
}

export interface BenchServer {
  readonly port: number;
  readonly host: string;
  readonly accounts: readonly BenchAccount[];
}

export const PUBLISH = '/v1/services/notifications';

/** A message as apps send them: 200 characters of text. */
export function messageOf(title: string): string {
  return JSON.stringify({ topic: 'news', title, body: 'x'.repeat(200), priority: 'normal' });
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** @throws Error for an answer other than 201 */
export function publish({ port, host }: BenchServer, account: BenchAccount, title: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${account.credential}`, 'content-type': 'application/json' };
    const request = http.request({ host: '127.0.0.1', port, path: PUBLISH, method: 'POST', headers, agent });
    request.once('error', reject).once('response', (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 201) resolve();
        else reject(new Error(`a publish was answered ${response.statusCode}`));
      });
    });
    request.end(messageOf(title));
  });
}

export async function listen({ port, host }: BenchServer, account: BenchAccount): Promise<EventReader> {
  const stream = await openEvents({ port, path: '/v1/events', headers: { host, cookie: account.cookie } });
  if (stream.status !== 200) throw new Error(`a stream was answered ${stream.status}`);
  return stream;
}
