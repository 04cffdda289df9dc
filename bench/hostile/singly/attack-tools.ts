// What attacks are made of: connections into which bytes are poured, requests that are made again and again, and attacks from
// within a sandbox. Counts what each was answered.
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import type { BackendDoor } from '../../../tests/support/backend.ts';
import { rawRequest } from '../../../tests/support/raw-http.ts';

type Fields = Readonly<Record<string, string>>;

export interface Asking {
  readonly port: number;
  readonly path: string;
  readonly headers: Fields;
}

export interface Pouring {
  readonly port: number;
  readonly line: string;
  readonly headers: Fields;
  /** Chunks of one byte, without end. */
  readonly body: boolean;
  /** Whether the answer is read. Default: true. */
  readonly reads?: boolean;
  readonly localAddress?: string;
}

/** Each says first how many there are at a time. */
export interface AttackTools {
  pour(times: number, pouring: Pouring): void;
  ask(times: number, asking: Asking): void;
  /** Has the backend of the attacker begin one of its attacks. */
  begin(attack: string, door: BackendDoor): void;
  /** Resolves when the attacks from within are over. @returns how often it was answered what */
  ended(): Promise<Readonly<Record<string, number>>>;
}

const ONE_BYTE = Buffer.from('1\r\n \r\n'.repeat(16_384));

export function attackTools(seconds: number): AttackTools {
  const counts: Record<string, number> = {};
  const within: Promise<void>[] = [];
  const count = (answer: string, times = 1): void => {
    counts[answer] = (counts[answer] ?? 0) + times;
  };
  const loops = (times: number, act: () => Promise<string>): void => {
    for (let one = 0; one < times; one += 1) void loop(act, count);
  };
  return {
    pour: (times, pouring) => loops(times, () => pourOnce(pouring)),
    ask: (times, asking) => loops(times, () => askOnce(asking)),
    begin(attack, { port, path, headers }) {
      const query = new URLSearchParams({ attack, seconds: String(seconds) });
      const begun = rawRequest({ port, path: `${path}/begin?${query}`, headers }).then(
        ({ status, text }) => {
          if (status !== 200) count(`the attack itself: ${status}`);
          else for (const [answer, times] of Object.entries(JSON.parse(text))) count(answer, Number(times));
        },
        (cause: Error) => count(`the attack itself: ${cause.message}`),
      );
      within.push(begun);
    },
    async ended() {
      await Promise.all(within);
      return counts;
    },
  };
}

/** One that gets no answer waits a little, so as not to measure the attacker alone. */
async function loop(act: () => Promise<string>, count: (answer: string) => void): Promise<never> {
  for (;;) {
    const answer = await act();
    count(answer);
    if (answer === 'cut') await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function pourOnce({ port, line, headers, body, reads = true, localAddress }: Pouring): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ host: '127.0.0.1', port, ...(localAddress !== undefined && { localAddress }) }, () => {
    socket.write(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`);
    if (body) flood(socket);
  });
  let answer = 'cut';
  socket.once('data', (bytes: Buffer) => {
    answer = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? answer;
    if (reads) socket.resume();
    else socket.pause();
  });
  socket.on('error', () => undefined).on('close', () => resolve(answer));
  return promise;
}

function flood(socket: Socket): void {
  const write = (): void => {
    while (socket.writable && socket.write(ONE_BYTE));
  };
  socket.on('drain', write);
  write();
}

function askOnce({ port, path, headers }: Asking): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const request = http.get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
    answer.on('error', () => resolve('cut')).on('end', () => resolve(String(answer.statusCode)));
    answer.resume();
  });
  request.on('error', () => resolve('cut'));
  return promise;
}
