// Who may register and who may publish.
import { accountName } from '@platform/contract';
import type { CoreConfig } from './config.ts';
import { choiceOf, listed, optionalChoiceOf, patternOf, type Read, textOf, wrong } from './variables.ts';

export type AccountSettings = Pick<
  CoreConfig,
  'masterAccount' | 'registration' | 'passkeyBackupChanges' | 'operatorContact' | 'publishers'
>;

/** One line, without what would change how the text beside it is shown. */
const CONTACT = /^[^\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]{0,120}$/u;
const PUBLISHERS = 'PLATFORM_PUBLISHERS';

export function readAccountSettings(read: Read): AccountSettings {
  const masterAccount = readMasterAccount(read('PLATFORM_MASTER_ACCOUNT'));
  return {
    masterAccount,
    registration: optionalChoiceOf(read, 'PLATFORM_REGISTRATION', ['open', 'invite', 'closed']),
    passkeyBackupChanges: choiceOf(read, 'PLATFORM_PASSKEY_BACKUP_CHANGES', ['refused', 'accepted']),
    operatorContact:
      patternOf(read, 'PLATFORM_OPERATOR_CONTACT', CONTACT, 'one line of at most 120 characters') || null,
    publishers: readPublishers(read, masterAccount),
  };
}

function readMasterAccount(value: string | undefined): string | null {
  if (value === undefined) return null;
  const result = accountName.safeParse(value);
  if (!result.success)
    throw wrong(
      'PLATFORM_MASTER_ACCOUNT',
      `is "${value}", which is not an account name`,
      'set the name of the account',
    );
  return result.data;
}

function readPublishers(read: Read, masterAccount: string | null): CoreConfig['publishers'] {
  const value = textOf(read, PUBLISHERS);
  if (value === 'everyone') return value;
  if (value === 'master') {
    if (masterAccount !== null) return value;
    throw wrong(PUBLISHERS, 'is master, but PLATFORM_MASTER_ACCOUNT is not set', 'set that to the name of the account');
  }
  const names = listed(value);
  if (names.length === 0)
    throw wrong(PUBLISHERS, 'names nobody', 'set everyone, master, or names of accounts separated by commas');
  return names.map((name) => {
    const result = accountName.safeParse(name);
    if (result.success) return result.data;
    throw wrong(
      PUBLISHERS,
      `names "${name}", which is not an account name`,
      'set everyone, master, or names of accounts separated by commas',
    );
  });
}
