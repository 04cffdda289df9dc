// What the operator's commands call: core's own functions in the process of a command, without a session.
export { findAccount, listAccounts, type NamedAccount } from '../accounts/account-queries.ts';
export { createEnrolmentLink } from '../accounts/enrolment-link.ts';
export { type Plan, planOf, plans, setPlan } from '../accounts/plan.ts';
export { type AccountRow, listAccountStates, resumeSuspended, suspendAccount } from '../accounts/suspend-account.ts';
export { type PublishedPackage, publishPackage } from '../catalog/publish-package.ts';
export { deleteAnyVersion, withdrawVersion } from '../catalog/withdraw-version.ts';
export type { CoreContext } from '../context.ts';
export { listDiskUse } from '../disk/account-disk.ts';
export type { PackageRow, VolumeRow } from '../disk/queries.ts';
export { createIngressToken, type IngressRow, listIngresses, removeIngress } from '../ingress/ingresses.ts';
export { type Backend, findBackend, listBackends } from '../installations/backends.ts';
export { deleteVolume } from '../installations/delete-volume.ts';
export { installApp } from '../installations/install-app.ts';
export { startApp, stopApp } from '../installations/lifecycle.ts';
export { replacePermissions } from '../installations/permissions.ts';
export { selectOwn } from '../installations/queries.ts';
export { uninstallApp } from '../installations/uninstall-app.ts';
export { upgradeApp } from '../installations/upgrade-app.ts';
export { type LocalCore, type LocalCoreOptions, openLocalCore } from '../local-core.ts';
export { Followers } from '../members/followers.ts';
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
export type { Nodes } from '../nodes/nodes.ts';
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
