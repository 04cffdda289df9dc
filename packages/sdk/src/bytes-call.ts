// Calls of routes whose body or answer is bytes, with the entity tag that conditions go by.
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { connecting } from './localhost.ts';
import { errorFromResponse } from './platform-error.ts';
import { pathOf, withCredential, within } from './service-call.ts';

/** What is on the platform, and its version. */
export interface Bytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of this version, for `ifMatch`. */
  readonly etag: string;
  /** The media type that its writer said. */
  readonly type: string;
}

/** What is written: text is UTF-8. */
export type BytesToWrite = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

export interface WriteConditions {
  /** Only over this version, which a former answer gave; `*` over any. Otherwise `precondition_failed`. */
  readonly ifMatch?: string;
  /** `*`: only where nothing is. Otherwise `precondition_failed`. */
  readonly ifNoneMatch?: '*';
}

export type WriteOptions = CallOptions & WriteConditions & { readonly type?: string };

interface BytesCall {
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** @throws {PlatformError} */
export function readBytes(access: ServiceAccess, call: BytesCall, options: CallOptions = {}): Promise<Bytes> {
  return sending(access, call, { method: 'GET' }, options, async (answer) => ({
    bytes: new Uint8Array(await answer.arrayBuffer()),
    etag: answer.headers.get('etag') ?? '',
    type: answer.headers.get('content-type') ?? '',
  }));
}

/** @returns the JSON of the answer. @throws {PlatformError} `precondition_failed` */
export function writeBytes<Answer>(
  access: ServiceAccess,
  call: BytesCall,
  body: BytesToWrite,
  { type, ifMatch, ifNoneMatch, ...options }: WriteOptions = {},
): Promise<Answer> {
  const headers = { 'content-type': type ?? typeOf(body), ...conditions({ ifMatch, ifNoneMatch }) };
  return sending(access, call, { method: 'PUT', body, headers }, options, (answer) => answer.json());
}

/** @throws {PlatformError} `precondition_failed` */
export function deleteBytes(
  access: ServiceAccess,
  call: BytesCall,
  { ifMatch, ...options }: CallOptions & Pick<WriteConditions, 'ifMatch'> = {},
): Promise<void> {
  return sending(access, call, { method: 'DELETE', headers: conditions({ ifMatch }) }, options, async () => undefined);
}

function typeOf(body: BytesToWrite): string {
  if (body instanceof Blob && body.type !== '') return body.type;
  return typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

function conditions({
  ifMatch,
  ifNoneMatch,
}: {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}): Record<string, string> {
  return {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
}

async function sending<Result>(
  access: ServiceAccess,
  call: BytesCall,
  init: RequestInit & { readonly headers?: Record<string, string> },
  options: CallOptions,
  take: (answer: Response) => Promise<Result>,
): Promise<Result> {
  const url = access.api + pathOf(call);
  return within(options, (signal) =>
    withCredential(access, signal, async (authorization) => {
      const headers = { authorization, ...init.headers };
      const answer = await fetch(url, {
        ...connecting(url),
        ...init,
        headers,
        signal,
        credentials: 'omit',
        redirect: 'manual',
      });
      if (!answer.ok) throw await errorFromResponse(answer);
      return take(answer);
    }),
  );
}
