// The versions that `platform dev` gives.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { appId, version as versionShape } from '@platform/contract';
import semver from 'semver';
import { devId, devVersion } from './dev-deploy.ts';

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
