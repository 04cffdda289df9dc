// Calls that turn text into code, commands or markup, and hashes that are broken, are nowhere in the sources.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url).pathname;

const DANGEROUS: readonly (readonly [what: string, pattern: RegExp, where?: RegExp])[] = [
  ['runs a command line through a shell', /(?<![.\w])exec\(|\bexecSync\(|\bshell:\s*true/],
  ['makes code of text', /(?<![.\w])eval\(|\bnew Function\(|\bset(?:Timeout|Interval)\(\s*['"`]/],
  [
    'makes markup of text',
    /\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdangerouslySetInnerHTML\b|\bdocument\.write\b|\bDOMParser\b|\bcreateContextualFragment\b/,
  ],
  [
    'uses a hash or a cipher that is broken or unauthenticated',
    /['"](?:md5|sha1|rc4|des(?:-[\w-]+)?|[\w-]+-(?:ecb|cbc|ctr))['"]/i,
    // S3 demands Content-MD5, against accidents on the way, of a list of deletions, and RFC 6455 SHA-1 of a handshake.
    /^(?!packages\/http\/src\/(?:s3\/send|web-socket)\.ts)/,
  ],
  // In a browser it only spreads retries.
  [
    'leaves a random value to a generator that can be predicted',
    /\bMath\.random\(/,
    /^packages\/(?!sdk|shell|contract)/,
  ],
  ['accepts any certificate', /NODE_TLS_REJECT_UNAUTHORIZED/],
];

async function sources(): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob('{packages,apps,examples,scripts}/**/*.{ts,tsx,js,mjs}', {
    cwd: ROOT,
    exclude: (name) => /(?:^|\/)(?:node_modules|dist|test-support)$/.test(name),
  }))
    if (!/\.test\.ts$|(?:^|\/)(?:dist|test-support|node_modules)\//.test(file)) files.push(file);
  return files;
}

test('no source runs a shell, makes code or markup of text, or uses a broken hash or cipher', async () => {
  const files = await sources();
  assert.ok(files.length > 300);
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        DANGEROUS.filter(([, pattern, where]) => pattern.test(line) && (where?.test(file) ?? true)).map(
          ([what]) => `${file}:${at + 1} ${what}`,
        ),
      ),
  );
  assert.deepEqual(found, []);
});

test('each of these calls would be found', () => {
  const samples = [
    "exec('ls')",
    'eval(text)',
    'element.innerHTML = text',
    "createHash('md5')",
    'Math.random()',
    'NODE_TLS_REJECT_UNAUTHORIZED=0',
  ];
  assert.deepEqual(
    samples.map((sample) => DANGEROUS.findIndex(([, pattern]) => pattern.test(sample))),
    DANGEROUS.map((_, place) => place),
  );
});
