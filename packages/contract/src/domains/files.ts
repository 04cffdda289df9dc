// Files (specification 5.4, contract 4i): those of one app, which need no grant, and those of the account, of which an app gets one that
// its person picked for it.
import * as z from 'zod';
import { KiB, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, fileId, timestamp } from '../primitives.ts';
import { readableLine, visible } from '../text.ts';
import { json, page, pageQuery } from './common.ts';
import { entityTag } from './content.ts';
import { addressInput } from './messaging.ts';

const limits = {
  file: { value: 100 * MiB, unit: 'bytes', meaning: 'one file' },
  fileName: { value: 200, unit: 'characters', meaning: 'name of a file' },
  filesOfApp: { value: 10_000, unit: 'items', meaning: 'files of one app of an account' },
  filesOfAccount: { value: 10_000, unit: 'items', meaning: 'files that an account has itself' },
  fileAccess: { value: 100, unit: 'items', meaning: 'apps and accounts to which an app opens one file' },
  filesOpenedToOne: {
    value: 200,
    unit: 'items',
    meaning: 'files that the apps of one account have opened to the same other account',
  },
  filesOpenedInAll: { value: 10_000, unit: 'items', meaning: 'files that all others have opened to one account' },
  fileTransfers: { value: 1_000, unit: 'items', meaning: 'files that one account has handed to apps' },
} as const satisfies Limits;

/** What ends a path or begins another route is no name. */
export const fileName = z
  .string()
  .min(1)
  .max(limits.fileName.value)
  .regex(...readableLine)
  .regex(...visible)
  .regex(/^[^/\\]*$/, 'must not contain a slash or backslash')
  .regex(/^\S(?:.*\S)?$/u, 'must not begin or end with a space')
  .refine((name) => name.isWellFormed(), 'must not contain unpaired surrogates')
  .refine((name) => name !== '.' && name !== '..' && name !== 'shared', 'is reserved');

export const fileAccess = z.enum(['read', 'write', 'manage']);
export type FileAccess = z.infer<typeof fileAccess>;
/** What a person hands over. */
export const transferAccess = fileAccess.exclude(['manage']);

const file = z.strictObject({
  name: z.string(),
  /** The media type that its writer said. */
  type: z.string(),
  /** In bytes. */
  size: z.int().nonnegative(),
  etag: entityTag,
  createdAt: timestamp,
  changedAt: timestamp,
});
export type AppFile = z.infer<typeof file>;
export const appFile = file;

const knownFile = file.extend({ id: fileId });
export type UserFile = z.infer<typeof knownFile>;
export const userFile = knownFile;

export const sharedFile = knownFile.extend({
  access: fileAccess,
  /** Whose it is: an app of the account, or an account; the own one for what its person handed over. */
  from: z.union([z.strictObject({ app: appId }), z.strictObject({ account: z.string() })]),
});
export type SharedFile = z.infer<typeof sharedFile>;

/** `own`: of the account itself, and of nobody who opened it to the account. */
export const pickableFile = sharedFile.extend({ own: z.boolean() });
export type PickableFile = z.infer<typeof pickableFile>;

const principal = z.union([z.strictObject({ app: appId }), z.strictObject({ account: addressInput })]);
const accessEntry = z.strictObject({ principal, access: fileAccess });
export type FileAccessEntry = z.infer<typeof accessEntry>;
export const fileEntries = z.strictObject({ entries: z.array(accessEntry).max(limits.fileAccess.value) });

export const fileTransfer = z.strictObject({
  file: z.strictObject({ id: fileId, name: z.string() }),
  appId,
  access: transferAccess,
  since: timestamp,
});
export type FileTransfer = z.infer<typeof fileTransfer>;

const named = z.strictObject({ name: fileName });
const ofFile = z.strictObject({ id: fileId });
/** One of the two. */
const opened = z
  .strictObject({ id: fileId.optional(), from: addressInput.optional() })
  .refine(({ id, from }) => (id === undefined) !== (from === undefined), 'must name a file, or whose files');
const ofTransfer = z.strictObject({ id: fileId, appId });

