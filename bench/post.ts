// Requests of an app to a core that is measured, over connections that are kept.
import http from 'node:http';

export interface BenchCore {
  readonly port: number;
  readonly host: string;
}

export interface BenchPost {
  /** Core service credential of the app. */
  readonly credential: string;
  readonly path: string;
  /** JSON. */
  readonly body: string;
  readonly expected: number;
}

/** @param agent of the bench @throws Error for an answer of another status */
export function post(
  { port, host }: BenchCore,
  { credential, path, body, expected }: BenchPost,
  agent: http.Agent,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
    const request = http.request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent });
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
    request.end(body);
  });
}
