// One request of the doctor to a bridge or a homeserver, and the JSON that it answers.
import http from 'node:http';
import https from 'node:https';
import { getCACertificates } from 'node:tls';

export interface JsonRequest {
  readonly method?: 'GET' | 'POST';
  readonly token?: string;
  readonly body?: object;
  /** Certificate authorities, PEM, besides the usual ones. */
  readonly ca?: string | null;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Empty for what is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

const TIMEOUT_MILLISECONDS = 10_000;
const MOST_BYTES = 256 * 1024;

/** @throws Error when there is no answer, with the reason */
export async function askJson(
  url: string,
  { method = 'GET', token, body, ca = null }: JsonRequest = {},
): Promise<JsonAnswer> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const options: https.RequestOptions = {
    method,
    agent: false,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
    },
    ...(ca === null ? {} : { ca: [...getCACertificates('default'), ca] }),
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  };
  const request = (url.startsWith('https:') ? https : http).request(url, options);
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('error', reject).on('response', resolve).end(content);
  });
  let text = '';
  for await (const piece of response.setEncoding('utf8')) {
    text += piece;
    if (text.length > MOST_BYTES) response.destroy();
  }
  return { status: response.statusCode ?? 0, headers: response.headers, json: objectOf(text) };
}

function objectOf(text: string): JsonAnswer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
