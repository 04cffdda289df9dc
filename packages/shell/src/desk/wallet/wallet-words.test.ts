// What a person reads about a limit before they sign it: what the apps may propose until now, and then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy, PolicyOperation, WalletReview } from '@platform/contract';
import { appInWords, appsInWords, difference } from './wallet-words.ts';

const NOW = new Date('2026-11-29T12:00:00.000Z');
const ENDED = '2026-11-28T12:00:00.000Z';
const LATER = '2026-12-28T12:00:00.000Z';
const names: Readonly<Record<string, string>> = { shop: 'Shop', fund: 'Fund', rent: 'Rent' };
const nameOf = (appId: string) => names[appId] ?? appId;
const reading = { nameOf, inFull: (timestamp: string) => timestamp.slice(0, 10), now: NOW };
const balance = { currency: 'CREDIT', decimals: 2, before: '0', after: '0' };
const TERMS = 'At most 5.00 CREDIT a payment, to 2 people';

const asked = (appIds: readonly string[] | null) =>
  ({
    ...{ limits: { currency: 'CREDIT', perPayment: '500', perDay: null, perMonth: null }, recipientCount: 2, appIds },
  }) as unknown as PolicyOperation;
const there = (name: string, appIds: readonly string[] | null, expiresAt: string | null = null) =>
  ({
    ...{ name, appIds, expiresAt, currency: 'CREDIT', perPayment: '100', perDay: '200', perMonth: null },
    recipientCount: 1,
  }) as unknown as Policy;
const read = (appIds: readonly string[] | null, ...present: Policy[]) =>
  difference(asked(appIds), { present, balance } as Pick<WalletReview, 'present' | 'balance'>, reading);
const SMALL = 'at most 1.00 CREDIT a payment, 2.00 CREDIT in 24 hours, to one person';
const FREE = 'any amount, to anyone';

const CASES: Readonly<Record<string, readonly [ReturnType<typeof read>, ReturnType<typeof read>]>> = {
  'without any': [read(['shop']), { before: ['Any amount, to anyone'], kind: 'only', after: [TERMS] }],
  'for every app, without any': [read(null), { before: ['Any amount, to anyone'], kind: 'only', after: [TERMS] }],
  'beside another for the same app': [
    read(['shop'], there('A', ['shop'])),
    { before: [`“A”, Shop (shop): ${SMALL}`], kind: 'also', after: [TERMS] },
  ],
  'beside one that will end': [
    read(['shop'], there('A', ['shop'], LATER)),
    { before: [`“A”, Shop (shop): ${SMALL}, until 2026-12-28`], kind: 'also', after: [TERMS] },
  ],
  'beside one that ended': [
    read(['shop'], there('A', ['shop'], ENDED)),
    { before: ['“A”, Shop (shop): nothing; it ended on 2026-11-28'], kind: 'only', after: [TERMS] },
  ],
  'for every app, beside one for every app that ended': [
    read(null, there('A', null, ENDED)),
    { before: ['“A”, every app: nothing; it ended on 2026-11-28'], kind: 'only', after: [TERMS] },
  ],
  'beside one for every app': [
    read(['shop'], there('A', null)),
    { before: [`“A”, every app: ${SMALL}`], kind: 'also', after: [TERMS] },
  ],
  'for every app, beside one for one app': [
    read(null, there('A', ['shop'])),
    {
      before: [`“A”, Shop (shop): ${SMALL}`, `Every other app: ${FREE}`],
      kind: 'mixed',
      after: [TERMS, 'Every other app: only this. The rest: this, and what the policies above admit'],
    },
  ],
  'for every app, beside one for one app that ended': [
    read(null, there('A', ['shop'], ENDED)),
    {
      before: ['“A”, Shop (shop): nothing; it ended on 2026-11-28', `Every other app: ${FREE}`],
      kind: 'only',
      after: [TERMS],
    },
  ],
  'for three apps, of which one has none and one an ended one': [
    read(['shop', 'fund', 'rent'], there('A', ['shop']), there('B', ['fund'], ENDED)),
    {
      before: [
        `“A”, Shop (shop): ${SMALL}`,
        '“B”, Fund (fund): nothing; it ended on 2026-11-28',
        `Rent (rent): ${FREE}`,
      ],
      kind: 'mixed',
      after: [TERMS, 'Fund (fund) and Rent (rent): only this. The rest: this, and what the policies above admit'],
    },
  ],
};

for (const [what, [got, expected]] of Object.entries(CASES))
  test(`a limit ${what} reads as what it changes`, () => assert.deepEqual(got, expected));

test('amounts of a currency of former times are minor units', () => {
  const former = { ...there('A', ['shop']), currency: 'OLD' };
  assert.equal(
    read(['shop'], former).before[0],
    '“A”, Shop (shop): at most 100 OLD a payment, 200 OLD in 24 hours, to one person',
  );
});

test('an app is named with its id, which is what the passkey signs', () => {
  assert.equal(appInWords('shop', nameOf), 'Shop (shop)');
  assert.equal(appInWords('gone', nameOf), 'gone');
  assert.equal(appsInWords(['shop', 'gone', 'fund'], nameOf), 'Shop (shop), gone and Fund (fund)');
  assert.equal(appsInWords(null, nameOf), 'Every app');
});
