// A push service on loopback (RFC 8030) over real TLS with a certificate of its own: it verifies who sends, decrypts
// with the keys of the browsers it made, and answers what a test wants.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import 'reflect-metadata';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { type PushPayload, pushPayload } from '@platform/contract';
import { type BrowserKeys, decryptPush, newBrowserKeys, type VapidClaims, verifyVapid } from './push-crypto.ts';

export interface ReceivedPush {
  readonly payload: PushPayload;
  readonly headers: IncomingHttpHeaders;
  readonly claims: VapidClaims;
  /** Bytes on the wire. */
  readonly size: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser that subscribed: `body` is what it posts to the platform. */
export interface PushedBrowser {
  readonly body: { readonly endpoint: string; readonly keys: { readonly p256dh: string; readonly auth: string } };
  /** Every message that arrived, also those that were not answered with 201. */
  readonly received: readonly ReceivedPush[];
  /** Answers of the next requests, in this order; afterwards 201. */
  answer(...answers: Answer[]): void;
  /** Resolves when so many have arrived. @throws Error after 40 s */
  until(count: number): Promise<readonly ReceivedPush[]>;
}

export interface PushService {
  readonly origin: string;
  readonly port: number;
  /** Its certificate, PEM, and a file with it for NODE_EXTRA_CA_CERTS. */
  readonly ca: string;
  readonly caFile: string;
  /** Connections that were ever made. */
  readonly connections: number;
  /** Requests that were not what a platform may send, in words. */
  readonly faults: readonly string[];
  /** `publicKey`: the key that must have signed what comes. */
  newBrowser(publicKey?: string): PushedBrowser;
  close(): Promise<void>;
}

/** Longer than the lease of a worker that was killed. */
const WAIT_MILLISECONDS = 40_000;

interface Browser {
  readonly keys: BrowserKeys;
  readonly publicKey: string | undefined;
  readonly received: ReceivedPush[];
  readonly answers: Answer[];
}

export async function startPushService(): Promise<PushService> {
  const { cert, key } = await newPushCertificate();
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-push-'));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, cert);
  const browsers = new Map<string, Browser>();
  const faults: string[] = [];
  const arrivals = new EventTarget();
  let connections = 0;
  let origin = '';

  async function take(request: IncomingMessage): Promise<Answer> {
    const browser = browsers.get(request.url ?? '');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (browser === undefined || request.method !== 'POST') throw new Error(`${request.method} of a strange place`);
    const body = Buffer.concat(parts);
    const { headers } = request;
    const { claims, key: signedBy } = verifyVapid(headers.authorization ?? '', { origin, now: new Date() });
    if (browser.publicKey !== undefined && signedBy !== browser.publicKey)
      throw new Error('signed by another platform');
    if (headers['content-encoding'] !== 'aes128gcm') throw new Error('an encoding that is not known');
    if (!/^\d+$/.test(headers.ttl === undefined ? '' : String(headers.ttl))) throw new Error('no TTL');
    if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(String(headers.topic))) throw new Error('a wrong topic');
    const payload = pushPayload.parse(JSON.parse(decryptPush(body, browser.keys).toString('utf8')));
    browser.received.push({ payload, headers, claims, size: body.length });
    return browser.answers.shift() ?? { status: 201 };
  }

  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    void take(request)
      .catch((error: unknown): Answer => {
        faults.push(error instanceof Error ? error.message : String(error));
        return { status: 400 };
      })
      .then(({ status, headers }) => {
        response.writeHead(status, { ...headers });
        response.end();
        arrivals.dispatchEvent(new Event('request'));
      });
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `https://127.0.0.1:${port}`;

  return {
    origin,
    port,
    ca: cert,
    caFile,
    faults,
    get connections() {
      return connections;
    },
    newBrowser(publicKey) {
      const keys = newBrowserKeys();
      const place = `/push/${browsers.size}-${keys.auth}`;
      const browser: Browser = { keys, publicKey, received: [], answers: [] };
      browsers.set(place, browser);
      return {
        body: { endpoint: origin + place, keys: { p256dh: keys.p256dh, auth: keys.auth } },
        received: browser.received,
        answer: (...answers) => void browser.answers.push(...answers),
        async until(count) {
          const limit = AbortSignal.timeout(WAIT_MILLISECONDS);
          while (browser.received.length < count) {
            if (limit.aborted) throw new Error(`${browser.received.length} of ${count} arrived; ${faults.join(', ')}`);
            await Promise.race([once(arrivals, 'request'), once(limit, 'abort')]);
          }
          return browser.received;
        },
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A certificate for loopback that is its own authority, with its key, PEM. */
export async function newPushCertificate(): Promise<{ cert: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=push service of a test',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'push.example.net' },
      ]),
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  };
}
