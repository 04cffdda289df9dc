// Disk space: what an account may take of it, and what every data folder keeps back for the platform itself.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, timestamp, version } from '../primitives.ts';
import { json, ofApp, ofInstallation } from './common.ts';

const limits = {
  accountDisk: {
    value: 20_480 * MiB,
    unit: 'bytes',
    meaning:
      'volumes, published packages, images, collections and files of one account (default of PLATFORM_ACCOUNT_DISK_MIB)',
  },
  diskReserve: {
    value: 1_024 * MiB,
    unit: 'bytes',
    meaning: 'minimum free space on the disk of a data folder that volumes, packages and logs leave to PostgreSQL',
  },
  diskReserveShare: { value: 5, unit: 'percent', meaning: 'the same as a share of the disk; the larger one counts' },
} as const satisfies Limits;

const errors = {
  disk_quota: {
    status: 409,
    title: 'The account has used up its disk space.',
    help: 'Volumes count with the size their app declares, also those of removed apps, and so do published packages, the container images of installed apps, collections and files. Delete what you no longer need in Settings → Storage, or ask the operator to raise PLATFORM_ACCOUNT_DISK_MIB.',
  },
  volume_in_use: {
    status: 409,
    title: 'The app that uses this volume is still installed.',
    help: 'Remove the app first; its volume can be deleted afterwards.',
  },
} as const satisfies Errors;

/** Bytes of a disk that only PostgreSQL and the platform itself may use. @param totalBytes size of the file system */
export function diskReserveBytes(totalBytes: number): number {
  return Math.max(limits.diskReserve.value, Math.ceil((totalBytes * limits.diskReserveShare.value) / 100));
}

const bytes = z.int().min(0);

export const accountDisk = z.strictObject({
  limitBytes: bytes,
  usedBytes: bytes,
  /** The largest first. A volume counts with the size that its app was granted, however much it holds. */
  volumes: z.array(
    z.strictObject({
      appId,
      name: z.string(),
      bytes,
      installed: z.boolean(),
      /** What it holds is being deleted, as soon as its machine answers. */
      deleting: z.boolean(),
    }),
  ),
  /** Packages of own apps, the largest first. */
  packages: z.array(
    z.strictObject({
      appId,
      version,
      bytes,
      /** By anybody; such a version cannot be deleted. */
      installed: z.boolean(),
      /** Until then others who updated from it may go back to it, and it cannot be deleted. */
      keptUntil: timestamp.nullable(),
    }),
  ),
  /** Container images of installed apps, as their nodes unpacked them, the largest first; they go with their apps. */
  images: z.array(z.strictObject({ appId, name: z.string(), bytes })),
  /** Of items in its collections and of files. */
  contentBytes: bytes,
});
export type AccountDisk = z.infer<typeof accountDisk>;

/** What the apps of an account keep, installed and removed. `null` is unknown: its node or the store did not say it. */
export const storageUse = z.strictObject({
  volumes: z.array(z.strictObject({ appId, name: z.string(), bytes: bytes.nullable() })),
  /** Nothing is reserved for objects. `more`: there are more than were counted. */
  objects: z.array(z.strictObject({ appId, name: z.string(), bytes: bytes.nullable(), more: z.boolean() })),
  /** Of published packages, as uploaded. */
  packageBytes: bytes,
  /** Of items in its collections and of files. */
  contentBytes: bytes,
});
export type StorageUse = z.infer<typeof storageUse>;

/** What an image takes where it is unpacked; more than any machine has is none. */
export const claimImageBody = z.strictObject({ bytes: bytes.max(2 ** 50) });

const routes = {
  'node.image': {
    method: 'POST',
    path: '/v1/node/installations/:id/image',
    summary: 'Count the image of a backend towards its account',
    callers: ['node'],
    params: ofInstallation,
    body: json(claimImageBody),
    answers: { 204: null },
    refuses: ['disk_quota'],
    rate: 'none',
  },
  'disk.read': {
    method: 'GET',
    path: '/v1/account/disk',
    summary: 'Disk space of the account: its limit, its volumes, its published packages and its images',
    callers: ['session'],
    answers: { 200: accountDisk },
    rate: 'session',
  },
} as const satisfies Routes;

const volumeRoutes = {
  'storage.use': {
    method: 'GET',
    path: '/v1/account/disk/use',
    summary:
      'How much the apps of the account keep in their volumes and in object storage, as their nodes and the store say',
    callers: ['session'],
    whileClosing: true,
    answers: { 200: storageUse },
    rate: 'session',
  },
  'apps.data.delete': {
    method: 'DELETE',
    path: '/v1/apps/:appId/data',
    summary: 'Delete all data of an app, installed or removed; its backend starts anew afterwards',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes data of one app, no power' },
    params: ofApp,
    answers: { 202: z.strictObject({ status: z.literal('deleting') }) },
    refuses: ['workload_unavailable'],
    rate: 'session',
  },
  'volumes.delete': {
    method: 'DELETE',
    path: '/v1/account/volumes/:appId',
    summary: 'Delete the volume that a removed app left',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes data of one app, no power' },
    params: ofApp,
    answers: { 204: null },
    refuses: ['volume_in_use', 'workload_unavailable'],
    rate: 'session',
  },
} as const satisfies Routes;

export const disk = { limits, errors, routes } as const;
/** In core a part of another domain, which reaches nodes. */
export const volumes = { routes: volumeRoutes } as const;
