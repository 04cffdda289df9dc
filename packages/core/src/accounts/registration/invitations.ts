// Who may register (PLATFORM_REGISTRATION, or Fleet), and the one-time invitations for those who may not without one.
import { type Invitation, limits, type NewInvitation, type RegistrationMode, refuse } from '@platform/contract';
import type { CoreConfig } from '../../config/config.ts';
import type { CoreContext } from '../../context.ts';
import { hashCredential } from '../../credentials/credential.ts';
import { newId } from '../../credentials/ids.ts';
import { registrationOf } from '../../settings/registration.ts';
import { accountNameTaken, type Executor } from '../queries.ts';
import {
  deleteInvitation,
  insertInvitation,
  isAnyAccount,
  isInvited,
  selectInvitations,
  takeInvitation,
} from './invitation-queries.ts';

const DAY_MILLISECONDS = 86_400_000;

type Settings = { readonly config: Pick<CoreConfig, 'registration'> };

/** Newest first. */
export async function listInvitations({
  database,
  clock,
}: Pick<CoreContext, 'database' | 'clock'>): Promise<Invitation[]> {
  const rows = await selectInvitations(database, clock());
  return rows.map((row) => ({
    id: row.id,
    name: row.account_name,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }));
}

/**
 * @param name the only one that can be registered with it; `null` for any
 * @throws RefusalError `not_authorized` while registration is closed, `account_name_taken` for a name that cannot be registered,
 *   `invalid_request` beyond `limits.invitations`
 */
export async function createInvitation(
  context: Pick<CoreContext, 'database' | 'clock' | 'time' | 'random'> & {
    readonly config: Pick<CoreConfig, 'registration' | 'origin'>;
  },
  name: string | null,
): Promise<NewInvitation> {
  const { database, config, clock, time, random } = context;
  if ((await registrationOf(config, database)) === 'closed' && (await isAnyAccount(database)))
    throw refuse(
      'not_authorized',
      'Registration is closed. Choose “invite” in Fleet, or set PLATFORM_REGISTRATION=invite, to invite people.',
    );
  if (name !== null && (await accountNameTaken(database, name)))
    throw refuse('account_name_taken', `${name} has an account, or had one. Nobody can register this name.`);
  const now = clock();
  const token = `piv_${random(32).toString('base64url')}`;
  const row = {
    id: newId('inv', { clock, random }),
    token_hash: hashCredential(token),
    account_name: name,
    created_at: now,
    expires_at: new Date(now.getTime() + limits.invitationDays.value * DAY_MILLISECONDS),
  };
  if (!(await insertInvitation(database, row, { most: limits.invitations.value, proven: time.proven() })))
    throw refuse('invalid_request', `${limits.invitations.value} invitations are unused already. Revoke some first.`);
  return {
    id: row.id,
    name,
    createdAt: now.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    // The fragment never reaches a server or its log.
    url: `${config.origin}/#invite=${token}`,
  };
}

/** @throws RefusalError `not_found` */
export async function revokeInvitation({ database }: Pick<CoreContext, 'database'>, id: string): Promise<void> {
  if (!(await deleteInvitation(database, id)))
    throw refuse('not_found', 'There is no such invitation. It was used, revoked, or has expired.');
}

/**
 * Before the ceremony, so that nobody makes a passkey that no account would use. What counts is {@link useInvitation}.
 *
 * @throws RefusalError `not_authorized`
 */
export async function requireInvited(
  context: Settings & Pick<CoreContext, 'database' | 'clock'>,
  { name, tokenHash }: { readonly name: string; readonly tokenHash: Buffer | null },
): Promise<void> {
  const { config, database, clock } = context;
  const registration = await registrationOf(config, database);
  if (registration === 'open') return;
  await requireNotClosed(registration, database);
  if (tokenHash === null) throw invitationOnly();
  if (!(await isInvited(database, { tokenHash, name, now: clock() }))) throw unusable();
}

/**
 * Uses the invitation up in the transaction that makes the account, before its row: of two registrations at the same time
 * the second one waits, and finds it used.
 *
 * @throws RefusalError `not_authorized`
 */
export async function useInvitation(
  trx: Executor,
  { config }: Settings,
  { name, tokenHash, now }: { readonly name: string; readonly tokenHash: Buffer | null; readonly now: Date },
): Promise<void> {
  const registration = await registrationOf(config, trx);
  if (registration !== 'open') {
    await requireNotClosed(registration, trx);
    if (tokenHash === null) throw invitationOnly();
  }
  // Where everybody may register, a link that was opened is used up all the same.
  const taken = tokenHash !== null && (await takeInvitation(trx, { tokenHash, name, now }));
  if (registration !== 'open' && !taken) throw unusable();
}

/** The first account of a closed platform needs an invitation: only the operator, on the server, can make that one. */
async function requireNotClosed(registration: RegistrationMode, db: Executor): Promise<void> {
  if (registration === 'closed' && (await isAnyAccount(db)))
    throw refuse('not_authorized', 'This platform takes no new accounts.');
}

function invitationOnly() {
  return refuse('not_authorized', 'This platform is invitation only. Ask its operator for a link.');
}

function unusable() {
  return refuse(
    'not_authorized',
    'This invitation does not work: it was used or revoked, has expired, or is for another name. Ask the operator for a new one.',
  );
}
