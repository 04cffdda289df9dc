// NOT OpenSearch: a double of the few of its routes that the platform uses, in this process, on loopback. It records
// every request, refuses a search whose own filter does not hold exactly one account, and finds what the query asks
// for, so far as this file understands the language. What a real cluster does with the same requests it cannot prove.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

interface Stored {
  readonly version: number;
  /** `null` when it was deleted. */
  readonly fields: Readonly<Record<string, string | readonly string[]>> | null;
  /** As it was last, also when it was deleted. */
  readonly last: Stored['fields'];
}

export interface OpenSearchDouble {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Documents that are there, by the alias of their index. */
  documents(alias: string): Map<string, Stored['fields']>;
  readonly aliases: readonly string[];
  /** Forgets an index, as an operator may. */
  lose(alias: string): void;
  /** From now on, every request is answered with this status; `null` ends that. */
  fail(status: number | null): void;
  /**
   * Matches every document for every account, app and kind, also deleted ones, like a cluster whose filters fail.
   */
  leaky: boolean;
  /** What it did not understand, and answered with 500. */
  readonly faults: readonly string[];
  /** Called with the body of each search before it is answered. */
  onSearch: (() => Promise<void>) | null;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

export async function startOpenSearchDouble(): Promise<OpenSearchDouble> {
  const indexes = new Map<string, Map<string, Stored>>();
  const requests: RecordedRequest[] = [];
  const faults: string[] = [];
  let failing: number | null = null;

  async function answer(method: string, path: string, body: string): Promise<[status: number, body: unknown]> {
    if (failing !== null) return [failing, { error: { type: 'failing', reason: body }, status: failing }];
    const [, first = '', second = ''] = path.split('?')[0]?.split('/') ?? [];
    if (first === '_alias' && method === 'HEAD') return [indexes.has(second) ? 200 : 404, null];
    const documents = indexes.get(first);
    if (method === 'PUT' && second === '') {
      const { aliases } = JSON.parse(body) as { aliases: Json };
      for (const alias of Object.keys(aliases)) indexes.set(alias, new Map());
      return [200, { acknowledged: true }];
    }
    if (method === 'DELETE') {
      indexes.delete(first.replace(/-words$/, ''));
      return [200, { acknowledged: true }];
    }
    if (documents === undefined) return [404, { error: { type: 'index_not_found_exception' }, status: 404 }];
    if (second === '_bulk') return [200, bulk(documents, body)];
    if (second !== '_search') return [400, { error: { type: 'unknown_route' } }];
    await double.onSearch?.();
    return find(documents, JSON.parse(body) as Json, double);
  }

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [body, method, path] = [Buffer.concat(chunks).toString(), request.method ?? '', request.url ?? ''];
      requests.push({ method, path, authorization: request.headers.authorization, body });
      answer(method, path, body).then(
        ([status, answered]) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(answered === null ? undefined : JSON.stringify(answered));
        },
        (error: unknown) => {
          faults.push(String(error));
          response.writeHead(500).end(JSON.stringify({ error: String(error) }));
        },
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const double: OpenSearchDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    documents: (alias) =>
      new Map(
        [...(indexes.get(alias) ?? [])].flatMap(([id, { fields }]) => (fields === null ? [] : [[id, fields] as const])),
      ),
    get aliases() {
      return [...indexes.keys()];
    },
    lose: (alias) => void indexes.delete(alias),
    fail: (status) => {
      failing = status;
    },
    leaky: false,
    faults,
    onSearch: null,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return double;
}

interface Target {
  readonly _id: string;
  readonly version: number;
  readonly version_type: string;
}

function bulk(documents: Map<string, Stored>, body: string): unknown {
  const lines = body.split('\n').filter((line) => line !== '');
  const items: unknown[] = [];
  const left = lines.values();
  for (const line of left) {
    const [[action, target] = ['', undefined]] = Object.entries(JSON.parse(line) as Record<string, Target>);
    if (target?.version_type !== 'external_gte') throw new Error('a change without its version');
    const fields = action === 'index' ? (JSON.parse(left.next().value ?? '') as Stored['fields']) : null;
    const before = documents.get(target._id);
    const newer = before !== undefined && before.version > target.version;
    if (!newer) documents.set(target._id, { version: target.version, fields, last: fields ?? before?.last ?? null });
    const status = newer ? 409 : fields !== null ? 201 : before?.fields == null ? 404 : 200;
    items.push({ [action]: { _id: target._id, status } });
  }
  return { errors: items.length > 0, items };
}

function find(
  documents: Map<string, Stored>,
  body: Json,
  { leaky }: Pick<OpenSearchDouble, 'leaky'>,
): [status: number, body: unknown] {
  const query = body.query as { bool?: { filter?: Json[] } };
  const terms = (query.bool?.filter ?? []).flatMap(({ term }) => (term === undefined ? [] : [term as Json]));
  const [account, ...others] = terms.flatMap((term) => (typeof term.account === 'string' ? [term.account] : []));
  if (account === undefined || others.length > 0) return [400, { error: { type: 'no_account_filter' }, status: 400 }];
  const hits = [...documents]
    .flatMap(([id, { fields: own, last }]) => {
      const fields = leaky && last !== null ? asIfOf(account, Object.assign({}, ...terms), last) : own;
      const score = fields === null ? null : scoreOf(query as Json, fields);
      return score === null ? [] : [{ _id: id, _score: score }];
    })
    .sort((one, other) => other._score - one._score)
    .slice(0, Number(body.size));
  return [200, { timed_out: false, _shards: { total: 1, successful: 1, failed: 0 }, hits: { hits } }];
}

type Fields = NonNullable<Stored['fields']>;

/** The document with everything that would keep it from being found put right; terms are `<account>:<word>`. */
function asIfOf(account: string, terms: Fields, fields: Fields): Fields {
  const own = (all: Fields[string] = []) => [all].flat().map((term) => account + term.slice(term.indexOf(':')));
  return { ...fields, ...terms, title: own(fields.title), words: own(fields.words) };
}

/** `null` when the clause does not match; in filters the figure says nothing. */
function scoreOf(clause: Json, fields: Fields): number | null {
  const [[kind, value] = ['', undefined]] = Object.entries(clause);
  if (kind === 'bool') return scoreOfBool(value as Json, fields);
  if (kind === 'constant_score') {
    const { filter, boost } = value as { filter: Json; boost: number };
    return scoreOf(filter, fields) === null ? null : boost;
  }
  if (kind === 'dis_max') {
    const scores = (value as { queries: Json[] }).queries.map((one) => scoreOf(one, fields));
    const found = scores.filter((score) => score !== null);
    return found.length === 0 ? null : Math.max(...found);
  }
  const [[field, how] = ['', undefined]] = Object.entries(value as Json);
  const terms = [fields[field] ?? []].flat();
  return terms.some((term) => holds(kind, term, how)) ? 1 : null;
}

function scoreOfBool(bool: Json, fields: Fields): number | null {
  const {
    filter = [],
    should = [],
    minimum_should_match: least = 0,
    ...unknown
  } = bool as {
    filter?: Json[];
    should?: Json[];
    minimum_should_match?: number;
  };
  if (Object.keys(unknown).length > 0) throw new Error(`unknown in bool: ${Object.keys(unknown).join(', ')}`);
  if (filter.some((one) => scoreOf(one, fields) === null)) return null;
  const found = should.map((one) => scoreOf(one, fields)).filter((score) => score !== null);
  return found.length < least ? null : found.reduce((sum, score) => sum + score, 0);
}

interface TermQuery {
  readonly value: string;
  readonly fuzziness?: number;
  readonly prefix_length?: number;
}

function holds(kind: string, term: string, how: unknown): boolean {
  const query: TermQuery = typeof how === 'string' ? { value: how } : (how as TermQuery);
  const { value } = query;
  if (kind === 'term') return term === value;
  if (kind === 'prefix') return term.startsWith(value);
  if (kind === 'regexp') return new RegExp(`^(?:${value})$`, 'u').test(term);
  if (kind === 'wildcard') return new RegExp(`^${value.replaceAll('*', '.*')}$`, 'u').test(term);
  if (kind !== 'fuzzy') throw new Error(`unknown query: ${kind}`);
  const [asked, there] = [[...value], [...term]];
  const prefix = query.prefix_length ?? 0;
  if (asked.slice(0, prefix).join('') !== there.slice(0, prefix).join('')) return false;
  return distance(asked.slice(prefix), there.slice(prefix)) <= (query.fuzziness ?? 0);
}

/** Insertions, deletions, substitutions and swaps of neighbours, as Lucene counts them. */
function distance(one: readonly string[], other: readonly string[]): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1] ? 0 : 1;
      const near = (up: number, left: number) => rows[row - up]?.[column - left] ?? Number.POSITIVE_INFINITY;
      let best = Math.min(near(1, 0) + 1, (line[column - 1] ?? 0) + 1, near(1, 1) + same);
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        best = Math.min(best, near(2, 2) + 1);
      line.push(best);
    }
    rows.push(line);
  }
  return rows.at(-1)?.at(-1) ?? Number.POSITIVE_INFINITY;
}
