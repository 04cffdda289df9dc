// What the rest of core may use of installations.
export { everyApp, ifInstalled } from './account-files.ts';
export { iconOf } from './app-summary.ts';
export { type Backend, findBackend, listBackends } from './backends.ts';
export { countInstallations, countPlaces } from './count-queries.ts';
export { everyVolume, type OwnVolume } from './data-queries.ts';
export { ensureMasterApps } from './default-installations.ts';
export { deleteVolume } from './delete-volume.ts';
export { developApp, newRequests } from './develop-app.ts';
export { type FrontendCaller, pageOf } from './frontend-caller.ts';
export { heldCaller, heldPerson } from './hold-caller.ts';
export { holdInstalled } from './hold-queries.ts';
export { installApp } from './install-app.ts';
export {
  findInstallationIdentity,
  type InstallationCaller,
  type InstallationIdentity,
  NO_START,
} from './installation-caller.ts';
export { readLogs, startApp, stopApp } from './lifecycle.ts';
export { missingGrant, type WantedGrant } from './missing-grant.ts';
export { replacePermissions } from './permissions.ts';
export {
  bearsSystemRole,
  findByHost,
  findTriggers,
  listNames,
  listTriggers,
  type SummaryRow,
} from './prepared-queries.ts';
export { lockOwn, selectAppNames, selectInstalledManifests, selectOwn } from './queries.ts';
export { uninstallApp } from './uninstall-app.ts';
export { upgradeApp } from './upgrade-app.ts';
