// Accounts that write to each other, each by an app of theirs that may do everything with messages.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Conversation, Message, MessagingNews } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import { type CallSettings, type InstalledTestApp, installTestApp } from '../../../tests/support/installed-app.ts';
import { buildTestPackage, testManifest } from '../../../tests/support/packages.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../tests/support/raw-http.ts';
import { placeAtFirstUse } from '../src/placement/face.ts';
import { installationRow, startedCredential } from './apps.ts';

export const MESSAGING = '/v1/services/messaging';
export const ALL = ['messaging.read', 'messaging.send', 'messaging.resolve'].map((id) => ({
  id: id as 'messaging.read',
  resources: ['*'],
}));

type WritingApp = Pick<InstalledTestApp, 'appId' | 'installationId' | 'credential' | 'call'>;

export interface Writer {
  readonly account: TestAccount;
  readonly app: WritingApp;
  call(path: string, settings?: CallSettings): Promise<RawAnswer>;
  /** Opens the conversation. */
  direct(to: string): Promise<Conversation>;
  act(conversationId: string, act: 'accept' | 'decline' | 'leave' | 'block'): Promise<RawAnswer>;
  send(conversationId: string, body: string, transactionId?: string): Promise<RawAnswer>;
  sent(conversationId: string, body: string): Promise<Message>;
  conversations(): Promise<Conversation[]>;
  /** Newest first. */
  bodies(conversationId: string): Promise<string[]>;
  sync(body?: object): Promise<MessagingNews>;
}

let transactions = 0;

export async function writerOf(world: Constellation, name: string, appId = `letters-${name}`): Promise<Writer> {
  return writerOn(world, await registerAccount(world, name), appId);
}

export async function writerOn(world: Constellation, account: TestAccount, appId: string): Promise<Writer> {
  return writerBy(account, await installTestApp(world, account, appId, ALL));
}

/** A package of the platform's own Messages with a backend. The real one has a frontend only. */
export async function messagesPackage(): Promise<{ readonly path: string }> {
  const manifest = testManifest('messages', { permissions: ALL, workload: { runtime: 'node', entry: 'main.js' } });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  const file = path.join(tmpdir(), `messages-${process.pid}.tgz`);
  await writeFile(file, await buildTestPackage({ manifest, files }));
  return { path: file };
}

/** By the Messages app that accounts have from their beginning, where the platform has {@link messagesPackage}. */
export async function writerOfMessages(world: Constellation, account: TestAccount): Promise<Writer> {
  const { id } = await installationRow(world, account, 'messages');
  // As its first use does.
  await placeAtFirstUse(world.core.context, id);
  const credential = await startedCredential(world, id);
  return writerBy(account, { appId: 'messages', installationId: id, credential, call: coreCaller(world, credential) });
}

function coreCaller({ port, origin }: Constellation, credential: string): InstalledTestApp['call'] {
  return (target, { body, method = body === undefined ? 'GET' : 'POST' } = {}) =>
    rawRequest({
      port,
      method,
      path: target,
      headers: {
        host: new URL(origin).host,
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

function writerBy(account: TestAccount, app: WritingApp): Writer {
  const call = (target: string, settings?: CallSettings) => app.call(`${MESSAGING}${target}`, settings);
  async function take<Answer>(path: string, settings?: CallSettings): Promise<Answer> {
    const answer = await call(path, settings);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Answer;
  }
  const send = (conversationId: string, body: string, transactionId?: string) => {
    transactions += 1;
    return call(`/conversations/${conversationId}/messages`, {
      body: { transactionId: transactionId ?? `t${transactions}`, message: { body } },
    });
  };
  return {
    account,
    app,
    call,
    send,
    direct: async (to) =>
      (await take<{ conversation: Conversation }>('/conversations/direct', { body: { to } })).conversation,
    act: (id, act) => call(`/conversations/${id}/${act}`, { method: 'POST' }),
    async sent(conversationId, body) {
      const answer = await send(conversationId, body);
      assert.equal(answer.status, 201, answer.text);
      return (answer.json as { message: Message }).message;
    },
    conversations: async () => (await take<{ items: Conversation[] }>('/conversations')).items,
    bodies: async (id) =>
      (await take<{ items: Message[] }>(`/conversations/${id}/messages`)).items.map(({ body }) => body),
    sync: (body = {}) => take<MessagingNews>('/sync', { body }),
  };
}

/** Two who have accepted each other, and how each names the conversation. */
export async function friends(one: Writer, other: Writer): Promise<readonly [string, string]> {
  const { id } = await one.direct(nameOf(other));
  const { id: otherId } = await other.direct(nameOf(one));
  return [id, otherId];
}

export function nameOf({ account }: Writer): string {
  return account.name;
}

export function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}
