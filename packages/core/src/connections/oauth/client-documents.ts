// Clients whose id is the https address of a document that says who they are (client ID metadata documents). The address is a
// stranger's: it is fetched with the platform's own Dialer, from publicly routable addresses alone, within bounds.
import { limits } from '@platform/contract';
import { createDialer, type Dialer, dialingConnector } from '@platform/http';
import { LRUCache } from 'lru-cache';
import { errors } from 'oidc-provider';
import { Agent, request } from 'undici';
import { clientMetadata, clientProperties } from './client-metadata.ts';

/** How documents are fetched. */
export interface DocumentOptions {
  /** Default: connects from this machine. */
  readonly dialer?: Dialer | undefined;
  /** Further certificate authority, PEM; for tests, not reachable from the configuration. Default: none. */
  readonly ca?: string | undefined;
}

type Properties = Record<string, unknown>;

interface Kept {
  /** `null` for a document that is none, or did not come. */
  readonly properties: Properties | null;
  readonly until: number;
}

/** A stranger cannot have the same address asked again and again. oidc-provider looks twice before it refuses. */
const FAILURE_MILLISECONDS = 10_000;

/** Whether it has the form of such an id: https, a path, and nothing that another parser could read otherwise. */
export function isDocumentAddress(id: string): boolean {
  if (id.length > limits.clientAddress.value || !/^https:\/\/[\x21-\x7e]+$/.test(id) || /[#\\@]/.test(id)) return false;
  const url = URL.parse(id);
  return url !== null && url.href === id && url.pathname !== '/' && !url.hostname.endsWith('.');
}

export class ClientDocuments {
  readonly #kept = new LRUCache<string, Kept>({ max: limits.clientDocuments.value });
  readonly #coming = new Map<string, Promise<Properties>>();
  readonly #clock: () => Date;
  readonly #agent: Agent;

  constructor(clock: () => Date, { dialer = createDialer(), ca }: DocumentOptions = {}) {
    this.#clock = clock;
    const milliseconds = limits.clientDocumentSeconds.value * 1_000;
    this.#agent = new Agent({
      connect: dialingConnector({ dialer, allow: 'public', ca, handshakeTimeout: milliseconds }),
      // One document, and that is all there is to say to this host.
      pipelining: 0,
      headersTimeout: milliseconds,
      bodyTimeout: milliseconds,
      maxResponseSize: limits.clientDocument.value,
      allowH2: false,
    });
  }

  /**
   * What oidc-provider knows of the client.
   *
   * @param id as {@link isDocumentAddress} accepts it
   * @throws InvalidClient
   */
  async find(id: string): Promise<Properties> {
    const now = this.#clock().getTime();
    const kept = this.#kept.get(id);
    const longest = limits.clientDocumentMostSeconds.value * 1_000;
    if (kept !== undefined && now < kept.until && kept.until - now <= longest) {
      if (kept.properties === null) throw new errors.InvalidClient('the client metadata document is not valid');
      return kept.properties;
    }
    const coming = this.#coming.get(id);
    if (coming !== undefined) return coming;
    if (this.#coming.size >= limits.clientDocumentFetches.value)
      throw new errors.InvalidClient('too many client metadata documents are being fetched; try again');
    const fetching = this.#fetch(id)
      .catch((error: unknown) => {
        this.#kept.set(id, { properties: null, until: this.#clock().getTime() + FAILURE_MILLISECONDS });
        throw error;
      })
      .finally(() => this.#coming.delete(id));
    this.#coming.set(id, fetching);
    return fetching;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #fetch(id: string): Promise<Properties> {
    const signal = AbortSignal.timeout(limits.clientDocumentSeconds.value * 1_000);
    let text: string;
    let cacheControl: string;
    try {
      // Redirects are not followed: they would be somebody else's word.
      const answer = await request(id, {
        dispatcher: this.#agent,
        signal,
        headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      });
      text = answer.statusCode === 200 ? await answer.body.text() : '';
      if (answer.statusCode !== 200) await answer.body.dump({ limit: limits.clientDocument.value, signal });
      cacheControl = String(answer.headers['cache-control'] ?? '');
    } catch {
      // Which of them it was says something about the network of the platform.
      throw new errors.InvalidClient('the client metadata document could not be fetched');
    }
    const properties = readDocument(id, text);
    const { value: least } = limits.clientDocumentLeastSeconds;
    const { value: most } = limits.clientDocumentMostSeconds;
    const age = Number(/(?:^|[,\s])max-age=(\d{1,9})/i.exec(cacheControl)?.[1] ?? least);
    const until = this.#clock().getTime() + Math.min(Math.max(age, least), most) * 1_000;
    this.#kept.set(id, { properties, until });
    return properties;
  }
}

function readDocument(id: string, text: string): Properties {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new errors.InvalidClient('the client metadata document could not be fetched');
  }
  if (typeof json !== 'object' || json === null || !('client_id' in json) || json.client_id !== id)
    throw new errors.InvalidClient('the client metadata document is not of this client_id');
  if ('client_secret' in json) throw new errors.InvalidClient('the client metadata document holds a secret');
  const metadata = clientMetadata.safeParse(json);
  if (!metadata.success) throw new errors.InvalidClient('the client metadata document is not valid');
  const { token_endpoint_auth_method: method = 'none', redirect_uris: redirectAddresses } = metadata.data;
  if (method !== 'none') throw new errors.InvalidClient('only clients without a secret or key can connect');
  return clientProperties({ id, name: metadata.data.client_name ?? new URL(id).hostname, redirectAddresses });
}
