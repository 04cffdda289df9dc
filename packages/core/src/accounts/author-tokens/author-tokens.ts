// Command lines of authors: a request with a code, the decision of a person, and the token (docs/decisions/cli-login.md).
import {
  AUTHOR_CODE_LETTERS,
  type AuthorReview,
  clientNetwork,
  limits,
  refuse,
  writtenAuthorCode,
} from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { hashCredential, newCredential } from '../../credentials/credential.ts';
import { newId } from '../../credentials/ids.ts';
import { keyedHash } from '../../credentials/master-key.ts';
import { notify } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { type Confirming, confirmed } from '../passkeys/confirm.ts';
import {
  decideRequest,
  deleteToken,
  deleteTokensBeyond,
  deleteTokensOfPasskey,
  findRequest,
  findUndecided,
  insertRequest,
  insertToken,
  lockAccountName,
  takeDecided,
} from './author-queries.ts';

const CODE_LENGTH = 10;

export interface BegunRequest {
  /** `par_…`, known to the database by its SHA-256. */
  readonly requestToken: string;
  /** As a person reads it. */
  readonly code: string;
  readonly expiresAt: Date;
}

/** @param address of the client */
export async function beginRequest(
  {
    database,
    masterKey,
    clock,
    time,
    random,
  }: Pick<CoreContext, 'database' | 'masterKey' | 'clock' | 'time' | 'random'>,
  { machine, address }: { readonly machine: string; readonly address: string },
): Promise<BegunRequest> {
  const now = clock();
  const expiresAt = new Date(now.getTime() + limits.authorRequestSeconds.value * 1_000);
  const requestToken = `par_${random(32).toString('base64url')}`;
  const code = randomCode(random);
  const row = {
    token_hash: hashCredential(requestToken),
    code_hash: codeHash(masterKey, code),
    ...{ machine, address, created_at: now, expires_at: expiresAt },
  };
  await database
    .transaction()
    .execute((trx) => insertRequest(trx, row, { kept: limits.authorRequests.value, proven: time.proven() }));
  return { requestToken, code: writtenAuthorCode(code), expiresAt };
}

/** Each letter as likely as any other: bytes beyond the last multiple of their number are thrown away. */
function randomCode(random: (bytes: number) => Buffer): string {
  const letters = AUTHOR_CODE_LETTERS;
  let code = '';
  while (code.length < CODE_LENGTH) {
    for (const byte of random(CODE_LENGTH * 2)) {
      if (byte < 256 - (256 % letters.length) && code.length < CODE_LENGTH)
        code += letters.charAt(byte % letters.length);
    }
  }
  return code;
}

function codeHash(masterKey: Buffer, code: string): Buffer {
  return keyedHash(masterKey, 'author-code', code);
}

/** @throws RefusalError `author_request_ended` for a code that is unknown, expired or decided */
export async function reviewRequest(
  { database, masterKey, clock }: Pick<CoreContext, 'database' | 'masterKey' | 'clock'>,
  code: string,
  address: string,
): Promise<AuthorReview> {
  const request = await findUndecided(database, codeHash(masterKey, code), clock());
  if (request === undefined) throw refuse('author_request_ended');
  return {
    machine: request.machine,
    address: request.address,
    sameNetwork: clientNetwork(request.address) === clientNetwork(address),
    requestedAt: request.created_at.toISOString(),
  };
}

/**
 * The token publishes in the name of the account for months: a session alone, as of an unlocked computer, is not enough.
 *
 * @throws RefusalError `author_request_ended`; as {@link confirmed}
 */
export async function allowRequest(
  context: CoreContext,
  { code, ...confirming }: Omit<Confirming, 'operation'> & { readonly code: string },
): Promise<void> {
  const { accountKey } = confirming.caller;
  await confirmed(context, { ...confirming, operation: 'author.allow' }, async (trx, passkeyId) => {
    const { machine } = await decide(context, trx, { code, accountKey, allowedBy: passkeyId });
    await context.lifecycle.securityEvent(trx, confirming.caller, { kind: 'command-line-allowed', machine });
  });
}

/** @throws RefusalError `author_request_ended` */
export async function denyRequest(context: CoreContext, code: string, accountKey: string): Promise<void> {
  await decide(context, context.database, { code, accountKey, allowedBy: null });
}

async function decide(
  { masterKey, clock }: Pick<CoreContext, 'masterKey' | 'clock'>,
  executor: Executor,
  {
    code,
    accountKey,
    allowedBy,
  }: { readonly code: string; readonly accountKey: string; readonly allowedBy: string | null },
): Promise<{ readonly machine: string }> {
  const decision = { codeHash: codeHash(masterKey, code), accountKey, allowedBy, now: clock() };
  const decided = await decideRequest(executor, decision);
  if (decided === undefined) throw refuse('author_request_ended');
  return decided;
}

export interface CollectedToken {
  /** `pat_…`: 256 random bits, known to the database by their SHA-256 only. */
  readonly token: string;
  readonly account: string;
  readonly expiresAt: Date;
}

/**
 * @returns `null` while nobody has decided
 * @throws RefusalError `author_request_denied`, and `author_request_ended` for what is unknown, expired or was collected
 */
export async function collectToken(context: CoreContext, requestToken: string): Promise<CollectedToken | null> {
  const { database, clock, time, random } = context;
  const now = clock();
  const hash = hashCredential(requestToken);
  const request = await findRequest(database, hash, now);
  if (request === undefined) throw refuse('author_request_ended');
  if (request.account_key === null) return null;
  if (request.allowed !== true) throw refuse('author_request_denied');
  return database.transaction().execute(async (trx) => {
    const taken = await takeDecided(trx, hash, now);
    if (taken?.account_key == null) throw refuse('author_request_ended');
    const accountKey = taken.account_key;
    // Held, so that a suspension that comes now finds the token.
    const account = await lockAccountName(trx, accountKey);
    if (account === undefined) throw refuse('author_request_denied');
    const kept = limits.authorTokensPerAccount.value - 1;
    for (const ended of await deleteTokensBeyond(trx, { accountKey, kept, proven: time.proven() }))
      await announceEnd(trx, ended);
    const token = newCredential('author', random);
    const expiresAt = new Date(now.getTime() + limits.authorTokenSeconds.value * 1_000);
    await insertToken(trx, {
      id: newId('tok', { clock, random }),
      token_hash: hashCredential(token),
      account_key: accountKey,
      machine: taken.machine,
      passkey_id: taken.passkey_id,
      ...{ created_at: now, last_used_at: now, expires_at: expiresAt },
    });
    return { token, account, expiresAt };
  });
}

/** @returns whether the account had such a token */
export function endToken(
  { database }: Pick<CoreContext, 'database'>,
  accountKey: string,
  id: string,
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const ended = await deleteToken(trx, accountKey, id);
    if (ended === undefined) return false;
    await announceEnd(trx, ended);
    return true;
  });
}

/** In the transaction that removes the passkey: what it allowed ends with it. */
export async function endTokensOfPasskey(
  trx: Executor,
  passkey: { readonly accountKey: string; readonly passkeyId: string },
): Promise<void> {
  for (const ended of await deleteTokensOfPasskey(trx, passkey)) await announceEnd(trx, ended);
}

function announceEnd(
  trx: Executor,
  { id, account_key: accountKey }: { id: string; account_key: string },
): Promise<void> {
  return notify(trx, 'author-token-ended', { accountKey, tokenId: id });
}
