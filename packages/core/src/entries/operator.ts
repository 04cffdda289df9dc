// What the operator's commands call: core's own functions in the process of a command, without a session.

export {
  accountNotices,
  createEnrolmentLink,
  createInvitation,
  deleteAccount,
  findAccount,
  listAccountStates,
  listAccounts,
  listInvitations,
  masterName,
  type NamedAccount,
  type Plan,
  planOf,
  plans,
  requireNotMaster,
  resumeSuspended,
  revokeInvitation,
  setPlan,
  suspendAccount,
  withdrawMaster,
} from '../accounts/face.ts';
export { deleteAnyVersion, type PublishedPackage, publishPackage } from '../catalog/face.ts';
export { clockAlarm } from '../clock/clock-guard.ts';
export type { CoreContext } from '../context.ts';
export type { PackageRow, VolumeRow } from '../disk/face.ts';
export { listDiskUse } from '../disk/face.ts';
export { listAccountsWithUse, nameOperator } from '../fleet/face.ts';
export { createIngressToken, type IngressRow, listIngresses, removeIngress } from '../ingress/face.ts';
export {
  type Backend,
  deleteVolume,
  developApp,
  findBackend,
  listBackends,
  newRequests,
  selectOwn,
  startApp,
  stopApp,
  uninstallApp,
} from '../installations/face.ts';
export { type LocalCore, type LocalCoreOptions, openLocalCore } from '../local-core.ts';
export {
  cordonNode,
  createAdoptionToken,
  createNodeToken,
  drainNode,
  labelNode,
  listNodes,
  type NodeRow,
  removeNode,
  uncordonNode,
} from '../nodes/face.ts';
export { unmetOf } from '../offers/face.ts';
export {
  addRule,
  listReservedLabels,
  listRules,
  type ReservedLabelRow,
  type RuleRow,
  removeRule,
  reserveLabel,
  unreserveLabel,
} from '../placement/face.ts';
export { type FeedStatus, feedStatus, rebuildFeed } from '../search/face.ts';
export {
  creditAccount,
  currencyFault,
  type Finding,
  type KnownKey,
  moneyText,
  readKeys,
  verifyExport,
  verifyNow,
} from '../wallet/face.ts';
