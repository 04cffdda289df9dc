// Content collections (specification 5.4, contract 4i): items that apps and people share. What an app may do in one is what role,
// admission and grants allow together.
import * as z from 'zod';
import { type Errors, KiB, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, collectionId, contentInvitationId, memberId, timestamp } from '../primitives.ts';
import { readableLine, visible } from '../text.ts';
import { json, page, pageQuery } from './common.ts';
import { addressInput } from './messaging.ts';

const limits = {
  collections: { value: 1_000, unit: 'items', meaning: 'content collections of one account' },
  collectionDepth: { value: 16, unit: 'items', meaning: 'collections within each other, the outermost included' },
  collectionName: { value: 200, unit: 'characters', meaning: 'name of a content collection' },
  collectionItems: { value: 10_000, unit: 'items', meaning: 'items of one content collection' },
  collectionItem: { value: 10 * MiB, unit: 'bytes', meaning: 'one item of a content collection' },
  keptBytes: {
    value: KiB,
    unit: 'bytes',
    meaning: 'what an item of a collection or a file takes of its owner’s disk space besides its bytes',
  },
  collectionMembers: {
    value: 200,
    unit: 'items',
    meaning: 'members of one content collection, those who are invited included',
  },
  memberships: { value: 500, unit: 'items', meaning: 'content collections of others in which one account is a member' },
  contentInvitationDays: { value: 7, unit: 'days', meaning: 'time in which an invitation to a collection is accepted' },
  contentInvitationsSent: {
    value: 100,
    unit: 'items',
    meaning: 'invitations to collections of one account that wait for an answer',
  },
  contentInvitationsToOne: {
    value: 5,
    unit: 'items',
    meaning: 'of them, those to the same person',
  },
  contentChangesWait: { value: 25_000, unit: 'milliseconds', meaning: 'longest wait for changes of a collection' },
  contentChangesWaits: { value: 32, unit: 'items', meaning: 'calls of one installation that wait for such changes' },
  contentDeletionsKnown: {
    value: 10_000,
    unit: 'items',
    meaning: 'deleted items of a collection that its changes still name; an older cursor is `invalid_cursor`',
  },
  contentCopyDays: {
    value: 30,
    unit: 'days',
    meaning: 'time in which members can still read the collections of a deleted account',
  },
} as const satisfies Limits;

const errors = {
  content_conflict: {
    status: 409,
    title: 'This contradicts the present state of the collection.',
    help: '`detail` says why: a collection would lie within itself, an invitation was answered already or came by another app, the person is a member, or the collection can only be read because its owner’s account was deleted.',
  },
  precondition_failed: {
    status: 412,
    title: 'The condition of the request does not hold.',
    help: 'Somebody else changed it: `If-Match` names another version than there is now, or there is one where `If-None-Match: *` wants none. Read it again, and decide anew.',
  },
} as const satisfies Errors;

