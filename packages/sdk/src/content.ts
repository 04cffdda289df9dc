// Content collections: items that apps and people share.
import type {
  ChangeCollection,
  Collection,
  ContentChanges,
  ContentInvitation,
  ContentItem,
  ContentMember,
  CreateCollection,
  InviteMember,
} from '@platform/contract';
import {
  type Bytes,
  type BytesToWrite,
  deleteBytes,
  readBytes,
  type WriteConditions,
  type WriteOptions,
  writeBytes,
} from './bytes-call.ts';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { callService } from './service-call.ts';
import type { Page, PageOptions } from './services.ts';

export interface ContentService {
  /** Makes a collection, which is open to this app from then on. Grant `content.collections.manage`. */
  create(collection: CreateCollection, options?: CallOptions): Promise<Collection>;
  /** Those that the app may read, oldest first. Grant `content.collections.read`, like all that reads. */
  list(options?: PageOptions): Promise<Page<Collection>>;
  /** One collection. */
  read(id: string, options?: CallOptions): Promise<Collection>;
  /**
   * Renames a collection, or moves it. Grant `content.collections.manage`.
   *
   * @throws {PlatformError} `content_conflict` for one that would lie within itself
   */
  change(id: string, change: ChangeCollection, options?: CallOptions): Promise<Collection>;
  /** With all that is in it. Grant `content.collections.manage`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** By key. */
  items(id: string, options?: PageOptions): Promise<Page<ContentItem>>;
  /** The bytes of an item, and their version. @throws {PlatformError} `not_found` */
  get(id: string, key: string, options?: CallOptions): Promise<Bytes>;
  /**
   * Writes an item, at most 10 MiB. Grant `content.collections.write`.
   *
   * @throws {PlatformError} `precondition_failed` when the condition does not hold: read it again, and decide anew
   * @example
   * const { bytes, etag } = await app.content().get(list, 'milk');
   * await app.content().put(list, 'milk', changed(bytes), { ifMatch: etag });
   */
  put(id: string, key: string, body: BytesToWrite, options?: WriteOptions): Promise<ContentItem>;
  /** Grant `content.collections.write`. */
  remove(id: string, key: string, options?: CallOptions & Pick<WriteConditions, 'ifMatch'>): Promise<void>;
  /**
   * What changed since a cursor, each item once; waits up to 25 seconds for it. Without a cursor all there is, at once. Ask again with
   * `nextCursor`.
   *
   * @throws {PlatformError} `invalid_cursor` when so much was deleted since that not all is known: begin without one
   */
  changes(id: string, options?: PageOptions): Promise<ContentChanges>;
  /** Who has access, each with the strongest role. */
  members(id: string, options?: PageOptions): Promise<Page<ContentMember>>;
  /**
   * Invites somebody, who accepts in the shell for this app. Grant `content.collections.manage`.
   *
   * @throws {PlatformError} `not_found` for nobody, `content_conflict` for a member
   */
  invite(id: string, member: InviteMember, options?: CallOptions): Promise<ContentInvitation>;
  /** Takes a role away; everybody can give up their own. */
  removeMember(id: string, memberId: string, options?: CallOptions): Promise<void>;
}

const ALL = '/v1/services/content/collections';
const ONE = `${ALL}/:id`;
const ITEM = `${ONE}/items/:key`;

export function contentService(access: ServiceAccess): ContentService {
  const of = (id: string) => ({ parameters: { id } });
  return {
    async create(body, options) {
      const input = { method: 'POST', path: ALL, body } as const;
      return (await callService<'services.content.create'>(access, input, options)).collection;
    },
    list: ({ limit, cursor, ...options } = {}) =>
      callService<'services.content.list'>(access, { method: 'GET', path: ALL, query: { limit, cursor } }, options),
    async read(id, options) {
      const input = { method: 'GET', path: ONE, ...of(id) } as const;
      return (await callService<'services.content.read'>(access, input, options)).collection;
    },
    async change(id, body, options) {
      const input = { method: 'PATCH', path: ONE, ...of(id), body } as const;
      return (await callService<'services.content.change'>(access, input as never, options)).collection;
    },
    delete: (id, options) =>
      callService<'services.content.delete'>(access, { method: 'DELETE', path: ONE, ...of(id) }, options),
    items: (id, { limit, cursor, ...options } = {}) => {
      const input = { method: 'GET', path: `${ONE}/items`, ...of(id), query: { limit, cursor } } as const;
      return callService<'services.content.items'>(access, input, options);
    },
    get: (id, key, options) => readBytes(access, { path: ITEM, parameters: { id, key } }, options),
    async put(id, key, body, options) {
      const call = { path: ITEM, parameters: { id, key } };
      return (await writeBytes<{ item: ContentItem }>(access, call, body, options)).item;
    },
    remove: (id, key, options) => deleteBytes(access, { path: ITEM, parameters: { id, key } }, options),
    changes: (id, { limit, cursor, ...options } = {}) => {
      const input = { method: 'GET', path: `${ONE}/changes`, ...of(id), query: { limit, cursor } } as const;
      return callService<'services.content.changes'>(access, input, { timeoutMilliseconds: 45_000, ...options });
    },
    members: (id, { limit, cursor, ...options } = {}) => {
      const input = { method: 'GET', path: `${ONE}/members`, ...of(id), query: { limit, cursor } } as const;
      return callService<'services.content.members'>(access, input, options);
    },
    async invite(id, body, options) {
      const input = { method: 'POST', path: `${ONE}/members`, ...of(id), body } as const;
      return (await callService<'services.content.members.invite'>(access, input, options)).invitation;
    },
    removeMember: (id, memberId, options) => {
      const input = { method: 'DELETE', path: `${ONE}/members/:memberId`, parameters: { id, memberId } } as const;
      return callService<'services.content.members.remove'>(access, input, options);
    },
  };
}
