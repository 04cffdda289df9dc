// Requests of the doctor along the public path: to an address that was looked up before, under a name that need not be its.
import http from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';

/** Where requests go, and under which name. */
export interface Way {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  /** For `Host` and the certificate, without port. */
  readonly name: string;
}

/** @returns where a way leads, as in URLs */
export function placeOf({ address, port }: Pick<Way, 'address' | 'port'>): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

const TIMEOUT_MILLISECONDS = 10_000;
const MOST_BYTES = 64 * 1024;

/** @throws Error when there is no answer, with the reason */
export async function ask(way: Way, path: string, headers: http.OutgoingHttpHeaders = {}): Promise<Answer> {
  const response = await answerOf(send(way, path, headers));
  let text = '';
  for await (const piece of response.setEncoding('utf8')) {
    text += piece;
    if (text.length > MOST_BYTES) response.destroy();
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** @returns the pieces of an answer as they arrive @throws Error when there is no answer */
export async function* askForPieces(way: Way, path: string): AsyncGenerator<string> {
  const response = await answerOf(send(way, path, { 'accept-encoding': 'identity' }));
  if (response.statusCode !== 200) throw new Error(`the answer is ${response.statusCode}`);
  for await (const piece of response.setEncoding('utf8')) yield String(piece);
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'ZG9jdG9yIG9mIHBsYXRmbw==',
};

/** @returns the first bytes that came over the WebSocket, as text @throws Error when the upgrade does not pass */
export function askForWebSocket(way: Way, path: string): Promise<string> {
  const request = send(way, path, UPGRADE);
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.destroy();
      reject(new Error(`the upgrade is answered with ${response.statusCode}`));
    });
    request.on('upgrade', (_response, socket, first) => {
      let received = first.toString('latin1');
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString('latin1');
        if (received.length > MOST_BYTES) socket.destroy();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
      socket.on('end', () => socket.destroy());
    });
  });
}

function send({ scheme, address, port, name }: Way, path: string, headers: http.OutgoingHttpHeaders) {
  const usual = scheme === 'https' ? 443 : 80;
  const options: https.RequestOptions = {
    host: address,
    port,
    path,
    headers: { host: port === usual ? name : `${name}:${port}`, ...headers },
    agent: false,
    // Certificates are judged by themselves (certificate.ts), and none keeps the rest of the path from being looked at.
    ...(scheme === 'https' && { servername: name, rejectUnauthorized: false }),
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  };
  return (scheme === 'https' ? https : http).request(options).end();
}

function answerOf(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', resolve);
  });
}
