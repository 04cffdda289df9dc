// The owner revokes network.public of a running backend: when the answer is there, its open connection is frozen.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { inInternet, PUBLIC } from '../../packages/runtime/src/testing/in-internet.ts';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

const internet = { id: 'network.public', resources: ['*'] };
const ROUNDS = 5;

interface Held {
  /** How often the far side answered, and when it last did. */
  readonly answers: number;
  readonly at: number;
}

inInternet(
  import.meta.url,
  () => {
    let place: PlatformPlace;
    let platform: PlatformProcess | undefined;
    let account: TestAccount;
    let ask: AskBackend;

    before(async () => {
      place = await platformPlace();
      platform = await startPlatform(place);
      account = await registerAccount(place, 'traveller');
      const body = await buildTestPackage({
        manifest: testManifest('traveller', {
          workload: { runtime: 'node', entry: 'main.mjs' },
          permissions: [internet],
        }),
        files: {
          'frontend/index.html': '<!doctype html><title>t</title>',
          'workload/main.mjs': readFileSync(
            new URL('../../packages/runtime/src/testing/workloads/traveller.mjs', import.meta.url),
          ),
        },
      });
      const headers = { 'content-type': 'application/gzip' };
      const published = await account.fetch('/v1/catalog/traveller/versions/1.0.0', { method: 'PUT', body, headers });
      assert.equal(published.status, 201, published.text);
      await account.browser.take('/v1/apps', { body: { appId: 'traveller' } });
      ask = await openBackend(place, account, 'traveller');
    });

    after(async () => {
      await platform?.stop();
      await place.remove();
    });

    const put = (permissions: readonly (typeof internet)[]) =>
      account.browser.take('/v1/apps/traveller/permissions', { method: 'PUT', body: { permissions } });
    const answer = async <Answer = string>(path: string): Promise<Answer> => JSON.parse((await ask(path)).text);

    test('nothing passes any more when a revocation is answered, and that is soon', async (context) => {
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await put([internet]);
        assert.equal(await answer(`/hold/${PUBLIC}/7000`), 'held');
        const begun = Date.now();
        await put([]);
        const frozen = await answer<Held>('/held');
        assert.equal(await answer(`/tcp/${PUBLIC}/7000`), 'ENETUNREACH');
        const later = await answer<Held>('/held');
        assert.equal(later.answers, frozen.answers, 'nothing came after the answer');
        took.push(Math.max(0, later.at - begun));
      }
      took.sort((one, other) => one - other);
      context.diagnostic(`revocation to last packet, ms: median ${took[Math.floor(ROUNDS / 2)]}, worst ${took.at(-1)}`);
    });
  },
  'root',
  'ordinary user',
);
