// The heads of an AI call: the workload's as it is read and sent on, and the provider's as it passes back.
import { refuse } from '@platform/contract';
import { ensuringRequestId, type RequestHead, type ResponseFilter, responseFilter } from '@platform/http';
import { bearerOf } from '../../credential.ts';
import { isMethodField } from '../overrides.ts';
import type { Dialect } from './dialect.ts';

const KEY_FIELD = 'x-api-key';

/** The provider speaks to the holder of the key, so its challenges and cookies end here; so do orders to a browser. */
const DROPPED = new Set([
  ...['set-cookie', 'set-cookie2', 'www-authenticate', 'authentication-info', 'alt-svc'],
  ...['strict-transport-security', 'clear-site-data', 'platform-gateway-overhead-ms'],
]);

/** As stock clients present it: one of the two fields, once. */
export function presentedKey(head: RequestHead): string | null {
  const keys = fieldsOf(head, KEY_FIELD);
  if (keys.length + head.authorizations !== 1) return null;
  return keys[0] ?? bearerOf(head);
}

function fieldsOf({ forwarded }: RequestHead, wanted: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < forwarded.length; index += 2)
    if (forwarded[index]?.toLowerCase() === wanted) values.push(forwarded[index + 1] ?? '');
  return values;
}

/** @throws RefusalError for fields that say another method */
export function refuseMethods({ forwarded }: RequestHead): void {
  const name = forwarded.find((field, index) => index % 2 === 0 && isMethodField(field));
  if (name !== undefined) throw refuse('invalid_request', `Send no header ${name} in an AI call.`);
}

/** @throws RefusalError for one that is there twice: which counts would be for the provider to choose */
export function singleField(head: RequestHead, name: string): string {
  const values = fieldsOf(head, name);
  if (values.length > 1) throw refuse('invalid_request', `Send one ${name}.`);
  return values[0] ?? '';
}

export function headersToSend({ forwarded }: RequestHead, dialect: Dialect, key: string): string[] {
  const fields: string[] = [...dialect.credential(key)];
  for (let index = 0; index + 1 < forwarded.length; index += 2) {
    const name = forwarded[index] ?? '';
    const lower = name.toLowerCase();
    if (lower === KEY_FIELD || lower === 'accept-encoding' || dialect.withheld.has(lower)) continue;
    fields.push(name, forwarded[index + 1] ?? '');
  }
  // What an answer used is read as it passes.
  fields.push('accept-encoding', 'identity');
  return fields;
}

/** A provider that repeats what it was sent does not tell the app the key. */
function withoutKey<Headers extends Record<string, string | string[] | undefined>>(
  headers: Headers,
  key: string,
): Headers {
  const repeats = Object.keys(headers).filter((name) => repeatsKey(String(headers[name]), key));
  if (repeats.length === 0) return headers;
  return { ...headers, ...Object.fromEntries(repeats.map((name) => [name, undefined])) };
}

/** Also as an address or JSON spells it. */
function repeatsKey(value: string, key: string): boolean {
  return (
    value.includes(key) ||
    (value.includes('%') && value.replace(/%([0-9a-f]{2})/gi, (_, hex) => byteOf(hex)).includes(key)) ||
    (value.includes('\\') && value.replace(/\\(.)/g, '$1').includes(key))
  );
}

function byteOf(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

const passes = ensuringRequestId(responseFilter((name) => DROPPED.has(name)));

/** What of an answer passes, with the milliseconds that the platform took before the call. */
export function passingHead(key: string, before: number): ResponseFilter {
  return (headers, res) => [
    ...passes(withoutKey(headers, key), res),
    ...['platform-gateway-overhead-ms', before.toFixed(1)],
  ];
}
