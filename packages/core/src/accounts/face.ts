// What the rest of core may use of accounts.
export { accountNotices } from './account-notices.ts';
export { findAccount, listAccounts, type NamedAccount, requireAccountOf } from './account-queries.ts';
export { ceremonyRefused } from './ceremony-fault.ts';
export { type Confirming, confirmed } from './confirm.ts';
export { countAccounts } from './count-queries.ts';
export { deleteAccount, requireNotMaster } from './delete-account.ts';
export { createEnrolmentLink } from './enrolment-link.ts';
export { findForbiddenMaterial } from './forbidden-material.ts';
export { createInvitation, listInvitations, revokeInvitation } from './invitations.ts';
export { isMaster } from './master-account.ts';
export { selectPausedAt, updatePaused } from './pause-queries.ts';
export { type Plan, planOf, plans, setPlan } from './plan.ts';
export { lockAccount } from './queries.ts';
export type { SessionCaller } from './session-caller.ts';
export { holdSession } from './session-queries.ts';
export { listAccountStates, resumeSuspended, suspendAccount } from './suspend-account.ts';
export { isSuspended, selectAccounts } from './suspension-queries.ts';
