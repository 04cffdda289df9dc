// A plain HTTP request to 127.0.0.1 with any Host and headers: what browsers' URL handling would not let through.
import http from 'node:http';

export interface RawRequest {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body, when it is JSON. */
  readonly json: unknown;
}

export function rawRequest({ port, method = 'GET', path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  // Said always: for GET and DELETE Node would send a body without saying so.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = http.request(
    { host: '127.0.0.1', port, method, path, headers: { ...length, ...headers }, agent: false },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json\b/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    },
  );
  request.on('error', reject);
  request.end(body);
  return promise;
}

/** The `code` of a problem document; a test fails when the answer is none. */
export function problemCode(answer: RawAnswer): string {
  const { json, headers } = answer;
  if (
    !/^application\/problem\+json/.test(headers['content-type'] ?? '') ||
    typeof json !== 'object' ||
    json === null ||
    !('code' in json)
  ) {
    throw new Error(`not a problem document: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return String(json.code);
}
