// Search: how long the database takes to find, how long 16 callers wait over HTTP, how many slips are understood, and
// how long a replacement takes; with ten times the accounts as well. Core alone on one core of the machine, PostgreSQL on
// a disk and the callers on the other. `PLATFORM_BENCH_SEARCH_SMALL=1` leaves out the ten times, which takes minutes.
import http from 'node:http';
import {
  type IndexOwner,
  openSearchPool,
  postgresEngine,
  SearchQuery,
} from '../../packages/core/test-support/internals.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { startCoreAlone } from '../core-alone.ts';
import { atLeast, atMost, median, percentile, printRow, reported } from '../machine.ts';
import { Corpus, type Note, type Question } from './corpus.ts';
import { fill, multiply } from './fill.ts';
import { ask, type Finder, miniSearch, orama } from './peers.ts';
import { CALLERS, type SearchServer } from './server-line.ts';

const ACCOUNTS = 1_000;
const NOTES_EACH = 100;
const TIMES = 10;
const QUESTIONS = 4_000;
const PEER_QUESTIONS = 200;
const REQUESTS = 8_000;
const REPLACED = 10_000;

await using bench = await startCoreAlone<SearchServer>({
  server: new URL('./server.ts', import.meta.url),
  postgres: 'disk',
});
const server = bench.line;
const corpus = new Corpus(NOTES_EACH);
say(`filling with ${ACCOUNTS * NOTES_EACH} notes …`);
const owners = await fill(server, corpus, ACCOUNTS);
await bench.separate();
const questions = corpus.questions(QUESTIONS, ACCOUNTS, 7);
const small = await measureSize({ server, owners, questions, corpus, factor: 1 });
await measureReplace(server, corpus);
await measurePeers(corpus);
if (process.env.PLATFORM_BENCH_SEARCH_SMALL !== '1') {
  say(`copying every account ${TIMES - 1} times …`);
  await multiply(server.databaseUrl, TIMES);
  const large = await measureSize({ server, owners, questions, corpus, factor: TIMES });
  printRow(atMost('the same with ten times the accounts, median, as a multiple', large / small, '', 2));
}

interface Size {
  readonly server: SearchServer;
  readonly owners: readonly IndexOwner[];
  readonly questions: readonly Question[];
  readonly corpus: Corpus;
  /** Of the bounds: with ten times the accounts, twice the time is allowed. */
  readonly factor: number;
}

/** @returns the median in the database */
async function measureSize({ server, owners, questions, corpus, factor }: Size): Promise<number> {
  const allowed = factor === 1 ? 1 : 2;
  const what = `${(ACCOUNTS * NOTES_EACH * factor).toLocaleString('en')} entries of ${(ACCOUNTS * factor).toLocaleString('en')} accounts`;
  const pool = openSearchPool({ url: server.databaseUrl, onError: (error) => say(String(error)) });
  const engine = postgresEngine(pool);
  const finder: Finder = async (account, typed, limit) => {
    const scope = { accountKey: owners[account]?.accountKey ?? '', appId: null, kind: null };
    const items = await engine.find(scope, new SearchQuery(typed), { typedLength: typed.length, limit });
    return items.map(({ id }) => id);
  };
  await ask(finder, questions.slice(0, 500));
  const { times, recall } = await ask(finder, questions);
  await pool.end();
  printRow(atMost(`search in the database, ${what}, median`, median(times), 'ms', allowed));
  printRow(atMost('the same, 99th percentile', percentile(times, 99), 'ms', 5 * allowed));
  printRow(atLeast('words with a slip that find what was meant', recall * 100, '%', 90));
  await measureHttp(server, corpus, REQUESTS / 8);
  const overHttp = await measureHttp(server, corpus, REQUESTS);
  printRow(reported(`search over HTTP, ${what}, ${CALLERS} callers, median`, median(overHttp), 'ms'));
  printRow(atMost('the same, 99th percentile', percentile(overHttp, 99), 'ms', 10 * allowed));
  return median(times);
}

async function measureHttp(server: SearchServer, corpus: Corpus, requests: number): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CALLERS });
  const times: number[] = [];
  // Made before: the callers share their core with PostgreSQL.
  const typedBy = Array.from({ length: CALLERS }, (_, account) => typedAs(corpus, account, requests / CALLERS));
  await Promise.all(
    server.accounts.slice(0, CALLERS).map(async ({ cookie }, account) => {
      for (const typed of typedBy[account] ?? []) {
        const path = `/v1/search?q=${encodeURIComponent(typed)}`;
        const started = performance.now();
        await request(server, { agent, path, headers: { cookie } });
        times.push(performance.now() - started);
      }
    }),
  );
  agent.destroy();
  return times;
}

function typedAs(corpus: Corpus, account: number, count: number): string[] {
  const random = randomFrom(account);
  return Array.from({ length: count }, (_, at) => {
    const kind = at % 4 === 0 ? 'slip' : at % 4 === 1 ? 'beginning' : 'words';
    return corpus.question(kind, account, random).typed;
  });
}

interface Asked {
  readonly agent?: http.Agent;
  readonly path: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly put?: string;
}

/** @throws Error for an answer other than 200 */
function request({ port, host }: SearchServer, { agent, path, headers, put }: Asked): Promise<void> {
  return new Promise((resolve, reject) => {
    const method = put === undefined ? 'GET' : 'PUT';
    const options = { host: '127.0.0.1', port, path, method, headers: { host, ...headers }, ...(agent && { agent }) };
    const sent = http.request(options).once('error', reject);
    sent.once('response', (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${path} was answered ${response.statusCode}`));
      });
    });
    sent.end(put);
  });
}

/** Every entry is another one each time. */
async function measureReplace(server: SearchServer, corpus: Corpus): Promise<void> {
  const account = server.accounts[CALLERS];
  if (account === undefined) throw new Error('there is no account');
  const random = randomFrom(3);
  const times: number[] = [];
  const replace = async (entries: readonly Note[]) => {
    const headers = { authorization: `Bearer ${account.credential}`, 'content-type': 'application/json' };
    const put = JSON.stringify({ entries });
    const started = performance.now();
    await request(server, { path: '/v1/services/search/index', headers, put });
    return (performance.now() - started) / 1_000;
  };
  for (let round = 0; round < 4; round += 1)
    times.push(await replace(Array.from({ length: REPLACED }, (_, at) => corpus.note(`n${at}`, random))));
  // As it was: others ask for its notes.
  await replace(corpus.notesOf(CALLERS));
  const [first = Number.NaN, ...others] = times;
  printRow(reported('10,000 entries in place of 100, over HTTP', first, 's'));
  printRow(atMost('10,000 entries in place of 10,000 others, over HTTP, median', median(others), 's', 1.5));
}

async function measurePeers(corpus: Corpus): Promise<void> {
  const questions = corpus.questions(PEER_QUESTIONS, ACCOUNTS, 7);
  const peers: [string, () => Promise<Finder>][] = [
    ['MiniSearch', async () => miniSearch(corpus, ACCOUNTS)],
    ['Orama', () => orama(corpus, ACCOUNTS)],
  ];
  for (const [name, make] of peers) {
    say(`filling ${name} …`);
    const { times, recall } = await ask(await make(), questions);
    printRow(reported(`${name} in memory, the same entries in one index, median`, median(times), 'ms'));
    printRow(reported(`${name}, 99th percentile`, percentile(times, 99), 'ms'));
    printRow(reported(`${name}, words with a slip that find what was meant`, recall * 100, '%'));
  }
}

function say(line: string): void {
  process.stderr.write(`  ${line}\n`);
}
