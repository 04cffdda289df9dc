// What the rest of core may use of placement.
export { requireUdpShare } from './account-shares.ts';
export { assignmentsChanged, assignmentsRevoked } from './change-assignments.ts';
export { type HostingLabel, hostingLabels, hostingOf } from './hosting-labels.ts';
export { machinesFor } from './machines-for.ts';
export { placeAtFirstUse, placeNow, placeWaiting, takeFromLost, vacateNode } from './move-installations.ts';
export {
  demandRoom,
  lockPlacement,
  nowhere,
  type Place,
  placeInstallation,
  placeOf,
  placeOrWait,
  placeUpgrade,
  waitsForUse,
} from './placement.ts';
export {
  abandonNode,
  alwaysInForce,
  clearHeldBy,
  DISK_PROMISED,
  isBegun,
  markBoundWorkloads,
  memoryInForce,
  unusedInstallation,
} from './placement-queries.ts';
export {
  addRule,
  listReservedLabels,
  listRules,
  type ReservedLabelRow,
  type RuleRow,
  removeRule,
  reserveLabel,
  unreserveLabel,
} from './placement-rules.ts';
export { deletePorts, selectPorts, type UdpPortRow, upsertPorts } from './port-queries.ts';
export { isPlaced, isWaiting, nodeOf, placedInstallations, upsertStatus } from './queries.ts';
