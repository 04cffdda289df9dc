// The questions before the master account changes what others have. What draws them is loaded with the first of them.
import type { AccountChange, Invitation } from '@platform/contract';
import { ApiError } from '../../api/api-error.ts';
import { call, everyItem } from '../../api/client.ts';
import { type Asker, ask } from './ask.tsx';

/** What the operator is asked about. */
export type OperatorMatter =
  | { readonly kind: 'change'; readonly name: string; readonly change: AccountChange }
  /** `name` is `null` for any. */
  | { readonly kind: 'invite'; readonly name: string | null }
  | { readonly kind: 'uninvite'; readonly invitation: Invitation };

async function askOperator(matter: OperatorMatter, asker: Asker): Promise<boolean> {
  // Before the question is shown, so that its refusal has the focus from the beginning.
  const { OperatorReview } = await import('./operator-review.tsx');
  return ask(OperatorReview, asker, { matter });
}

/** Before the master account changes an account. */
export function askToChangeAccount(name: string, change: AccountChange, asker: Asker): Promise<boolean> {
  return askOperator({ kind: 'change', name, change }, asker);
}

/** Before the master account creates an invitation, whose link is then shown. @param name `null` for any */
export function askToInvite(name: string | null, asker: Asker): Promise<boolean> {
  return askOperator({ kind: 'invite', name }, asker);
}

/**
 * Before the master account revokes an invitation.
 * @throws ApiError `not_found`
 */
export async function askToUninvite(id: string, asker: Asker): Promise<boolean> {
  const all = await everyItem((cursor) => call('operator.invitations.list', { query: { limit: 200, cursor } }));
  const invitation = all.find((one) => one.id === id);
  if (invitation !== undefined) return askOperator({ kind: 'uninvite', invitation }, asker);
  const detail = 'There is no such invitation. It was used, withdrawn, or has expired.';
  throw new ApiError({ code: 'not_found', detail, status: 404 });
}
