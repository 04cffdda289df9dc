// Promises of the file of AI providers: what it may say, and that each wrong one is refused with what is wrong.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { IntelligenceFile, readIntelligenceFile } from './intelligence-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'intelligence-'));
const file = path.join(folder, 'providers.json');
after(() => rmSync(folder, { recursive: true }));
writeFileSync(path.join(folder, 'key'), 'sk-1\n', { mode: 0o600 });
writeFileSync(path.join(folder, 'open'), 'sk-1\n');
chmodSync(path.join(folder, 'open'), 0o640);
writeFileSync(path.join(folder, 'words'), 'sk one\n', { mode: 0o600 });

function read(content: unknown) {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readIntelligenceFile(file);
}

const ONE = { id: 'one', baseUrl: 'https://one.example/v1', dialect: 'openai' };

test('a file says providers, their keys, variables and models, and what apps may use', () => {
  const { providers, ...rest } = read({
    providers: [
      {
        ...ONE,
        name: 'One & Co.',
        platformKeyFile: 'key',
        environment: { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' },
        models: [{ id: 'small', inputPrice: 0.5, outputPrice: 2 }],
      },
      { id: 'two', baseUrl: 'http://127.0.0.1:11434/v1/', dialect: 'openai' },
      { id: 'three', baseUrl: 'https://[fd00::1]:8443', dialect: 'anthropic', streamUsage: false },
    ],
    requestsPerMinute: 5,
  });
  assert.deepEqual(rest, { requestsPerMinute: 5, monthlyTokens: null, bodyMiB: null, currency: null });
  assert.deepEqual(
    providers.map(({ streamUsage }) => streamUsage),
    [true, true, false],
  );
  assert.deepEqual(
    providers.map(({ id, name, baseUrl, platformKey, environment }) => [
      id,
      name,
      baseUrl,
      platformKey?.open().toString() ?? null,
      environment,
    ]),
    [
      ['one', 'One & Co.', 'https://one.example/v1', 'sk-1', { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY' }],
      ['two', 'two', 'http://127.0.0.1:11434/v1', null, null],
      ['three', 'three', 'https://[fd00::1]:8443', null, null],
    ],
  );
});

const twice = [
  { ...ONE, environment: { baseUrl: 'A', apiKey: 'B' } },
  { ...ONE, id: 'two', environment: { baseUrl: 'C', apiKey: 'B' } },
];
for (const [content, what] of [
  ['{', /it is not JSON/],
  [{}, /providers: is missing/],
  [{ providers: [ONE], budget: 1 }, /unknown member "budget"/],
  [{ providers: [{ ...ONE, id: 'One' }] }, /providers\.0\.id/],
  [{ providers: [{ ...ONE, dialect: 'x' }] }, /providers\.0\.dialect: must be "openai" or "anthropic"/],
  [{ providers: [{ ...ONE, baseUrl: 'ftp://one.example' }] }, /providers\.0\.baseUrl/],
  [{ providers: [{ ...ONE, baseUrl: 'https://user@one.example' }] }, /providers\.0\.baseUrl/],
  [{ providers: [{ ...ONE, baseUrl: 'https://one.example/v1?x=1' }] }, /providers\.0\.baseUrl/],
  [{ providers: [{ ...ONE, baseUrl: 'https://one.example/a/../v1' }] }, /providers\.0\.baseUrl/],
  [{ providers: [ONE, ONE] }, /two providers have the id one/],
  [{ providers: twice }, /two providers set the variable B/],
  [{ providers: [{ ...ONE, environment: { baseUrl: 'PATH', apiKey: 'K' } }] }, /environment\.baseUrl/],
  [{ providers: [{ ...ONE, environment: { baseUrl: 'U', apiKey: 'PLATFORM_X' } }] }, /environment\.apiKey/],
  [{ providers: [{ ...ONE, platformKeyFile: 'none' }] }, /none cannot be read: ENOENT/],
  [{ providers: [{ ...ONE, platformKeyFile: 'open' }] }, /open to other users; run chmod 600/],
  [{ providers: [{ ...ONE, platformKeyFile: 'words' }] }, /one word of printable ASCII/],
  [{ providers: [ONE], requestsPerMinute: 0 }, /requestsPerMinute/],
  [{ providers: [ONE], currency: 'dollars' }, /currency: must be the code of a currency, such as USD/],
  [{ providers: [{ ...ONE, models: [{ id: 'a', inputPrice: -1 }] }] }, /providers\.0\.models\.0\.inputPrice/],
] as const) {
  test(`refused: ${JSON.stringify(content).slice(0, 90)}`, () => {
    assert.throws(
      () => read(content),
      (error: Error) => {
        assert.match(error.message, /^PLATFORM_INTELLIGENCE_FILE names /);
        assert.match(error.message, what);
        assert.doesNotMatch(error.message, /sk-1|sk one/);
        return true;
      },
    );
  });
}

test('what was read holds until the file can be read again', () => {
  read({ providers: [ONE] });
  const settings = new IntelligenceFile(file);
  writeFileSync(file, '{');
  assert.throws(() => settings.reload(), /not JSON/);
  assert.equal(settings.content.providers[0]?.baseUrl, 'https://one.example/v1');
  read({ providers: [] });
  settings.reload();
  assert.deepEqual(settings.content.providers, []);
  assert.deepEqual(new IntelligenceFile(null).content.providers, []);
});
