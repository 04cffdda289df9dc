// Files over HTTP: for apps, for the app that looks after a person’s files, and for the shell.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import type { HandlersOf } from '../../http/handlers.ts';
import { type KeptBytes, sendBytes } from '../send-bytes.ts';
import { deleteOwn, findOwn, listOwn, readEntries, writeEntries, writeOwn } from './app-files.ts';
import type { FileRow } from './file-queries.ts';
import { findShared, listShared, writeShared } from './shared-files.ts';
import {
  createUserFile,
  deleteUserFile,
  findUserFile,
  handOver,
  leaveFiles,
  listForPerson,
  listTransfers,
  listUserFiles,
  renameUserFile,
  saveFromApp,
  takeBack,
} from './user-files.ts';

export type FileRoute = DomainRoute<'files'>;

export function fileRoutes(context: CoreContext): HandlersOf<FileRoute> {
  return {
    'services.files.list': async ({ caller, query }) => ({ status: 200, body: await listOwn(context, caller, query) }),
    'services.files.shared': async ({ caller, query }) => ({
      status: 200,
      body: await listShared(context, caller, query),
    }),
    'services.files.shared.read': async ({ caller, params: { id }, request, reply }) => {
      await sendBytes(context, { request, reply }, async () => bytesOf(await findShared(context, caller, id)));
      return { streamed: true };
    },
    'services.files.shared.write': async ({ caller, params: { id }, request, reply, stillAllowed }) => {
      const file = await writeShared(context, { caller, id, request: request.raw, stillAllowed });
      reply.header('etag', file.etag);
      return { status: 200, body: { file } };
    },
    'services.files.read': async ({ caller, params: { name }, request, reply }) => {
      await sendBytes(context, { request, reply }, async () => bytesOf(await findOwn(context, caller, name)));
      return { streamed: true };
    },
    'services.files.write': async ({ caller, params: { name }, request, reply, stillAllowed }) => {
      const { file, created } = await writeOwn(context, { caller, name, request: request.raw, stillAllowed });
      reply.header('etag', file.etag);
      return { status: created ? 201 : 200, body: { file } };
    },
    'services.files.delete': async ({ caller, params: { name }, request }) => {
      await deleteOwn(context, { caller, name, request: request.raw });
      return { status: 204 };
    },
    'services.files.access.read': async ({ caller, params: { name } }) => ({
      status: 200,
      body: { entries: await readEntries(context, caller, name) },
    }),
    'services.files.access.replace': async ({ caller, params: { name }, body }) => ({
      status: 200,
      body: { entries: await writeEntries(context, caller, name, body.entries) },
    }),
    'services.userFiles.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listUserFiles(context, accountKey, query),
    }),
    'services.userFiles.create': async ({ caller, query: { name }, request, stillAllowed }) => ({
      status: 201,
      body: { file: await createUserFile(context, { caller, name, request: request.raw, stillAllowed }) },
    }),
    'services.userFiles.read': async ({ caller: { accountKey }, params: { id }, request, reply }) => {
      await sendBytes(context, { request, reply }, async () => bytesOf(await findUserFile(context, accountKey, id)));
      return { streamed: true };
    },
    'services.userFiles.rename': async ({ caller, params: { id }, body: { name } }) => ({
      status: 200,
      body: { file: await renameUserFile(context, caller, id, name) },
    }),
    'services.userFiles.delete': async ({ caller, params: { id } }) => {
      await deleteUserFile(context, caller, id);
      return { status: 204 };
    },
    'services.userFiles.transfers': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listTransfers(context, accountKey, query),
    }),
    'services.userFiles.takeBack': async ({ caller: { accountKey }, params: { id, appId } }) => {
      await takeBack(context, { accountKey, id, appId });
      return { status: 204 };
    },
    'account.files.list': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listForPerson(context, accountKey, query),
    }),
    'account.files.save': async ({ caller, body }) => ({
      status: 201,
      body: { file: await saveFromApp(context, caller, body) },
    }),
    'account.files.handOver': async ({ caller, params: { id }, body }) => ({
      status: 201,
      body: { file: await handOver(context, caller, id, body) },
    }),
    'account.files.leave': async ({ caller, query }) => {
      await leaveFiles(context, caller, query);
      return { status: 204 };
    },
    'account.files.transfers': async ({ caller: { accountKey }, query }) => ({
      status: 200,
      body: await listTransfers(context, accountKey, query),
    }),
    'account.files.takeBack': async ({ caller: { accountKey }, params: { id, appId } }) => {
      await takeBack(context, { accountKey, id, appId });
      return { status: 204 };
    },
  };
}

function bytesOf({ etag, size, body_id, media_type }: FileRow): KeptBytes {
  return { etag, size: Number(size), bodyId: body_id, type: media_type };
}
