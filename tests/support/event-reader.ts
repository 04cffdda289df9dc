// A reader of live event streams (text/event-stream) over HTTP, as a browser or an SDK would be.
import http from 'node:http';

export interface ReceivedEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

export interface EventReaderOptions {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface EventReader {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly events: readonly ReceivedEvent[];
  /** Comments seen. */
  readonly comments: readonly string[];
  /** What to resume with. */
  readonly lastEventId: string | undefined;
  /** Resolves as soon as the condition holds, looked at after every piece that arrives. */
  until(condition: (reader: EventReader) => boolean): Promise<void>;
  /** Resolves when the stream has ended, by whomever. */
  readonly ended: Promise<void>;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream; for another status than 200 the body is read to its end first. */
export function openEvents({ port, path, headers }: EventReaderOptions): Promise<EventReader> {
  const { promise, resolve, reject } = Promise.withResolvers<EventReader>();
  const request = http.request({ host: '127.0.0.1', port, path, headers, agent: false });
  request.on('error', reject);
  request.on('response', (response) => {
    const events: ReceivedEvent[] = [];
    const comments: string[] = [];
    const waiting = new Set<() => void>();
    const ended = Promise.withResolvers<void>();
    let rest = '';
    let over = false;
    let lastEventId: string | undefined;
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('close', () => {
      over = true;
      ended.resolve();
      for (const look of waiting) look();
    });
    response.on('data', (piece: string) => {
      const blocks = (rest + piece).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => /^([^:]*):? ?(.*)$/.exec(line)?.slice(1) ?? ['', '']);
        const value = (name: string) => fields.find(([field]) => field === name)?.[1];
        const [id, event, data, comment] = [value('id'), value('event'), value('data'), value('')];
        if (comment !== undefined && comment !== '') comments.push(comment);
        lastEventId = id ?? lastEventId;
        if (data !== undefined) events.push({ event: event ?? 'message', data: JSON.parse(data), id });
      }
      for (const look of waiting) look();
    });
    const reader: EventReader = {
      status: response.statusCode ?? 0,
      headers: response.headers,
      events,
      comments,
      get lastEventId() {
        return lastEventId;
      },
      until(condition) {
        return new Promise((done, fail) => {
          const look = () => {
            const holds = condition(reader);
            if (!holds && !over) return;
            waiting.delete(look);
            if (holds) done();
            else fail(new Error(`the stream ended first, after ${JSON.stringify(events).slice(0, 500)}`));
          };
          waiting.add(look);
          look();
        });
      },
      ended: ended.promise,
      pause: () => void response.pause(),
      resume: () => void response.resume(),
      close: () => void request.destroy(),
    };
    if (reader.status === 200) resolve(reader);
    else ended.promise.then(() => resolve(reader));
  });
  request.end();
  return promise;
}
