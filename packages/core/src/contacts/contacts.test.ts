// The address book: one contact for one person, in whatever form the address was given.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Contact, limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const SERVER = 'shell.platform.localhost';
const CONTACTS = '/v1/account/contacts';

let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;

before(async () => {
  world = await startConstellation({ clock: () => new Date(NOW) });
  ada = await registerAccount(world, 'ada-book');
  ben = await registerAccount(world, 'ben-book');
});
after(() => world.close());

const add = (address: string, more: object = {}) => ada.fetch(CONTACTS, { body: { address, ...more } });
const contactIn = (answer: RawAnswer) => (answer.json as { contact: Contact }).contact;

test('a contact is added by any form of the address, once', async () => {
  const added = await add(' Ben-Book ', { label: 'Ben', note: 'from school\r\nsecond line' });
  assert.equal(added.status, 201, added.text);
  const contact = contactIn(added);
  assert.match(contact.id, /^ctc-/);
  assert.deepEqual(contact, {
    id: contact.id,
    address: `ben-book@${SERVER}`,
    external: false,
    transport: { userId: `@ben-book:${SERVER}`, resolvedAt: NOW },
    label: 'Ben',
    note: 'from school\nsecond line',
    createdAt: NOW,
  });
  for (const form of ['ben-book', `BEN-book@${SERVER}`, `@ben-book:${SERVER.toUpperCase()}`])
    assert.equal(problemCode(await add(form)), 'contact_exists', form);
  const outside = contactIn(await add('Grace@Example.ORG'));
  assert.deepEqual([outside.address, outside.external, outside.transport], ['@Grace:example.org', true, null]);
  assert.equal(problemCode(await add('@Grace:example.org')), 'contact_exists');
});

test('what is no address, nobody and oneself are refused with their reason', async () => {
  for (const wrong of [
    'a b',
    '@',
    'x@',
    '@x',
    '@x:',
    'x@exa mple',
    'ada@@',
    'gràce@example.org',
    '@x:\u202eexample.org',
  ])
    assert.equal((await add(wrong)).status, 400, wrong);
  assert.equal(problemCode(await add('nobody-here')), 'not_found');
  assert.equal(problemCode(await add('ada-book')), 'invalid_request');
  for (const more of [
    { label: 'x'.repeat(101) },
    { note: 'x'.repeat(1_001) },
    { label: 'a\u202eb' },
    { trusted: true },
  ])
    assert.equal(problemCode(await add('ben-book', more)), 'invalid_request');
});

test('a contact is changed and removed by its owner alone; others do not learn that it is there', async () => {
  const contact = contactIn(await add('@other:example.org', { label: 'before' }));
  const one = `${CONTACTS}/${contact.id}`;
  assert.equal(contactIn(await ada.fetch(one, { method: 'PATCH', body: { label: 'after' } })).label, 'after');
  assert.equal(contactIn(await ada.fetch(one, { method: 'PATCH', body: { note: 'a note' } })).label, 'after');
  assert.equal((await ada.fetch(one, { method: 'PATCH', body: {} })).status, 400);
  for (const settings of [{ method: 'PATCH', body: { label: 'x' } }, { method: 'DELETE' }])
    assert.equal((await ben.fetch(one, settings)).status, 404);
  assert.equal((await ada.fetch(one, { method: 'DELETE' })).status, 204);
  assert.equal((await ada.fetch(one, { method: 'DELETE' })).status, 404);
});

test('pages have every contact once, and an account has a bounded number', async () => {
  const { rows } = await world.core.context.pool.query<{ key: string }>(
    `SELECT key FROM accounts WHERE name = 'ben-book'`,
  );
  await world.core.context.pool.query(
    `INSERT INTO contacts (id, account_key, address, external, label, note, created_at)
     SELECT 'ctc-' || uuidv7.id, $1, '@x' || number || ':example.org', true, '', '', now()
       FROM generate_series(1, $2) AS number,
            LATERAL (SELECT '01900000-0000-7000-8000-' || lpad(to_hex(number), 12, '0') AS id) AS uuidv7`,
    [rows[0]?.key, limits.contacts.value],
  );
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = (await ben.fetch(`${CONTACTS}?limit=200${query}`)).json as {
      items: Contact[];
      nextCursor: string | null;
    };
    for (const { address } of page.items) seen.add(address);
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.equal(seen.size, limits.contacts.value);
  const refused = await ben.fetch(CONTACTS, { body: { address: 'ada-book' } });
  assert.equal(problemCode(refused), 'invalid_request');
});
