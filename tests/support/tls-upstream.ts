// An outside service on loopback over real TLS, with a certificate of its own, that keeps what it was sent.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { newPushCertificate } from './push-service.ts';

export interface ArrivedRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
}

export interface TlsUpstream {
  readonly origin: string;
  readonly port: number;
  /** Its certificate, PEM, and a file with it. */
  readonly ca: string;
  readonly caFile: string;
  readonly arrived: ArrivedRequest[];
  /** What it does with a request whose body has arrived. Default: 200 and a short JSON document. */
  answer: (req: IncomingMessage, res: ServerResponse, request: ArrivedRequest) => void;
  /** Set: takes each request at its head, in place of `answer`. */
  takeHead: ((req: IncomingMessage, res: ServerResponse) => void) | null;
  /** Connections made so far. */
  connections(): number;
  close(): Promise<void>;
}

export async function startTlsUpstream(): Promise<TlsUpstream> {
  const { cert, key } = await newPushCertificate();
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-upstream-'));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, cert);
  const arrived: ArrivedRequest[] = [];
  const numbers = new WeakMap<object, number>();
  let connections = 0;
  const server = createServer({ cert, key, keepAliveTimeout: 60_000, maxHeaderSize: 128 * 1024 }, async (req, res) => {
    if (upstream.takeHead !== null) {
      upstream.takeHead(req, res);
      return;
    }
    const parts: Buffer[] = [];
    try {
      for await (const part of req) parts.push(part as Buffer);
    } catch {
      return; // The Gateway broke the request off, as some cases want it: nothing arrived.
    }
    const request = {
      method: req.method ?? '',
      target: req.url ?? '',
      rawHeaders: req.rawHeaders,
      body: Buffer.concat(parts).toString('latin1'),
      connection: numbers.get(req.socket) ?? 0,
    };
    arrived.push(request);
    upstream.answer(req, res, request);
  });
  server.on('secureConnection', (socket) => {
    connections += 1;
    numbers.set(socket, connections);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream: TlsUpstream = {
    origin: `https://127.0.0.1:${port}`,
    port,
    ca: cert,
    caFile,
    arrived,
    answer: answerInBrief,
    takeHead: null,
    connections: () => connections,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
  return upstream;
}

export const answerInBrief: TlsUpstream['answer'] = (_req, res) =>
  void res.setHeader('content-type', 'application/json').end('{"ok":true}');
