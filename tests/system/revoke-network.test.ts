// The owner revokes network.public of a running backend: when the answer is there, its open connection is frozen.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inInternet, PUBLIC } from '../../packages/runtime/test-support/in-internet.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { installTraveller, internet, type TravellerApp } from '../support/traveller.ts';

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
    let traveller: TravellerApp;

    before(async () => {
      place = await platformPlace();
      platform = await startPlatform(place);
      traveller = await installTraveller(place, [internet]);
    });

    after(async () => {
      await platform?.stop();
      await place.remove();
    });

    test('nothing passes any more when a revocation is answered, and that is soon', async (context) => {
      const { answer, put } = traveller;
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
