// What the rest of core may use of catalog.
export { countPackages } from './count-queries.ts';
export { findOffered } from './find-offered.ts';
export { IconDrawer } from './icons/icon-drawer.ts';
export { isOfferedTo, isVisibleTo } from './master-apps.ts';
export { needsOf } from './needs.ts';
export { frontendFolder, packageFile } from './package-file.ts';
export { CheckPool } from './packages/check-pool.ts';
export { type PackagedFile, readPackagedFiles } from './packages/read-packaged-files.ts';
export { isServed, servedNames } from './packages/served-files.ts';
export { builtInAppIds, DEFAULT_LAUNCHER, defaultAppIds, isPlatformAppId, masterAppIds } from './platform-app-ids.ts';
export {
  type AppVersion,
  findAppVersion,
  findNewestVersions,
  findOwner,
  holdVersion,
  lockApp,
  setNewest,
} from './queries.ts';
export { iconPath } from './routes.ts';
export { declaredSlots, type SlotDeclaration } from './secret-slots.ts';
export { examinePackages, type PackageFault } from './stored/examine-packages.ts';
export { VerifiedFrontends } from './stored/verified-frontends.ts';
export { requirePublisher } from './versions/may-publish.ts';
export { compareVersions } from './versions/newest-version.ts';
export {
  checkPackage,
  type PublishContext,
  type PublishedPackage,
  publishPackage,
} from './versions/publish-package.ts';
export { deleteAnyVersion, withdrawVersion } from './versions/withdraw-version.ts';
