// What the rest of core may use of disk.
export { diskLeft, diskQuota, listDiskUse, requireAccountDisk } from './account-disk.ts';
export { leavingReserve } from './leave-reserve.ts';
export {
  type PackageRow,
  selectContentBytes,
  selectUploadedBytes,
  selectUseByApp,
  type UseByApp,
  type VolumeRow,
  volumeMiB,
} from './queries.ts';
export { volumeMiBOf } from './volume-size.ts';
