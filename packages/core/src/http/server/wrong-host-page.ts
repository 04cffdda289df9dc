// The page for a browser that opened the server under another host name, such as localhost: a link to the right one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from '@platform/contract';

/** Whether a browser will display the answer as a page. Programs get a problem document. */
export function isPageVisit(request: IncomingMessage): boolean {
  return request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
}

/** @param origin the configured origin: scheme, host and port, which hold no character that HTML would read */
export function writeWrongHostPage(response: ServerResponse, origin: string, requestId: string): void {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Another address</title>
<style>
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
</style>
<h1>The platform has another address</h1>
<p>Passkeys and apps belong to one address, and it is not the one you opened.</p>
<p><a href="${origin}/">${origin}</a></p>
`;
  response.writeHead(errors.unknown_host.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(page),
    'x-request-id': requestId,
  });
  response.end(page);
}
