// The versions that `platform dev` gives.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { appId, devId, devVersion, isDevVersion, version as versionShape } from '@platform/contract';
import semver from 'semver';

const EARLY = new Date(1_763_719_042_123);
const LATE = new Date(1_763_719_042_124);

for (const [from, expected] of [
  ['1.2.3', '1.2.3-dev.1763719042123'],
  ['1.2.3-beta.1', '1.2.3-beta.1.dev.1763719042123'],
  ['1.2.3+build.7', '1.2.3-dev.1763719042123'],
] as const) {
  test(`${from} is tried out as ${expected}`, () => {
    assert.equal(devVersion(from, EARLY), expected);
    assert.ok(versionShape.safeParse(expected).success);
  });
}

test('a later try is above an earlier one, and both are below the release', () => {
  assert.ok(semver.lt(devVersion('1.2.3', EARLY), devVersion('1.2.3', LATE)));
  assert.ok(semver.lt(devVersion('1.2.3', LATE), '1.2.3'));
});

for (const [id, expected] of [
  ['notes', 'notes-dev'],
  ['a'.repeat(40), `${'a'.repeat(36)}-dev`],
  [`${'a'.repeat(35)}-bcde`, `${'a'.repeat(35)}-dev`],
] as const) {
  test(`${id} is tried out as ${expected}`, () => {
    assert.equal(devId(id), expected);
    assert.ok(appId.safeParse(expected).success);
  });
}

test('what is made here is recognised, and nothing else', () => {
  assert.ok(isDevVersion(devId('notes'), devVersion('1.2.3-beta.1', EARLY)));
  for (const [id, version] of [
    ['notes', '1.0.0-dev.1'],
    ['notes-dev', '1.0.0'],
    ['notes-dev', '1.0.0-dev'],
    ['notes-dev', '1.0.0-dev.1.2'],
  ] as const)
    assert.ok(!isDevVersion(id, version), `${id} ${version}`);
});
