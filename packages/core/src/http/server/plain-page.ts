// Pages for people whose browser asked for what is not there: under another host name, or at an address with nothing behind it.
// Programs get a problem document.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from '@platform/contract';

/** Whether a browser will display the answer as a page. */
export function isPageVisit(request: IncomingMessage): boolean {
  return request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
}

/** Nothing in it comes from a request. */
export interface PlainPage {
  readonly status: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly link: { readonly href: string; readonly text: string };
}

/** @param origin the configured origin: scheme, host and port, which hold no character that HTML would read */
export function writeWrongHostPage(response: ServerResponse, origin: string, requestId: string): void {
  const page: PlainPage = {
    status: errors.unknown_host.status,
    title: 'Another address',
    heading: 'The platform has another address',
    text: 'Passkeys and apps belong to one address, and it is not the one you opened.',
    link: { href: `${origin}/`, text: origin },
  };
  write(response, page, requestId);
}

export function writeNothingHerePage(response: ServerResponse, requestId: string): void {
  const page: PlainPage = {
    status: errors.not_found.status,
    title: 'Nothing here',
    heading: 'There is nothing at this address',
    text: 'It may have been typed wrong, or what was there is gone. Your apps are on the home screen.',
    link: { href: '/', text: 'Home screen' },
  };
  write(response, page, requestId);
}

function write(response: ServerResponse, page: PlainPage, requestId: string): void {
  const { status, headers, body } = plainPage(page);
  response.writeHead(status, { ...headers, 'x-request-id': requestId });
  response.end(body);
}

/** The page as it is sent. */
export function plainPage({ status, title, heading, text, link }: PlainPage) {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; background: Canvas; font: 1.125rem/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
</style>
<main>
<h1>${heading}</h1>
<p>${text}</p>
<p><a href="${link.href}">${link.text}</a></p>
</main>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
  };
  return { status, headers, body };
}
