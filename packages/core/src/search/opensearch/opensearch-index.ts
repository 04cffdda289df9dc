// An index in OpenSearch, through its official client. It stores words and their scope; no titles, URLs or texts.
import { Client } from '@opensearch-project/opensearch';
import { EngineError, type FedIndex, type FoundKey, type IndexUpdate, type SearchScope } from '../engine.ts';
import type { SearchQuery } from '../search-query.ts';
import { queryBody, type Slips, termOf } from './query-body.ts';

export interface OpenSearchOptions {
  /** Address without credentials. */
  readonly address: string;
  readonly auth: { readonly username: string; readonly password: string } | null;
  /** Time limit of a search, after which PostgreSQL answers instead. Milliseconds, default 2,000. */
  readonly searchMilliseconds?: number;
}

/** Time limit of every other request. */
const REQUEST_MILLISECONDS = 20_000;

type Request<Answer> = PromiseLike<Answer> & { abort(): void };

const word = { type: 'keyword', doc_values: false } as const;
const mappings = {
  dynamic: 'strict',
  // The index can be rebuilt from PostgreSQL, so documents need not be stored in readable form.
  _source: { enabled: false },
  properties: { account: word, app: word, kind: word, title: word, words: word },
} as const;

export class OpenSearchIndex implements FedIndex {
  readonly address: string;
  readonly #client: Client;
  readonly #searchMilliseconds: number;
  readonly #open = new Set<Request<unknown>>();
  #closed = false;

  constructor({ address, auth, searchMilliseconds = 2_000 }: OpenSearchOptions) {
    this.address = address;
    this.#searchMilliseconds = searchMilliseconds;
    this.#client = new Client({
      node: address,
      // Callers retry, or fall back to PostgreSQL.
      maxRetries: 0,
      requestTimeout: REQUEST_MILLISECONDS,
      ...(auth === null ? {} : { auth }),
    });
  }

  async find(index: string, scope: SearchScope, query: SearchQuery, most: number): Promise<FoundKey[]> {
    const typed = await this.#ask(index, scope, { query, slips: 0, most });
    if (typed.length >= most || query.comparable.length === 0) return typed;
    const similar = await this.#ask(index, scope, { query, slips: 1, most });
    // Two slips are a guess: only when there is nothing to show otherwise.
    return similar.length > 0 ? similar : this.#ask(index, scope, { query, slips: 2, most });
  }

  async #ask(
    index: string,
    scope: SearchScope,
    { query, slips, most }: { readonly query: SearchQuery; readonly slips: Slips; readonly most: number },
  ): Promise<FoundKey[]> {
    const { body } = await this.#attempt('search', () =>
      this.#client.search(
        {
          index,
          body: { query: queryBody(scope, query, slips), size: most, _source: false, track_total_hits: false },
        },
        { requestTimeout: this.#searchMilliseconds },
      ),
    );
    if (body.timed_out || body._shards.failed > 0) throw new EngineError('search was answered in part only');
    return body.hits.hits.map(({ _id, _score }) => ({ ...keyOf(String(_id)), score: Number(_score) }));
  }

  async create(index: string): Promise<void> {
    if (await this.exists(index)) return;
    // Through an alias, because writing to a name that is gone would make an index of that name, with other fields.
    await this.#attempt('making an index', () =>
      this.#client.indices.create({ index: `${index}-words`, body: { mappings, aliases: { [index]: {} } } }),
    );
  }

  async exists(index: string): Promise<boolean> {
    const { body } = await this.#attempt('looking for an index', () =>
      this.#client.indices.existsAlias({ name: index }),
    );
    return body;
  }

  async drop(index: string): Promise<void> {
    await this.#attempt('deleting an index', () =>
      this.#client.indices.delete({ index: `${index}-words`, ignore_unavailable: true }),
    );
  }

  async update(index: string, entries: readonly IndexUpdate[]): Promise<void> {
    const operations = entries.flatMap(({ installationId, id, version, words }) => {
      const target = { _id: `${installationId}:${id}`, version, version_type: 'external_gte' as const };
      return words === null ? [{ delete: target }] : [{ index: target }, documentOf(words)];
    });
    const { body } = await this.#attempt('writing', () =>
      this.#client.bulk({ index, body: operations, refresh: 'true', require_alias: true }),
    );
    const refused = body.items.flatMap((item) => Object.values(item)).find(({ status }) => !isTaken(status));
    if (refused !== undefined) throw new EngineError(`writing an entry was answered ${refused.status}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const request of this.#open) request.abort();
    await this.#client.close();
  }

  /** The client's errors contain the request with credentials and query, so an `EngineError` replaces them. */
  async #attempt<Answer>(what: string, begin: () => Request<Answer>): Promise<Answer> {
    if (this.#closed) throw new EngineError(`${what} failed: the platform stops`);
    const request = begin();
    this.#open.add(request);
    try {
      return await request;
    } catch (error) {
      const name = error instanceof Error ? error.name : 'an error';
      const status = error instanceof Error && 'statusCode' in error ? ` ${String(error.statusCode)}` : '';
      throw new EngineError(`${what} failed: ${name}${status}`);
    } finally {
      this.#open.delete(request);
    }
  }
}

/** 404: it was gone already. 409: a newer state of the entry is there. */
function isTaken(status: number): boolean {
  return status < 300 || status === 404 || status === 409;
}

function documentOf({ accountKey, appId, kind, title, other }: NonNullable<IndexUpdate['words']>): object {
  const terms = (words: readonly string[]) => words.map((one) => termOf(accountKey, one));
  return { account: accountKey, app: appId, kind, title: terms(title), words: terms([...title, ...other]) };
}

/** Ids of installations hold no colon. */
function keyOf(id: string): { installationId: string; id: string } {
  const at = id.indexOf(':');
  return { installationId: id.slice(0, at), id: id.slice(at + 1) };
}