/** As whoever wrote it said, of as many bytes as it has. */
const ANY = '*/*';
const bytes = { mediaType: ANY, anyType: true, limit: limits.file.value } as const;
const BODY = 32 * KiB;
const FILES = '/v1/services/files';
const SHARED = `${FILES}/shared`;
const USER_FILES = '/v1/services/user-files';
const USER_FILE = `${USER_FILES}/:id` as const;
const byApps = { callers: ['frontend', 'installation'], rate: 'service' } as const;
const byManager = {
  ...byApps,
  grant: { id: 'files.user.manage', resource: '*' },
  systemRole: 'files.user-manager',
} as const;
const bySession = { callers: ['session'], rate: 'session' } as const;
const fileAnswer = z.strictObject({ file });
const knownAnswer = z.strictObject({ file: knownFile });
const WRITING = ['precondition_failed', 'disk_quota'] as const;

const routes = {
  'services.files.list': {
    ...byApps,
    method: 'GET',
    path: FILES,
    summary: 'The files of the app itself, by name',
    query: pageQuery,
    answers: { 200: page(file) },
  },
  'services.files.shared': {
    ...byApps,
    method: 'GET',
    path: SHARED,
    summary: 'Files that other apps opened to the app, and that its person handed to it',
    query: pageQuery,
    answers: { 200: page(sharedFile) },
  },
  'services.files.shared.read': {
    ...byApps,
    method: 'GET',
    path: `${SHARED}/:id`,
    summary: 'The bytes of such a file, with its `ETag`',
    params: ofFile,
    answers: { 200: ANY, 304: null },
    refuses: ['precondition_failed'],
  },
  'services.files.shared.write': {
    ...byApps,
    method: 'PUT',
    path: `${SHARED}/:id`,
    summary: 'Write the bytes of such a file; takes `If-Match`',
    params: ofFile,
    body: bytes,
    answers: { 200: knownAnswer },
    refuses: [...WRITING, 'not_authorized'],
    fillsDatabase: true,
  },
  'services.files.read': {
    ...byApps,
    method: 'GET',
    path: `${FILES}/:name`,
    summary: 'The bytes of a file of the app, with its `ETag`',
    params: named,
    answers: { 200: ANY, 304: null },
    refuses: ['precondition_failed'],
  },
  'services.files.write': {
    ...byApps,
    method: 'PUT',
    path: `${FILES}/:name`,
    summary: 'Write the bytes of a file of the app; takes `If-Match` and `If-None-Match`',
    params: named,
    body: bytes,
    answers: { 200: fileAnswer, 201: fileAnswer },
    refuses: WRITING,
    fillsDatabase: true,
  },
  'services.files.delete': {
    ...byApps,
    method: 'DELETE',
    path: `${FILES}/:name`,
    summary: 'Delete a file of the app; takes `If-Match`',
    params: named,
    answers: { 204: null },
    refuses: ['precondition_failed'],
  },
  'services.files.access.read': {
    ...byApps,
    method: 'GET',
    path: `${FILES}/:name/access`,
    summary: 'To whom the app opened one of its files',
    params: named,
    answers: { 200: fileEntries },
  },
  'services.files.access.replace': {
    ...byApps,
    method: 'PUT',
    path: `${FILES}/:name/access`,
    summary: 'Open a file of the app to these, and to nobody else',
    params: named,
    body: json(fileEntries, BODY),
    answers: { 200: fileEntries },
    fillsDatabase: true,
  },
  'services.userFiles.list': {
    ...byManager,
    method: 'GET',
    path: USER_FILES,
    summary: 'The files of the account itself, by name',
    query: pageQuery,
    answers: { 200: page(knownFile) },
  },
  'services.userFiles.create': {
    ...byManager,
    method: 'POST',
    path: USER_FILES,
    summary: 'Add a file of the account; its name gets a number where it is taken',
    query: named,
    body: bytes,
    answers: { 201: knownAnswer },
    refuses: ['disk_quota'],
    fillsDatabase: true,
  },
  'services.userFiles.read': {
    ...byManager,
    method: 'GET',
    path: USER_FILE,
    summary: 'The bytes of a file of the account',
    params: ofFile,
    answers: { 200: ANY, 304: null },
    refuses: ['precondition_failed'],
  },
  'services.userFiles.rename': {
    ...byManager,
    method: 'PATCH',
    path: USER_FILE,
    summary: 'Rename a file of the account',
    params: ofFile,
    body: json(named),
    answers: { 200: knownAnswer },
  },
  'services.userFiles.delete': {
    ...byManager,
    method: 'DELETE',
    path: USER_FILE,
    summary: 'Delete a file of the account; the apps that had it lose it',
    params: ofFile,
    answers: { 204: null },
  },
  'services.userFiles.transfers': {
    ...byManager,
    method: 'GET',
    path: `${USER_FILES}/transfers`,
    summary: 'Which files were handed to which apps, newest first',
    query: pageQuery,
    answers: { 200: page(fileTransfer) },
  },
  'services.userFiles.takeBack': {
    ...byManager,
    method: 'DELETE',
    path: `${USER_FILE}/apps/:appId`,
    summary: 'Take a file back from an app',
    params: ofTransfer,
    answers: { 204: null },
  },
  'account.files.list': {
    ...bySession,
    method: 'GET',
    path: '/v1/account/files',
    summary:
      'Files that the person can hand to an app: those of the account, and those that others opened to it; `of=others`: these alone',
    query: pageQuery.extend({ of: z.literal('others').optional() }),
    answers: { 200: page(pickableFile) },
  },
  'account.files.save': {
    ...bySession,
    method: 'POST',
    path: '/v1/account/files',
    summary: 'Copy a file of an app into a new one of the account',
    origin: 'shell',
    confirms: { nothing: 'gives the person a file, and nobody else anything' },
    body: json(z.strictObject({ appId, name: fileName, saveAs: fileName.optional() })),
    answers: { 201: knownAnswer },
    refuses: ['not_found', 'disk_quota'],
    fillsDatabase: true,
  },
  'account.files.handOver': {
    ...bySession,
    method: 'POST',
    path: '/v1/account/files/:id/apps',
    summary: 'Hand one file to an app, until it is taken back',
    origin: 'shell',
    confirms: { nothing: 'one file that the person picked, which they take back as easily' },
    params: ofFile,
    body: json(z.strictObject({ appId, access: transferAccess })),
    answers: { 201: knownAnswer },
    refuses: ['not_authorized'],
  },
  'account.files.leave': {
    ...bySession,
    method: 'DELETE',
    path: '/v1/account/files',
    summary:
      'Want a file no longer that somebody opened to the account, or none of theirs; the apps that had it lose it',
    origin: 'shell',
    confirms: { nothing: 'gives up what others gave' },
    query: opened,
    answers: { 204: null },
    refuses: ['not_found'],
  },
  'account.files.transfers': {
    ...bySession,
    method: 'GET',
    path: '/v1/account/file-transfers',
    summary: 'Which files were handed to which apps, newest first',
    query: pageQuery,
    answers: { 200: page(fileTransfer) },
  },
  'account.files.takeBack': {
    ...bySession,
    method: 'DELETE',
    path: '/v1/account/files/:id/apps/:appId',
    summary: 'Take a file back from an app',
    origin: 'shell',
    confirms: { nothing: 'takes what an app had' },
    params: ofTransfer,
    answers: { 204: null },
  },
} as const satisfies Routes;

export const files = { limits, routes } as const;

/** What an app learns of a file that its person picked: it reads the bytes with `GET /v1/services/files/shared/:id`. */
export type PickedFile = Pick<UserFile, 'id' | 'name' | 'type' | 'size' | 'etag'>;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Every app in front of a visible page may ask. The shell shows the person’s files, and the app gets the one that they pick, until
     * they take it back; `file` is `null` when they picked none. `access` defaults to `read`.
     */
    'files.pick': {
      params: { readonly access?: 'read' | 'write' | undefined } | undefined;
      result: { readonly file: PickedFile | null };
      asks: true;
    };
    /**
     * Every app in front of a visible page may ask. The shell asks whether a file of the app, `name`, is to become one of the person’s;
     * `saved` is the name that it got, `null` when they declined.
     */
    'files.save': { params: { readonly name: string }; result: { readonly saved: string | null }; asks: true };
  }
}
