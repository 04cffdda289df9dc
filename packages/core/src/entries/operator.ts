// What the operator's commands call: core's own functions in the process of a command, without a session.

export { accountNotices } from '../accounts/account-notices.ts';
export { findAccount, listAccounts, type NamedAccount } from '../accounts/account-queries.ts';
export { deleteAccount, requireNotMaster } from '../accounts/delete-account.ts';
export { createEnrolmentLink } from '../accounts/enrolment-link.ts';
export { createInvitation, listInvitations, revokeInvitation } from '../accounts/invitations.ts';
export { type Plan, planOf, plans, setPlan } from '../accounts/plan.ts';
export { listAccountStates, resumeSuspended, suspendAccount } from '../accounts/suspend-account.ts';
export { type PublishedPackage, publishPackage } from '../catalog/publish-package.ts';
export { deleteAnyVersion } from '../catalog/withdraw-version.ts';
export type { CoreContext } from '../context.ts';
export { listDiskUse } from '../disk/account-disk.ts';
export type { PackageRow, VolumeRow } from '../disk/queries.ts';
export { listAccountsWithUse } from '../fleet/list-accounts.ts';
export { createIngressToken, type IngressRow, listIngresses, removeIngress } from '../ingress/ingresses.ts';
export { type Backend, findBackend, listBackends } from '../installations/backends.ts';
export { deleteVolume } from '../installations/delete-volume.ts';
export { developApp, newRequests } from '../installations/develop-app.ts';
export { startApp, stopApp } from '../installations/lifecycle.ts';
export { selectOwn } from '../installations/queries.ts';
export { uninstallApp } from '../installations/uninstall-app.ts';
export { type LocalCore, type LocalCoreOptions, openLocalCore } from '../local-core.ts';
export { createNodeToken } from '../nodes/join-node.ts';
export {
  cordonNode,
  drainNode,
  labelNode,
  listNodes,
  type NodeRow,
  removeNode,
  uncordonNode,
} from '../nodes/manage-nodes.ts';
export {
  addRule,
  listReservedLabels,
  listRules,
  type ReservedLabelRow,
  type RuleRow,
  removeRule,
  reserveLabel,
  unreserveLabel,
} from '../placement/placement-rules.ts';
export { type FeedStatus, feedStatus, rebuildFeed } from '../search/manage-feed.ts';
