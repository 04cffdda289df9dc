// A handler, and an HTTP server around it, that answers everything and keeps what it was sent.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface RecordingUpstream {
  readonly port: number;
  readonly origin: string;
  /** Requests received to their last byte. */
  readonly complete: RecordedRequest[];
  /** Empties `complete`. */
  take(): RecordedRequest[];
  /** Requests whose head arrived, complete or not. */
  begun(): number;
  close(): Promise<void>;
}

type Answer = (req: IncomingMessage, res: ServerResponse, body: string) => void;

const answerInBrief: Answer = (_req, res) => {
  res.setHeader('content-type', 'application/json').end('{"ok":true}');
};

export interface Recorder {
  /** Requests received to their last byte. */
  readonly complete: RecordedRequest[];
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  /** Empties `complete`. */
  take(): RecordedRequest[];
}

/** Reads every request to its end, keeps it, and answers then. */
export function record(answer: Answer = answerInBrief): Recorder {
  const complete: RecordedRequest[] = [];
  return {
    complete,
    take: () => complete.splice(0),
    handle(req, res) {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      const finish = (): void => {
        const body = Buffer.concat(chunks).toString('latin1');
        complete.push({ method: req.method ?? '', url: req.url ?? '', rawHeaders: req.rawHeaders, body });
        answer(req, res, body);
      };
      // The strict server closes requests without a body before a handler sees them.
      if (req.readableEnded) finish();
      else req.on('end', finish);
    },
  };
}

/** Listens on a free port of 127.0.0.1, or on `at`. */
export async function startRecordingUpstream(
  answer: Answer = answerInBrief,
  at: { readonly path: string } | { readonly port: number; readonly host: string } = { port: 0, host: '127.0.0.1' },
): Promise<RecordingUpstream> {
  let begun = 0;
  const { complete, take, handle } = record(answer);
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (req, res) => {
    begun += 1;
    handle(req, res);
  });
  server.listen(at);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    complete,
    take,
    begun: () => begun,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function headerValues(request: RecordedRequest, name: string): string[] {
  return request.rawHeaders.filter(
    (_value, index) => index % 2 === 1 && request.rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

/** The one request that was received. */
export function onlyRequest({ complete }: RecordingUpstream): RecordedRequest {
  assert.equal(complete.length, 1);
  const [request] = complete;
  assert.ok(request !== undefined);
  return request;
}
