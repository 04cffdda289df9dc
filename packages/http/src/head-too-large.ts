// The answer to a head that is too large, where browsers ask: mostly they hold too many cookies, which any page of the
// site can cause, and then every request of theirs is too large, also the one that would remove them. So the answer
// makes the browser delete the cookies of the site (Clear Site Data, section 3.1), and says so. It does not where a long
// target can be the reason: any page on the internet can link to one, and must not sign its visitors out.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { errors, problemOf, type Refusal, sizeText } from '@platform/contract';
import { transportFields } from './transport-security.ts';

/**
 * How long the rest of the request is read and thrown away. Browsers read no answer before they have sent their head, of
 * up to 720 KB of cookies, and a connection that ends before would be reset: on a slow line they would never receive it.
 * As long as any head may take.
 */
const LINGER_MS = 20_000;

/** The refusal of a request whose head has more than `mostBytes`. */
export function headTooLarge(mostBytes: number): Refusal {
  const detail = `The head of the request is larger than ${sizeText(mostBytes)}. In a browser, too many cookies or a long address do that.`;
  return { code: 'head_too_large', detail };
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Too many cookies</title>
<style>
  :root { color-scheme: light dark; background: Canvas; font: 1.125rem/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 20vh auto 2rem; padding: 0 1.5rem }
  h1 { line-height: 1.2 }
</style>
<main>
<h1>Your browser sent too many cookies</h1>
<p>A page or an app of this site stored more cookies than the platform accepts. The platform had your browser delete
the cookies of this site. Apps and their data are unchanged.</p>
<p><a href="">Reload this page</a>. If you were signed in, sign in again.</p>
<p>If it happens again whenever you open a certain app, its owner can remove that app in Settings → Apps.</p>
</main>
`;

/** Of the most bytes of a head, what a target may take and not be what made it too large. */
const PART_OF_TARGET = 1 / 4;

/**
 * Whether cookies can be what made a head too large, rather than its target.
 *
 * @param packet the bytes in which it became too large; its beginning or a later piece
 */
export function isOfCookies(packet: Buffer | undefined, mostBytes: number): boolean {
  const text = packet?.toString('latin1') ?? '';
  const lineEnd = text.search(/ HTTP\/1\.[01]\r?\n/);
  const hasCookie = /\r\ncookie:/i.test(text);
  if (/^[A-Z]+ \//.test(text)) return hasCookie && lineEnd !== -1 && lineEnd <= mostBytes * PART_OF_TARGET;
  // A later piece: browsers put a blank behind each cookie, and no target has one before its end.
  return lineEnd === -1 && (hasCookie || text.includes('; '));
}

/**
 * Answers on a connection whose request has no response object, and ends it: a page for a person, a problem document for
 * a program.
 *
 * @param refusal of {@link headTooLarge}
 * @param packet the bytes in which the head became too large; of a long one they hold its end only, and no `Accept`
 */
export function endWithHeadTooLarge(socket: Duplex, refusal: Refusal, packet: Buffer | undefined): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(response(refusal, packet, transportFields(socket)));
}

function response(refusal: Refusal, packet: Buffer | undefined, transport: Readonly<Record<string, string>>): string {
  const requestId = randomUUID();
  const { status } = errors.head_too_large;
  const [type, body] = isProgram(packet)
    ? ['application/problem+json', JSON.stringify(problemOf(refusal, requestId))]
    : ['text/html; charset=utf-8', PAGE];
  const fields = [
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'clear-site-data: "cookies"',
    "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    'cache-control: no-store',
    'referrer-policy: no-referrer',
    'x-content-type-options: nosniff',
    `x-request-id: ${requestId}`,
    ...Object.entries(transport).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  return `HTTP/1.1 ${status} Request Header Fields Too Large\r\n${fields.join('\r\n')}\r\n\r\n${body}`;
}

/** Whether the request says that it takes no page. */
function isProgram(packet: Buffer | undefined): boolean {
  const accepted = /\r\naccept:([^\r\n]*)/i.exec(packet?.toString('latin1') ?? '')?.[1];
  return accepted !== undefined && !accepted.includes('text/html');
}
