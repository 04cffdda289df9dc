// What a person sees, in Settings, of all their collections and files that others have, whichever app made them; and how they end it
// without an app.
import * as z from 'zod';
import { KiB, type Routes } from '../domain.ts';
import { appId, collectionId, fileId, memberId, timestamp } from '../primitives.ts';
import { json, page, pageQuery } from './common.ts';
import { collection, contentMember } from './content.ts';
import { fileAccess, sharedFile } from './files.ts';
import { addressInput } from './messaging.ts';

export const accountCollection = collection.extend({
  /** The address of whose it is; `null` once that account is deleted. */
  owner: z.string().nullable(),
  /** Until then it can be read after its owner's account was deleted; `null` while there is one. */
  endsAt: timestamp.nullable(),
  /** Of the person in this very collection; `null` where they have their role from a collection above. */
  memberId: memberId.nullable(),
  /** Others than its owner who have a role in this very collection. */
  members: z.int().nonnegative(),
  items: z.int().nonnegative(),
  /** Installed apps of the person that this very collection is open to. */
  apps: z.array(appId),
});
export type AccountCollection = z.infer<typeof accountCollection>;

const filePrincipal = z.union([z.strictObject({ app: appId }), z.strictObject({ account: addressInput })]);
export type FilePrincipal = z.infer<typeof filePrincipal>;

export const openFile = sharedFile.omit({ access: true, etag: true }).extend({
  /** Who has it besides the one whose it is; each once, with the strongest access. */
  openTo: z.array(
    z.strictObject({
      principal: z.union([z.strictObject({ app: appId }), z.strictObject({ account: z.string() })]),
      access: fileAccess,
    }),
  ),
});
export type OpenFile = z.infer<typeof openFile>;

const ofCollection = z.strictObject({ id: collectionId });
const ALL = '/v1/account/collections';
const ONE = `${ALL}/:id` as const;
const MEMBERS = `${ONE}/members` as const;
const FILES = '/v1/account/open-files';
const bySession = { callers: ['session'], rate: 'session' } as const;
const bySurface = { ...bySession, origin: 'shell' } as const;
const BODY = 4 * KiB;

const routes = {
  'account.collections.list': {
    ...bySession,
    method: 'GET',
    path: ALL,
    summary: 'Collections of the account, and those of others in which it is a member, oldest first',
    query: pageQuery,
    answers: { 200: page(accountCollection) },
  },
  'account.collections.delete': {
    ...bySurface,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a collection of the account with its items and the collections in it',
    confirms: { nothing: 'takes data that one app kept, no power' },
    params: ofCollection,
    answers: { 204: null },
    refuses: ['not_authorized'],
  },
  'account.collections.members': {
    ...bySession,
    method: 'GET',
    path: MEMBERS,
    summary: 'Who has access to a collection, by the role they have in it or in one above',
    params: ofCollection,
    query: pageQuery,
    answers: { 200: page(contentMember) },
  },
  'account.collections.members.remove': {
    ...bySurface,
    method: 'DELETE',
    path: `${MEMBERS}/:memberId`,
    summary: 'Take the role of a member away, or leave a collection with the own one',
    confirms: { nothing: 'takes what somebody had, and gives nobody anything' },
    params: z.strictObject({ id: collectionId, memberId }),
    answers: { 204: null },
    refuses: ['content_conflict', 'not_authorized'],
  },
  'account.openFiles.list': {
    ...bySession,
    method: 'GET',
    path: FILES,
    summary: 'Files of the account and of its apps that others have, and files of others that its apps were handed',
    query: pageQuery,
    answers: { 200: page(openFile) },
  },
  'account.openFiles.close': {
    ...bySurface,
    method: 'POST',
    path: `${FILES}/:id/close`,
    summary: 'Take a file back from one app or account, or from all',
    confirms: { nothing: 'takes what others had' },
    params: z.strictObject({ id: fileId }),
    body: json(z.strictObject({ principal: filePrincipal.optional() }), BODY),
    answers: { 204: null },
  },
} as const satisfies Routes;

export const sharing = { routes } as const;
