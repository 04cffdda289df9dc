// Which requests of a workload may go out with a secret at all, by their head (contract 4b): nothing that concerns a
// single connection, carries other credentials, or says another place or method than the request line.
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '@platform/contract';
import { trimField } from '@platform/http';
import { isMethodField } from '../overrides.ts';

const REFUSED = new Set(['cookie', 'cookie2', 'keep-alive', 'te', 'trailer', 'upgrade', 'http2-settings']);
const HARMLESS_OPTIONS = new Set(['close', 'keep-alive', '']);

/** Why the request may not go out, whatever its slot; `null` when it may. */
export function refuseHead(req: IncomingMessage): Refusal | null {
  for (const [name, value] of fieldsOf(req)) {
    if (REFUSED.has(name) || isMethodField(name) || name.startsWith('proxy-'))
      return invalid(`Send no header ${name} in an outbound request.`);
    if (name === 'connection' && value.split(',').some((one) => !HARMLESS_OPTIONS.has(trimField(one).toLowerCase())))
      return invalid('Connection may say close or keep-alive in an outbound request, and nothing else.');
  }
  return null;
}

/** Whether the request has more than one `Authorization`, of which only one can be the Gateway's. */
export function hasManyCredentials(req: IncomingMessage): boolean {
  let count = 0;
  for (const [name] of fieldsOf(req)) if (name === 'authorization') count += 1;
  return count > 1;
}

/** Whether the request itself has the header that the secret is to be in. `Authorization` is the Gateway's own. */
export function namesHeader(req: IncomingMessage, header: string): boolean {
  const wanted = spelling(header);
  if (wanted === 'authorization') return false;
  for (const [name] of fieldsOf(req)) if (name === wanted) return true;
  return false;
}

export function invalid(detail: string): Refusal {
  return { code: 'invalid_request', detail };
}

function* fieldsOf({ rawHeaders }: IncomingMessage): Generator<[name: string, value: string]> {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    yield [spelling(rawHeaders[index] ?? ''), rawHeaders[index + 1] ?? ''];
}

/** Servers behind CGI-like interfaces read `_` as `-`. */
function spelling(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