export const collectionKind = z
  .string()
  .regex(/^[a-z0-9.-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9, full stop and hyphen');
export const contentRole = z.enum(['owner', 'manager', 'editor', 'viewer']);
export type ContentRole = z.infer<typeof contentRole>;
const givenRole = contentRole.exclude(['owner']);

/** What HTTP clients take for a step in the path is no key. */
export const itemKey = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be 1 to 128 letters, digits, full stops, hyphens, underscores and tildes')
  .refine((key) => key !== '.' && key !== '..', 'must not be a dot segment');
/** As in the header, with its quotation marks. */
export const entityTag = z.string();

const collectionName = z
  .string()
  .min(1)
  .max(limits.collectionName.value)
  .regex(...readableLine)
  .regex(...visible);

export const collection = z.strictObject({
  id: collectionId,
  kind: collectionKind,
  name: z.string(),
  parentId: collectionId.nullable(),
  /** The strongest that the account has here, or in a collection above. */
  role: contentRole,
  createdAt: timestamp,
});
export type Collection = z.infer<typeof collection>;
const collectionAnswer = z.strictObject({ collection });

export const createCollectionBody = z.strictObject({
  kind: collectionKind,
  name: collectionName,
  parentId: collectionId.optional(),
});
export type CreateCollection = z.input<typeof createCollectionBody>;

/** What is named changes; `parentId: null` takes it out of the one that it is in. */
export const changeCollectionBody = z
  .strictObject({ name: collectionName.optional(), parentId: collectionId.nullable().optional() })
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'must change something');
export type ChangeCollection = z.input<typeof changeCollectionBody>;

export const contentItem = z.strictObject({
  key: itemKey,
  etag: entityTag,
  /** In bytes. */
  size: z.int().nonnegative(),
  at: timestamp,
});
export type ContentItem = z.infer<typeof contentItem>;
const itemAnswer = z.strictObject({ item: contentItem });

export const contentChange = z.strictObject({
  key: itemKey,
  /** `null`: it was deleted. */
  etag: entityTag.nullable(),
  at: timestamp,
});
export type ContentChange = z.infer<typeof contentChange>;
/** `nextCursor` goes on from here, and is never `null`: ask again with it. */
export const contentChanges = page(contentChange);
export type ContentChanges = z.infer<typeof contentChanges>;

export const contentMember = z.strictObject({
  id: memberId,
  address: z.string(),
  role: contentRole,
  since: timestamp,
});
export type ContentMember = z.infer<typeof contentMember>;

export const inviteMemberBody = z.strictObject({ to: addressInput, role: givenRole });
export type InviteMember = z.infer<typeof inviteMemberBody>;

export const contentInvitation = z.strictObject({
  id: contentInvitationId,
  collection: z.strictObject({ id: collectionId, kind: collectionKind, name: z.string() }),
  role: givenRole,
  /** The address of the person who invited. */
  from: z.string(),
  /** The app by which it came, and which it opens the collection to. */
  appId,
  createdAt: timestamp,
  expiresAt: timestamp,
});
export type ContentInvitation = z.infer<typeof contentInvitation>;

const ofCollection = z.strictObject({ id: collectionId });
const ofItem = z.strictObject({ id: collectionId, key: itemKey });
const ofInvitation = z.strictObject({ id: contentInvitationId });
const throughApp = z.strictObject({ appId });

const ALL = '/v1/services/content/collections';
const ONE = `${ALL}/:id` as const;
const ITEMS = `${ONE}/items` as const;
const ITEM = `${ITEMS}/:key` as const;
const MEMBERS = `${ONE}/members` as const;
const INVITATION = '/v1/account/content-invitations/:id';

const byApps = { callers: ['frontend', 'installation'], rate: 'service' } as const;
const READ = 'content.collections.read';
const WRITE = 'content.collections.write';
const MANAGE = 'content.collections.manage';
const reads = { ...byApps, grant: { id: READ, or: [WRITE, MANAGE], resource: 'any' } } as const;
const writes = { ...byApps, grant: { id: WRITE, or: [MANAGE], resource: 'any' } } as const;
const manages = { ...byApps, grant: { id: MANAGE, resource: 'any' } } as const;
const BODY = 16 * KiB;
/** As whoever wrote it said, of as many bytes as it has. */
const ANY = '*/*';

const routes = {
  'services.content.create': {
    ...manages,
    method: 'POST',
    path: ALL,
    summary: 'Make a collection, which is open to the app from then on',
    body: json(createCollectionBody, BODY),
    answers: { 201: collectionAnswer },
    refuses: ['not_found', 'content_conflict', 'disk_quota'],
    fillsDatabase: true,
  },
  'services.content.list': {
    ...reads,
    method: 'GET',
    path: ALL,
    summary: 'The collections that the app may read, oldest first',
    query: pageQuery,
    answers: { 200: page(collection) },
  },
  'services.content.read': {
    ...reads,
    method: 'GET',
    path: ONE,
    summary: 'One collection',
    params: ofCollection,
    answers: { 200: collectionAnswer },
  },
  'services.content.change': {
    ...manages,
    method: 'PATCH',
    path: ONE,
    summary: 'Rename a collection, or move it into another one or out of it',
    params: ofCollection,
    body: json(changeCollectionBody, BODY),
    answers: { 200: collectionAnswer },
    refuses: ['content_conflict'],
  },
  'services.content.delete': {
    ...manages,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a collection with its items and the collections in it',
    params: ofCollection,
    answers: { 204: null },
    refuses: ['content_conflict'],
  },
  'services.content.items': {
    ...reads,
    method: 'GET',
    path: ITEMS,
    summary: 'The items of a collection, by key',
    params: ofCollection,
    query: pageQuery,
    answers: { 200: page(contentItem) },
  },
  'services.content.items.read': {
    ...reads,
    method: 'GET',
    path: ITEM,
    summary: 'The bytes of an item, with its `ETag`; takes `If-None-Match` and `If-Match`',
    params: ofItem,
    answers: { 200: ANY, 304: null },
    refuses: ['precondition_failed'],
  },
  'services.content.items.write': {
    ...writes,
    method: 'PUT',
    path: ITEM,
    summary: 'Write the bytes of an item; takes `If-Match` and `If-None-Match`',
    params: ofItem,
    body: { mediaType: ANY, anyType: true, limit: limits.collectionItem.value },
    answers: { 200: itemAnswer, 201: itemAnswer },
    refuses: ['precondition_failed', 'content_conflict', 'disk_quota'],
    fillsDatabase: true,
  },
  'services.content.items.delete': {
    ...writes,
    method: 'DELETE',
    path: ITEM,
    summary: 'Delete an item; takes `If-Match`',
    params: ofItem,
    answers: { 204: null },
    refuses: ['precondition_failed', 'content_conflict'],
  },
  'services.content.changes': {
    ...reads,
    method: 'GET',
    path: `${ONE}/changes`,
    summary: 'What changed in a collection since a cursor, each item once; waits for it up to 25 s',
    params: ofCollection,
    query: pageQuery,
    answers: { 200: contentChanges },
    refuses: ['invalid_cursor', 'concurrency_limited'],
  },
  'services.content.members': {
    ...reads,
    method: 'GET',
    path: MEMBERS,
    summary: 'Who has access to a collection, by the role they have in it or in one above',
    params: ofCollection,
    query: pageQuery,
    answers: { 200: page(contentMember) },
  },
  'services.content.members.invite': {
    ...manages,
    method: 'POST',
    path: MEMBERS,
    summary: 'Invite somebody to a collection, for the same app',
    params: ofCollection,
    body: json(inviteMemberBody, BODY),
    answers: { 201: z.strictObject({ invitation: contentInvitation }) },
    refuses: ['content_conflict'],
    fillsDatabase: true,
  },
  'services.content.members.remove': {
    ...reads,
    method: 'DELETE',
    path: `${MEMBERS}/:memberId`,
    summary: 'Take the role of a member away; everybody can give up their own',
    params: z.strictObject({ id: collectionId, memberId }),
    answers: { 204: null },
    refuses: ['content_conflict'],
  },
  'account.content.invitations': {
    callers: ['session'],
    rate: 'session',
    method: 'GET',
    path: '/v1/account/content-invitations',
    summary: 'Invitations to collections that wait for the person, newest first',
    query: pageQuery,
    answers: { 200: page(contentInvitation) },
  },
  'account.content.accept': {
    callers: ['session'],
    rate: 'session',
    method: 'POST',
    path: `${INVITATION}/accept`,
    summary: 'Become a member of a collection, and open it to the app by which the invitation came',
    origin: 'shell',
    confirms: { nothing: 'gives an app what others keep in one collection, and nothing of the account' },
    params: ofInvitation,
    body: json(throughApp),
    answers: { 200: collectionAnswer },
    refuses: ['content_conflict'],
  },
  'account.content.decline': {
    callers: ['session'],
    rate: 'session',
    method: 'POST',
    path: `${INVITATION}/decline`,
    summary: 'Decline an invitation to a collection',
    origin: 'shell',
    confirms: { nothing: 'gives nobody anything' },
    params: ofInvitation,
    body: json(throughApp.partial().optional()),
    answers: { 204: null },
    refuses: ['content_conflict'],
  },
} as const satisfies Routes;

export const content = { limits, errors, routes } as const;
