// Reads manifests and blobs from a registry by the OCI distribution specification, anonymously, over https (http on
// loopback only). Answers are untrusted until the caller has verified digest and size.
import type { Readable } from 'node:stream';
import type { ImageReference } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import { Agent, type Dispatcher, request } from 'undici';
import * as z from 'zod';

/** What a registry did not give. The message goes on after "Its image could not be fetched: ". */
export class RegistryError extends Error {
  /** Whether a later attempt may go better. */
  readonly passing: boolean;
  constructor(message: string, { passing }: { readonly passing: boolean }) {
    super(message);
    this.name = 'RegistryError';
    this.passing = passing;
  }
}

export interface RegistryClient {
  /** @throws RegistryError */
  manifest(digest: string): Promise<Readable>;
  /** @throws RegistryError */
  blob(digest: string): Promise<Readable>;
  close(): Promise<void>;
}

const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const MOST_HOPS = 5;
/** Between two pieces of an answer. */
const SILENCE_MS = 30_000;
const LONGEST_TOKEN = 16 * 1024;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3})$/;
const tokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/** @param signal Ends everything that is under way. */
export function openRegistry({ registry, repository }: ImageReference, signal: AbortSignal): RegistryClient {
  const isLocal = LOOPBACK.test(registry.replace(/:\d+$/, ''));
  const origin = `${isLocal ? 'http' : 'https'}://${registry}`;
  const agent = new Agent({ connect: { timeout: SILENCE_MS }, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  let authorization: string | undefined;

  async function ask(url: URL, accept: string): Promise<Dispatcher.ResponseData> {
    // Redirects to another origin (a blob store, with a signed URL) do not get the credential.
    const own = url.origin === origin && authorization !== undefined ? { authorization } : {};
    try {
      return await request(url, { dispatcher: agent, signal, headers: { accept, ...own } });
    } catch (error) {
      signal.throwIfAborted();
      throw new RegistryError(`${url.host} does not answer (${reasonOf(error)}).`, { passing: true });
    }
  }

  async function get(path: string, accept: string): Promise<Readable> {
    let url = new URL(`${origin}/v2/${repository}/${path}`);
    for (let hop = 0; hop <= MOST_HOPS; hop += 1) {
      const { statusCode, headers, body } = await ask(url, accept);
      if (statusCode === 200) return body;
      await body.dump();
      if (statusCode === 401 && authorization === undefined && url.origin === origin) {
        authorization = `Bearer ${await tokenFor(String(headers['www-authenticate'] ?? ''))}`;
        continue;
      }
      if (statusCode < 300 || statusCode > 399 || typeof headers.location !== 'string')
        throw refusal(statusCode, url.host);
      url = followed(headers.location, url);
    }
    throw new RegistryError(`${registry} redirects too often.`, { passing: false });
  }

  /** An anonymous pull token, as public registries require. */
  async function tokenFor(challenge: string): Promise<string> {
    const fields = Object.fromEntries(
      [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    );
    const { realm, service } = fields;
    if (!/^bearer /i.test(challenge) || realm === undefined || !URL.canParse(realm)) throw refusal(401, registry);
    const url = secure(new URL(realm));
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${repository}:pull`);
    const { statusCode, body } = await ask(url, 'application/json');
    if (statusCode !== 200) {
      await body.dump();
      throw refusal(statusCode, url.host);
    }
    const answer = tokenAnswer.safeParse(parseJson((await readAtMost(body, LONGEST_TOKEN)).toString('utf8')));
    const token = answer.data?.token ?? answer.data?.access_token;
    if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw refusal(401, url.host);
    return token;
  }

  function followed(location: string, from: URL): URL {
    if (!URL.canParse(location, from))
      throw new RegistryError(`${from.host} sent an invalid redirect.`, { passing: false });
    return secure(new URL(location, from));
  }

  /** Nothing goes in the clear, but on this machine's loopback for a registry that is there itself. */
  function secure(url: URL): URL {
    if (url.protocol === 'https:' || (isLocal && url.protocol === 'http:' && LOOPBACK.test(url.hostname))) return url;
    throw new RegistryError(`${registry} redirects to ${url.host} without TLS.`, { passing: false });
  }

  return {
    manifest: (digest) => get(`manifests/${digest}`, MANIFESTS),
    blob: (digest) => get(`blobs/${digest}`, 'application/octet-stream'),
    close: () => agent.destroy(),
  };
}

/** @throws RegistryError when there is more */
export async function readAtMost(body: Readable, limit: number): Promise<Buffer> {
  const pile = new Pile();
  for await (const chunk of body) {
    if (pile.length + chunk.length > limit)
      throw new RegistryError('an answer of the registry is too long.', { passing: false });
    pile.add(chunk);
  }
  return Buffer.from(pile.bytes());
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status: number, host: string): RegistryError {
  if (status === 404) return new RegistryError(`${host} does not have it.`, { passing: false });
  if (status === 401 || status === 403)
    return new RegistryError(`${host} requires a login for it.`, { passing: false });
  return new RegistryError(`${host} answered ${status}.`, { passing: status === 429 || status >= 500 });
}

function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
