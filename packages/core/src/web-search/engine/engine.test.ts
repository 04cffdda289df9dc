// Search engines of operators: asked as they document it, whatever they answer; nothing of it is more than text and addresses.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { type FakeEngine, startFakeEngine } from '../../../test-support/fake-engine.ts';
import { StartError } from '../../config/start-error.ts';
import { SearchEngine } from './engine.ts';
import { readEngineFile } from './engine-file.ts';

let folder: string;
let fake: FakeEngine;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'web-search-'));
  fake = await startFakeEngine();
  await writeFile(path.join(folder, 'key'), 'a-key-of-the-operator\n', { mode: 0o600 });
});
after(async () => {
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  fake.seen.length = 0;
  fake.results = [{ title: 'Ficus', url: 'https://plants.example/ficus', text: 'Water it on Mondays.' }];
  fake.instead = null;
});

async function fileOf(content: unknown): Promise<string> {
  const file = path.join(folder, 'engine.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function search(content: Readonly<Record<string, unknown>>, query = 'ficus', count = 10) {
  const engine = new SearchEngine(readEngineFile(await fileOf(content)));
  try {
    return await engine.search(query, count, new AbortController().signal);
  } finally {
    await engine.close();
  }
}

const searxng = () => ({ kind: 'searxng', url: fake.origin });
const brave = () => ({ kind: 'brave', url: fake.origin, keyFile: 'key' });

for (const [kind, settings] of [
  ['searxng', searxng],
  ['brave', brave],
] as const) {
  test(`${kind}: the query goes out as it is, the results come back in one shape`, async () => {
    const query = 'größe & "ficus" + 植物 ?q=evil\u202E';
    const items = await search(settings(), query);
    assert.deepEqual(items, [{ title: 'Ficus', url: 'https://plants.example/ficus', snippet: 'Water it on Mondays.' }]);
    const [asked] = fake.seen;
    assert.equal(asked?.query.get('q'), query);
    assert.equal(asked?.headers.cookie, undefined);
    assert.equal(asked?.path, kind === 'brave' ? '/res/v1/web/search' : '/search');
    assert.equal(asked?.headers['x-subscription-token'], kind === 'brave' ? 'a-key-of-the-operator' : undefined);
  });

  test(`${kind}: no more results than asked for, and none without an address of a page`, async () => {
    const urls = [
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://a.example/',
      'https://user:pass@a.example/',
      '',
      'no',
      null,
      7,
    ];
    const bad = urls.map((url) => ({ title: 'x', url: url === 7 ? undefined : url, text: 'x' }));
    const long = { title: 'x', url: `https://a.example/${'a'.repeat(limits.webSearchUrl.value)}`, text: 'x' };
    const good = Array.from({ length: 30 }, (_, n) => ({ title: `${n}`, url: `https://a.example/${n}`, text: 'x' }));
    fake.results = [...bad, long, ...good];
    assert.deepEqual(
      (await search(settings(), 'x', 3)).map(({ title }) => title),
      ['0', '1', '2'],
    );
    fake.results = [];
    assert.deepEqual(await search(settings()), []);
  });

  test(`${kind}: texts are one bounded line of what a person sees`, async () => {
    const smuggled = [...'ignore all']
      .map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)))
      .join('');
    fake.results = [
      { title: `A\u202Eb\n\u0007c${smuggled}\u200B`, url: 'https://a.example/', text: 'x'.repeat(10_000) },
      { title: null, url: 'https://b.example/', text: undefined },
    ];
    const [first, second] = await search(settings());
    assert.equal(first?.title, 'Ab c');
    assert.equal(first?.snippet.length, limits.webSearchSnippet.value);
    assert.deepEqual([second?.title, second?.snippet], ['', '']);
  });

  for (const [what, answer] of [
    ['no JSON', (response) => response.end('<html>')],
    ['other JSON', (response) => response.end('{"results":"none","web":7}')],
    ['results that are none', (response) => response.end('{"results":[1],"web":{"results":[{"title":{}}]}}')],
    ['too deep', (response) => response.end(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
    ['too much', (response) => response.end(`"${'x'.repeat(limits.webSearchAnswer.value)}"`)],
    ['a refusal', (response) => response.writeHead(403).end('no')],
    ['a redirect', (response) => response.writeHead(302, { location: 'https://evil.example/' }).end()],
    ['nothing', (response) => response.destroy()],
  ] as readonly (readonly [string, NonNullable<FakeEngine['instead']>])[]) {
    test(`${kind}: an engine that answers ${what} has failed`, async () => {
      fake.instead = answer;
      await assert.rejects(search(settings()), (error) => {
        assert.ok(error instanceof RefusalError);
        assert.equal(error.refusal.code, 'upstream_failed');
        return true;
      });
      assert.equal(fake.seen.length, 1, 'and is asked once');
    });
  }
}

test('words that Brave marks are text', async () => {
  const text = 'Water your <strong>ficus</strong> &amp; fern &lt;daily&gt;, it&#x27;s easy; 1 < 2';
  fake.results = [{ title: '<b>Ficus</b>', url: 'https://a.example/', text }];
  assert.deepEqual(await search(brave()), [
    { title: 'Ficus', url: 'https://a.example/', snippet: "Water your ficus & fern <daily>, it's easy; 1 < 2" },
  ]);
});

test('an address may end with the path that the engine documents, or lie below another', async () => {
  for (const [url, asked] of [
    ['/', '/search'],
    ['/search', '/search'],
    ['/search/', '/search'],
    ['/searxng', '/searxng/search'],
  ] as const) {
    fake.seen.length = 0;
    await search({ kind: 'searxng', url: fake.origin + url }).catch(() => undefined);
    assert.equal(fake.seen[0]?.path, asked);
  }
});

test('a wrong file says what is wrong with it', async () => {
  await writeFile(path.join(folder, 'open-key'), 'secret');
  await chmod(path.join(folder, 'open-key'), 0o644);
  for (const [content, words] of [
    ['{', /it is not JSON/],
    [{ url: 'https://a.example' }, /kind/],
    [{ kind: 'google', url: 'https://a.example' }, /kind/],
    [{ kind: 'searxng', url: 'ftp://a.example' }, /url/],
    [{ kind: 'searxng', url: 'https://user:pass@a.example' }, /without user/],
    [{ kind: 'searxng', url: 'https://a.example/?q=1' }, /without user, query/],
    [{ kind: 'brave', url: 'https://a.example' }, /keyFile: is missing/],
    [{ kind: 'brave', url: 'http://a.example', keyFile: 'key' }, /must be https/],
    [{ kind: 'brave', url: 'https://a.example', keyFile: 'open-key' }, /open to other users/],
    [{ kind: 'brave', url: 'https://a.example', keyFile: 'none' }, /cannot be read/],
    [{ kind: 'searxng', url: 'https://a.example', key: 'x' }, /key/],
  ] as const) {
    const file = await fileOf(content);
    assert.throws(
      () => readEngineFile(file),
      (error) =>
        error instanceof StartError &&
        /PLATFORM_WEB_SEARCH_FILE names/.test(error.message) &&
        words.test(error.message),
      JSON.stringify(content),
    );
  }
});
