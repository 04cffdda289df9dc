// However a folder is saved, its change is noticed, once it is over.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { folderState, statesOf } from './watch.ts';

let parent = '';
let folder = '';
const page = () => path.join(folder, 'frontend/index.html');
const ending = new AbortController();
let states: AsyncGenerator<string, void, undefined>;

before(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'dev-watch-'));
  folder = path.join(parent, 'app');
  await mkdir(path.join(folder, 'frontend'), { recursive: true });
  await mkdir(path.join(folder, 'workload'));
  await writeFile(path.join(folder, 'manifest.json'), '{}');
  await writeFile(page(), 'first');
  states = statesOf(folder, ending.signal);
  await next();
});
after(async () => {
  ending.abort();
  await states.return();
  await rm(parent, { recursive: true });
});

async function next(): Promise<string> {
  const { value } = await states.next();
  assert.equal(value, await folderState(folder), 'it is what the folder holds now');
  return value ?? assert.fail();
}

const saves: Readonly<Record<string, () => Promise<unknown>>> = {
  'written in place': () => writeFile(page(), 'in place'),
  'written beside and moved over it': async () => {
    await writeFile(`${page()}.tmp`, 'moved!!!');
    await rename(`${page()}.tmp`, page());
  },
  'moved over it with the same size and the same time': async () => {
    const at = new Date(1_700_000_000_000);
    await utimes(page(), at, at);
    await next();
    await writeFile(`${page()}.tmp`, 'MOVED!!!');
    await utimes(`${page()}.tmp`, at, at);
    await rename(`${page()}.tmp`, page());
  },
  'moved away, and written anew': async () => {
    await rename(page(), `${page()}~`);
    await writeFile(page(), 'anew');
    await rm(`${page()}~`);
  },
  'a file in new folders': async () => {
    await mkdir(path.join(folder, 'frontend/a/b/c'), { recursive: true });
    await writeFile(path.join(folder, 'frontend/a/b/c/deep.js'), '1');
  },
  'a change in those': () => writeFile(path.join(folder, 'frontend/a/b/c/deep.js'), '12'),
  'a part is deleted': () => rm(path.join(folder, 'frontend'), { recursive: true }),
  'and made anew': async () => {
    await mkdir(path.join(folder, 'frontend'));
    await writeFile(page(), 'made anew');
  },
  'a change in that': () => writeFile(page(), 'changed in that'),
  'the folder is gone': () => rename(folder, `${folder}-away`),
  'and comes back as a copy': () => cp(`${folder}-away`, folder, { recursive: true }),
  'a change in the copy': () => writeFile(page(), 'changed in the copy'),
  'another one takes its place, as with a checkout': async () => {
    await writeFile(path.join(`${folder}-away`, 'manifest.json'), '{ "another": true }');
    await rename(folder, `${folder}-former`);
    await rename(`${folder}-away`, folder);
  },
};

for (const [what, save] of Object.entries(saves)) {
  test(what, async () => {
    await save();
    await next();
  });
}

test('a burst of changes is one', async () => {
  for (let n = 0; n < 200; n += 1) await writeFile(path.join(folder, `frontend/${n}.js`), String(n));
  const state = await next();
  assert.equal(await readFile(path.join(folder, 'frontend/199.js'), 'utf8'), '199');
  assert.equal(state, await folderState(folder));
});

test('what is not packed, and the swap files of editors, change nothing', async () => {
  const before = await folderState(folder);
  for (const name of ['.index.html.swp', 'frontend/.index.html.swp', 'README.md', '.git/index', 'node_modules/x.js']) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), 'x');
  }
  assert.equal(await folderState(folder), before);
});

test('it ends at once when it is no longer needed', async () => {
  const asked = states.next();
  ending.abort();
  assert.deepEqual(await asked, { done: true, value: undefined });
});
