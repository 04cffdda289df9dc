// Joins a machine as a node or an Ingress: it presents the operator's single-use token and proves possession of its key.

import {
  enrolmentPrefixes,
  type joinMemberBody,
  joinProofText,
  limits,
  type MemberKind,
  refuse,
  writeEnrolmentToken,
} from '@platform/contract';
import { publicKeyText, verifyText } from '@platform/link';
import type * as z from 'zod';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { hashCredential } from '../credentials/credential.ts';
import { linkKeyOf } from '../credentials/master-key.ts';
import type { Executor } from '../database/schema.ts';
import { type CredentialStore, type FreshCredential, freshCredential, readKey } from './member-credentials.ts';

/** What a token must be used up for, and by whom. */
export interface UsedToken {
  /** By the same key, which alone may use it again. */
  readonly repeated: boolean;
}

export interface NewMember<Token> {
  readonly name: string;
  readonly publicKey: Buffer;
  readonly token: Token;
  readonly fresh: FreshCredential;
  readonly now: Date;
}

/** Where the tokens and the members of one kind are. */
export interface MemberStore<Token extends UsedToken> extends CredentialStore {
  useToken(
    trx: Executor,
    token: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
  ): Promise<Token | undefined>;
  findByKey(trx: Executor, publicKey: Buffer): Promise<string | undefined>;
  /** Returns its id, or `undefined` when another member of this kind has the name. */
  insert(trx: Executor, member: NewMember<Token>): Promise<string | undefined>;
}

type TokenContext = Pick<CoreContext, 'database' | 'clock' | 'time' | 'random' | 'masterKey'> & {
  readonly config: Pick<CoreContext['config'], 'origin'>;
};

/** An enrolment token for one machine. @param insert stores it by its hash */
export async function createEnrolmentToken(
  context: TokenContext,
  kind: MemberKind,
  insert: (token: { readonly hash: Buffer; readonly expiresAt: Date; readonly proven: ProvenTime }) => Promise<void>,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.nodeTokenSeconds.value * 1_000);
  const secret = enrolmentPrefixes[kind] + context.random(32).toString('base64url');
  await insert({ hash: hashCredential(secret), expiresAt, proven: context.time.proven() });
  const token = writeEnrolmentToken({
    secret,
    host: new URL(context.config.origin).host,
    key: publicKeyText(linkKeyOf(context.masterKey).publicKey),
  });
  return { token, expiresAt };
}

/**
 * @throws RefusalError `unauthenticated` for a token that is unknown, used or expired, or a signature that is not the
 *   key's; `invalid_request` for a name that another member has
 */
export async function joinMember<Token extends UsedToken>(
  context: CoreContext,
  store: MemberStore<Token>,
  body: z.output<typeof joinMemberBody>,
): Promise<{ readonly id: string; readonly fresh: FreshCredential }> {
  const publicKey = readKey(body.publicKey);
  const text = joinProofText(new URL(context.config.origin).host, body.token, store.kind);
  if (!verifyText(publicKey, text, body.signature))
    throw refuse('unauthenticated', 'The signature is not one of this key for this platform.');
  const fresh = freshCredential(context, store.kind);
  const now = context.clock();
  const id = await context.database.transaction().execute(async (trx) => {
    const token = await store.useToken(trx, { hash: hashCredential(body.token), publicKey, now });
    if (token === undefined) throw refuse('unauthenticated', 'The enrolment token is unknown, used or expired.');
    const known = await store.findByKey(trx, publicKey);
    if (known !== undefined) {
      if (!token.repeated) throw refuse('invalid_request', `This machine is ${store.words} of this platform already.`);
      await store.replaceCredential(trx, known, fresh);
      return known;
    }
    const inserted = await store.insert(trx, { name: body.name, publicKey, token, fresh, now });
    if (inserted === undefined)
      throw refuse('invalid_request', `Another machine that is ${store.words} has this name. Choose one with --name.`, {
        errors: [{ path: 'name', message: 'belongs to another machine' }],
      });
    return inserted;
  });
  context.log.info({ id, name: body.name }, `${store.words} joined`);
  return { id, fresh };
}
