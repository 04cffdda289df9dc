// Promise: a setting of the platform that assignments depend on reaches the nodes when it changes, and none is announced twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assignments } from '@platform/contract';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { bearer } from '../../test-support/apps.ts';
import { objectStoragePolicy } from '../object-storage/policy.ts';
import { Policies, type PolicyPart } from '../policy.ts';
import { announceSettings } from './announce-settings.ts';

let platform: Constellation;
before(async () => {
  platform = await startConstellation();
});
after(() => platform.close());

async function revision(): Promise<string> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/assignments');
  return assignments.parse(answer.json).revision;
}

function announce(...parts: PolicyPart[]): Promise<void> {
  const policies = new Policies();
  policies.follow(parts.map((policy) => ({ policy })));
  return announceSettings({ ...platform.core.context, policies });
}

test('what did not change is not announced, at a start and at a reload', async () => {
  const before = await revision();
  await announceSettings(platform.core.context);
  assert.equal(await revision(), before);
});

test('the rate of a service is announced when it changes, once', async () => {
  const { config, rates, settings } = platform.core.context;
  const withRate = (perMinute: number) =>
    objectStoragePolicy({ config, settings, rates: { ...rates, objectStorage: { perMinute, burst: perMinute } } });
  await announce(withRate(10));
  const before = await revision();
  await announce(withRate(20));
  const after = await revision();
  assert.notEqual(after, before);
  await announce(withRate(20));
  assert.equal(await revision(), after);
});
