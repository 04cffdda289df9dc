// Promises of who owns which table: every table and view has one owner, the SQL of a domain stands in its queries, and it
// touches no tables but its own, the views of others, and the columns it is declared to set.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { OwnedTables, OwnedViews } from '../../packages/core/test-support/internals.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';

const SOURCE = path.join(import.meta.dirname, '../../packages/core/src');

let world: Constellation;
/** By the folder of their owner. */
const owned = new Map<string, OwnedTables>();
const shown = new Map<string, OwnedViews>();
before(async () => {
  world = await startConstellation();
  for (const file of globSync('*/tables.ts', { cwd: SOURCE })) {
    const { tables, views = {} } = (await import(path.join(SOURCE, file))) as {
      readonly tables: OwnedTables;
      readonly views?: OwnedViews;
    };
    owned.set(path.dirname(file), tables);
    shown.set(path.dirname(file), views);
  }
});
after(() => world.close());

const owners = () =>
  [...owned].flatMap(([domain, tables]) => Object.keys(tables).map((table) => [table, domain] as const));

/** The strings of a source text, one after the other; what is inserted into a template counts as strings of its own. */
function stringsOf(source: string): string[] {
  const found: string[] = [];
  let at = 0;
  function code(end: '}' | ''): void {
    for (let depth = 0; at < source.length; at += 1) {
      const here = source.charAt(at);
      if (source.startsWith('//', at)) at = lineEnd();
      else if (source.startsWith('/*', at)) at = source.indexOf('*/', at) + 1;
      else if (here === "'" || here === '"') quoted(here);
      else if (here === '`') template();
      else if (here === '{') depth += 1;
      else if (here === '}') {
        if (end === '}' && depth === 0) return;
        depth -= 1;
      }
    }
  }
  const lineEnd = () => (source.indexOf('\n', at) < 0 ? source.length : source.indexOf('\n', at));
  function quoted(quote: string): void {
    const start = at + 1;
    for (at += 1; at < source.length && source.charAt(at) !== quote; at += 1) if (source.charAt(at) === '\\') at += 1;
    found.push(source.slice(start, at));
  }
  function template(): void {
    let text = '';
    for (at += 1; at < source.length && source.charAt(at) !== '`'; at += 1) {
      if (source.startsWith('${', at)) {
        at += 2;
        code('}');
        text += '$';
      } else text += source.charAt(at);
    }
    found.push(text);
  }
  code('');
  return found;
}

interface Use {
  readonly table: string;
  /** `null` for reading, the columns that an update sets, `all` for adding and removing rows. */
  readonly sets: readonly string[] | 'all' | null;
}

