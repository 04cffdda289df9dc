// Apps that keep content collections, and the people who have them: calls as such apps make them.
import { strict as assert } from 'node:assert';
import type {
  Collection,
  ContentChanges,
  ContentInvitation,
  ContentItem,
  ContentMember,
  ContentRole,
  Grant,
} from '@platform/contract';
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { type CallSettings, type InstalledTestApp, installTestApp } from '../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../tests/support/raw-http.ts';
import { earlier } from '../src/clock/clock-guard.ts';
import { deleteDoomed } from '../src/content/bodies/doomed-objects.ts';
import { sweepContent } from '../src/content/sweep.ts';
import type { CoreContext } from '../src/context.ts';

export const COLLECTIONS = '/v1/services/content/collections';
export const INVITATIONS = '/v1/account/content-invitations';

/** Everything in collections of any kind. */
export const ALL_CONTENT: readonly Grant[] = [
  { id: 'content.collections.read', resources: ['*'] },
  { id: 'content.collections.write', resources: ['*'] },
  { id: 'content.collections.manage', resources: ['*'] },
];

export interface ContentApp {
  readonly account: TestAccount;
  readonly app: InstalledTestApp;
  /** @param path below the collections */
  call(path: string, settings?: CallSettings): Promise<RawAnswer>;
  made(kind: string, name: string, parentId?: string): Promise<Collection>;
  put(id: string, key: string, body: string | Buffer, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  /** The entity tag of what it wrote. */
  wrote(id: string, key: string, body: string | Buffer): Promise<string>;
  listed(): Promise<string[]>;
  items(id: string): Promise<ContentItem[]>;
  changes(id: string, cursor?: string | null): Promise<ContentChanges>;
  members(id: string): Promise<ContentMember[]>;
  invite(id: string, to: string, role: Exclude<ContentRole, 'owner'>): Promise<RawAnswer>;
}

export async function contentApp(
  world: Constellation,
  account: TestAccount,
  appId: string,
  permissions: readonly Grant[] = ALL_CONTENT,
): Promise<ContentApp> {
  const app = await installTestApp(world, account, appId, permissions);
  return contentCalls(account, app);
}

export function contentCalls(account: TestAccount, app: InstalledTestApp): ContentApp {
  const call: ContentApp['call'] = (path, settings) => app.call(`${COLLECTIONS}${path}`, settings);
  async function taken<Body>(path: string): Promise<Body> {
    const answer = await call(path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Body;
  }
  const put: ContentApp['put'] = (id, key, body, headers = {}) =>
    call(`/${id}/items/${key}`, {
      method: 'PUT',
      body: Buffer.from(body),
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
  return {
    ...{ account, app, call, put },
    async made(kind, name, parentId) {
      const answer = await call('', { body: parentId === undefined ? { kind, name } : { kind, name, parentId } });
      assert.equal(answer.status, 201, answer.text);
      return (answer.json as { collection: Collection }).collection;
    },
    async wrote(id, key, body) {
      const answer = await put(id, key, body);
      assert.ok(answer.status === 200 || answer.status === 201, answer.text);
      return String(answer.headers.etag);
    },
    listed: async () => (await taken<{ items: Collection[] }>('?limit=200')).items.map(({ id }) => id),
    items: async (id) => (await taken<{ items: ContentItem[] }>(`/${id}/items?limit=200`)).items,
    changes: (id, cursor) => taken<ContentChanges>(`/${id}/changes${cursor == null ? '' : `?cursor=${cursor}`}`),
    members: async (id) => (await taken<{ items: ContentMember[] }>(`/${id}/members`)).items,
    invite: (id, to, role) => call(`/${id}/members`, { body: { to, role } }),
  };
}

export async function invitationsOf(account: TestAccount): Promise<ContentInvitation[]> {
  return (await account.browser.take<{ items: ContentInvitation[] }>(INVITATIONS)).items;
}

export function answerInvitation(
  account: TestAccount,
  id: string,
  answer: 'accept' | 'decline',
  appId: string,
): Promise<RawAnswer> {
  return account.fetch(`${INVITATIONS}/${id}/${answer}`, { body: { appId } });
}

/** Invites the other's person, who accepts. */
export async function share(
  from: ContentApp,
  to: ContentApp,
  id: string,
  role: Exclude<ContentRole, 'owner'>,
): Promise<void> {
  const sent = await from.invite(id, to.account.name, role);
  assert.equal(sent.status, 201, sent.text);
  const { invitation } = sent.json as { invitation: ContentInvitation };
  const accepted = await answerInvitation(to.account, invitation.id, 'accept', from.app.appId);
  assert.equal(accepted.status, 200, accepted.text);
}

/** As if it were so much later. */
export async function sweepContentAsOf(context: CoreContext, milliseconds: number): Promise<void> {
  while (await sweepContent(context, earlier(context.time.proven(), -milliseconds)));
}

/** One batch of what the object store still has of deleted items and files. @returns whether there may be more */
export function deleteDoomedContent(context: CoreContext): Promise<boolean> {
  return deleteDoomed(context);
}
