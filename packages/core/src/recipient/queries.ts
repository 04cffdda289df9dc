// All SQL of recipients. Who changes one holds the lock of its account.
import type { Recipient } from '@platform/contract';
import type { Executor } from '../database/schema.ts';

/** In one statement, so that the wrappings are those of the version. */
export async function selectRecipient(db: Executor, accountKey: string): Promise<Recipient | null> {
  const rows = await db
    .selectFrom('account_recipients as r')
    .leftJoin('recipient_wrappings as w', 'w.account_key', 'r.account_key')
    .select(['r.version', 'r.public_key', 'w.passkey_id', 'w.salt', 'w.sealed'])
    .where('r.account_key', '=', accountKey)
    .orderBy('w.passkey_id')
    .execute();
  const [first] = rows;
  if (first === undefined) return null;
  const wrappings = rows.flatMap(({ passkey_id: passkeyId, salt, sealed }) =>
    passkeyId === null || salt === null || sealed === null ? [] : [{ passkeyId, salt, sealed }],
  );
  return { version: first.version, publicKey: first.public_key, wrappings };
}

/** In place of what was there. */
export async function writeRecipient(trx: Executor, accountKey: string, recipient: Recipient): Promise<void> {
  const { version, publicKey, wrappings } = recipient;
  const row = { version, public_key: publicKey };
  await trx
    .insertInto('account_recipients')
    .values({ account_key: accountKey, ...row })
    .onConflict((conflict) => conflict.column('account_key').doUpdateSet(row))
    .execute();
  await trx.deleteFrom('recipient_wrappings').where('account_key', '=', accountKey).execute();
  const rows = wrappings.map(({ passkeyId, salt, sealed }) => ({
    account_key: accountKey,
    passkey_id: passkeyId,
    salt,
    sealed,
  }));
  if (rows.length > 0) await trx.insertInto('recipient_wrappings').values(rows).execute();
}

/** What was read before it is of a former version from then on. */
export async function dropWrapping(trx: Executor, accountKey: string, passkeyId: string): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('recipient_wrappings')
    .where('account_key', '=', accountKey)
    .where('passkey_id', '=', passkeyId)
    .executeTakeFirst();
  if (numDeletedRows > 0n)
    await trx
      .updateTable('account_recipients')
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('account_key', '=', accountKey)
      .execute();
}