const WRITES = /\b(INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|LOCK TABLE)\s+(\w+)/g;
const READS = /\.(?:selectFrom|\w*[jJ]oin)\(\s*'(\w+)/g;
const BUILDS = /\.(insertInto|updateTable|deleteFrom)\(\s*'(\w+)'\s*\)/g;
/** Of the jobs of its domain: background/job-queries.ts changes its rows. */
const JOBS = /\bnew JobTable(?:<\w+>)?\(\s*'(\w+)'/g;

/**
 * What the statements of a source text do to tables. Every word in a string that is the name of one counts, but for names of
 * columns (after AS or a dot) and qualifiers (before a dot); a string that is nothing else counts where a builder takes it.
 */
function usesIn(source: string, tables: ReadonlySet<string>): Use[] {
  const strings = stringsOf(source);
  const reads = [
    ...strings
      .filter((text) => !/^\w+$/.test(text))
      .flatMap((text) => [...text.replace(WRITES, '').matchAll(/(?<!\bAS |[./])\b[a-z_]+\b(?![./])/g)]),
    ...source.matchAll(READS),
  ].map(([found, word = found]): Use => ({ table: word, sets: null }));
  const writes = strings.flatMap((text) =>
    [...text.matchAll(WRITES)].map(([statement, verb, table = '']): Use => {
      const rest = text.slice(text.indexOf(statement) + statement.length);
      return { table, sets: verb === 'UPDATE' ? columnsSet(rest) : 'all' };
    }),
  );
  const built = [...source.matchAll(BUILDS)].map(([call, verb, table = '']): Use => {
    const rest = source.slice(source.indexOf(call) + call.length);
    return { table, sets: verb === 'updateTable' ? membersSet(rest) : 'all' };
  });
  const jobs = [...source.matchAll(JOBS)].map(([, table = '']): Use => ({ table, sets: 'all' }));
  return [...reads, ...writes, ...built, ...jobs].filter(({ table }) => tables.has(table));
}

/** Columns between SET and whatever ends the list of them. */
function columnsSet(statement: string): string[] {
  const list = /\bSET\s+([\s\S]*)/.exec(statement)?.[1] ?? '';
  const [outside = ''] = withoutParentheses(list).split(/\b(?:FROM|WHERE|RETURNING)\b/);
  return outside.split(',').map((part) => part.trim().split(/\s/)[0] ?? '');
}

function withoutParentheses(text: string): string {
  const less = text.replace(/\([^()]*\)/g, '');
  return less === text ? text : withoutParentheses(less);
}

/** Members of the object given to the next `set`. */
function membersSet(source: string): string[] {
  const object = /\.set\(\s*(?:\(\w+\) => \()?\{([^}]*)\}/.exec(source)?.[1] ?? '';
  return object.split(',').flatMap((part) => part.trim().split(/[:\s]/)[0] || []);
}

/** What a domain does that it is not declared to; empty when all is well. */
function trespasses(domain: string, uses: readonly Use[]): string[] {
  const ownerOf = new Map(owners());
  return uses.flatMap(({ table, sets }) => {
    const owner = ownerOf.get(table) ?? '';
    const { columnsOf = {} } = owned.get(owner)?.[table] ?? {};
    if (owner === domain) return [];
    if (sets === null) return [`${domain} reads ${table} of ${owner}, and no view of it`];
    const mayNot = sets === 'all' ? ['rows'] : sets.filter((column) => !columnsOf[domain]?.includes(column));
    return mayNot.map((what) => `${domain} changes ${what} in ${table} of ${owner}`);
  });
}

const sources = globSync('*/**/*.ts', { cwd: SOURCE, exclude: ['**/*.test.ts', '**/tables.ts'] }).map((file) => ({
  file,
  domain: file.split(path.sep)[0] ?? '',
  source: readFileSync(path.join(SOURCE, file), 'utf8'),
}));
const isQueries = (file: string) => /(^|-)queries\.ts$/.test(path.basename(file));

async function inDatabase(type: 'BASE TABLE' | 'VIEW'): Promise<string[]> {
  const { rows } = await world.core.context.pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = $1 ORDER BY 1",
    [type],
  );
  return rows.map(({ name }) => name);
}

test('every table of the database has one owner, and every table that is owned is there', async () => {
  const declared = owners().map(([table]) => table);
  assert.deepEqual(declared.sort(), await inDatabase('BASE TABLE'));
});

test('every view is of one domain, shows tables of that domain alone, and is read by others', async () => {
  const views = [...shown].flatMap(([domain, all]) => Object.keys(all).map((view) => ({ view, domain })));
  assert.deepEqual(views.map(({ view }) => view).sort(), await inDatabase('VIEW'));
  const { rows } = await world.core.context.pool.query<{ view: string; table: string }>(
    'SELECT DISTINCT view_name AS view, table_name AS table FROM information_schema.view_column_usage',
  );
  const ownerOf = new Map(owners());
  for (const { view, domain } of views) {
    const of = rows.filter((row) => row.view === view).map(({ table }) => ownerOf.get(table));
    assert.deepEqual(of, [domain], view);
    const readers = sources.filter((one) => one.domain !== domain && new RegExp(`\\b${view}\\b`).test(one.source));
    assert.ok(readers.length > 0, `no other domain reads ${view}`);
  }
});

test('the SQL of a domain touches no tables but its own, and what their owners declare', () => {
  const tables = new Set(owners().map(([table]) => table));
  const found = sources
    .filter(({ file }) => isQueries(file))
    .flatMap(({ domain, source }) => trespasses(domain, usesIn(source, tables)));
  assert.deepEqual([...new Set(found)], []);
});

test('no domain is declared to set what it does not', () => {
  const tables = new Set(owners().map(([table]) => table));
  const uses = (domain: string) =>
    sources
      .filter((one) => one.domain === domain && isQueries(one.file))
      .flatMap(({ source }) => usesIn(source, tables));
  const idle = [...owned.values()].flatMap((all) =>
    Object.entries(all).flatMap(([table, { columnsOf = {} }]) =>
      Object.entries(columnsOf).flatMap(([domain, columns]) =>
        columns
          .filter((column) => !uses(domain).some(({ table: of, sets }) => of === table && sets?.includes(column)))
          .map((column) => `${domain} does not set ${column} of ${table}`),
      ),
    ),
  );
  assert.deepEqual(idle, []);
});

test('a domain has its SQL in queries.ts and *-queries.ts alone', () => {
  const tables = owners().map(([table]) => table);
  const named = [...tables, ...[...shown.values()].flatMap(Object.keys)];
  const statement = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\\s+(?:${named.join('|')})\\b`);
  const builder = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|(?:inner|left)Join)\(|\bnew JobTable\b/;
  const elsewhere = sources.filter(
    ({ file, domain, source }) =>
      globSync(`${domain}/domain.ts`, { cwd: SOURCE }).length > 0 &&
      !isQueries(file) &&
      (statement.test(source) || builder.test(source)),
  );
  assert.deepEqual(
    elsewhere.map(({ file }) => file),
    [],
  );
});

test('what is read of a source text is what its statements do', () => {
  const tables = new Set(['nodes', 'apps', 'accounts']);
  const source = [
    '// Reads FROM apps only in this comment.',
    `const one = sql\`SELECT count(*) AS apps, $\{sql.ref('accounts.key')} FROM nodes\`;`,
    'const two = sql`UPDATE nodes n SET a = b(c, d), e = (SELECT x FROM y) FROM former WHERE f = g`;',
    "db.updateTable('nodes').set((expression) => ({ h: 1, i: expression('i') })).where('j', '=', 2);",
    "db.deleteFrom('apps').execute();",
    "if ('accounts' in touched) db.selectFrom('apps as a').innerJoin('nodes', 'nodes.id', 'a.node');",
    "const three = new JobTable<NodeId>('nodes', 'id');",
  ].join('\n');
  const uses = usesIn(source, tables);
  assert.deepEqual(
    uses.filter(({ sets }) => sets === null).map(({ table }) => table),
    ['nodes', 'apps', 'apps', 'nodes'],
  );
  assert.deepEqual(
    uses.filter(({ sets }) => sets !== null).map(({ table, sets }) => [table, sets]),
    [
      ['nodes', ['a', 'e']],
      ['nodes', ['h', 'i']],
      ['apps', 'all'],
      ['nodes', 'all'],
    ],
  );
});
