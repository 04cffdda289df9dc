// Who may register, read where it decides: in the transaction of a registration, and by commands that know no other settings.
import type { RegistrationMode } from '@platform/contract';
import type { CoreConfig } from '../config/config.ts';
import type { Executor } from '../database/schema.ts';
import { selectValue } from './queries.ts';
import { sourced } from './settings.ts';

export async function registrationOf(
  { registration }: Pick<CoreConfig, 'registration'>,
  db: Executor,
): Promise<RegistrationMode> {
  if (registration !== null) return registration;
  return sourced(null, await selectValue(db, 'registration'), 'registration').value;
}
