// Whose turn it is: after three runs that passed on one line of commits, every third was tried, whatever ran on others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { beforeEach, test } from 'node:test';
import { type PassedRun, readRuns, recordRun, turnOf } from './turn.ts';

let root: string;
let cache: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, encoding: 'utf8' }).trim();
let made = 0;
const commit = () => {
  // Two with the same message in one second would be one commit.
  made += 1;
  git('commit', '--quiet', '--allow-empty', `--message=${made}`);
  return git('rev-parse', 'HEAD');
};

beforeEach((t) => {
  root = mkdtempSync(path.join(tmpdir(), 'platform-turn-'));
  cache = path.join(root, 'cache');
  if ('after' in t) t.after(() => rmSync(root, { recursive: true }));
  git('init', '--quiet', '--initial-branch=main');
  commit();
});

const turn = (given?: string, judged = true) => turnOf(root, { given, runs: readRuns(cache), judged });
function pass(more: Partial<PassedRun> = {}): string {
  const { third, device } = turn();
  recordRun({ commit: git('rev-parse', 'HEAD'), third, device, judged: true, ...more }, cache);
  return `${third} ${device}`;
}

test('runs that pass take the thirds in turn, on the other device the next time, however many commits came between', () => {
  const taken: string[] = [];
  for (const commits of [0, 1, 7, 2, 0, 3, 1]) {
    for (let left = commits; left > 0; left -= 1) commit();
    taken.push(pass());
  }
  assert.deepEqual(new Set(taken.slice(0, 3).map((one) => one.at(0))), new Set(['1', '2', '3']));
  assert.equal(new Set(taken.slice(0, 6)).size, 6);
  assert.equal(taken[6], taken[0]);
});

test('a run that fails has its turn again', () => {
  pass();
  commit();
  const { third } = turn();
  commit();
  assert.equal(turn().third, third);
});

test('a run on a branch counts on the main line once that contains it', () => {
  const first = pass().at(0);
  git('checkout', '--quiet', '-b', 'branch');
  commit();
  const second = pass().at(0);
  git('checkout', '--quiet', 'main');
  commit();
  assert.equal(String(turn().third), second, 'not tried here');
  git('merge', '--quiet', '--no-edit', 'branch');
  assert.ok(![first, second].includes(String(turn().third)));
});

test('where skipped tests fail a run, one where they do not is no trial', () => {
  const { third } = turn();
  pass({ judged: false });
  assert.equal(turn().third, third);
  assert.notEqual(turn(undefined, false).third, third);
});

test('what changed is since the last run here; without one since the branch left main; on main since the commit before', () => {
  const first = git('rev-parse', 'HEAD');
  const second = commit();
  commit();
  assert.equal(turn().since, second);
  git('checkout', '--quiet', '-b', 'branch', first);
  commit();
  commit();
  assert.equal(turn().since, first);
  const tried = commit();
  pass();
  commit();
  assert.equal(turn().since, tried);
});

test('without a record each commit has the turn after that of the commit before it, and says that this is why', () => {
  const thirds = [1, 2, 3].map(() => {
    commit();
    assert.match(turn().by, /no run of this line/);
    return turn().third;
  });
  assert.equal(new Set(thirds).size, 3);
});

test('a number that is given decides, as that of a run does', () => {
  pass();
  const given = ['1', '2', '3', '4', '6', '7'].map((number) => turn(number));
  assert.deepEqual(
    given.map(({ third, device }) => `${third} ${device}`),
    ['1 desktop', '2 desktop', '3 desktop', '1 phone', '3 phone', '1 desktop'],
  );
  assert.equal(given[5]?.number, 7);
  assert.throws(() => turn('0'), /PLATFORM_TEST_TURN needs a number/);
});

test('a checkout without history, and a record that is damaged, are a first run', () => {
  rmSync(path.join(root, '.git'), { recursive: true });
  assert.deepEqual([turn().third, turn().device, turn().since], [1, 'desktop', undefined]);
  recordRun({ commit: 'none', third: 1, device: 'phone', judged: true }, cache);
  writeFileSync(path.join(cache, 'runs.json'), '[{ "commit"');
  assert.deepEqual(readRuns(cache), []);
});
