// What the rest of core may use of accounts.
export { accountNotices } from './account-notices.ts';
export { findAccount, isAccount, listAccounts, type NamedAccount, requireAccountOf } from './account-queries.ts';
export { countAccounts } from './count-queries.ts';
export { deleteAccount, requireNotMaster } from './deletion/delete-account.ts';
export { dismissGuide, readGuideState } from './master/guide-state.ts';
export { isMaster, masterName, requireOneMaster } from './master/master-account.ts';
export { nameMaster, withdrawMaster } from './master/name-master.ts';
export {
  type Confirming,
  confirmed,
  confirmedUnless,
  isWithin,
  UNCONFIRMED_MILLISECONDS,
} from './passkeys/confirm.ts';
export { createEnrolmentLink } from './passkeys/enrolment-link.ts';
export { publicId } from './passkeys/passkeys.ts';
export { selectPausedAt, updatePaused } from './pause-queries.ts';
export { type Plan, planOf, plans, setPlan } from './plan.ts';
export { holdAccounts, lockAccount, passkeysNamed, passkeysOf, publicKeyOf } from './queries.ts';
export { createInvitation, listInvitations, revokeInvitation } from './registration/invitations.ts';
export type { SessionCaller } from './sessions/session-caller.ts';
export { holdSession } from './sessions/session-queries.ts';
export { listAccountStates, resumeSuspended, suspendAccount } from './suspension/suspend-account.ts';
export { isSuspended, selectAccounts } from './suspension/suspension-queries.ts';
export { ceremonyRefused, type Refused } from './webauthn/ceremony-fault.ts';
export { verifyAssertion } from './webauthn/verify.ts';
