// Leaving: the export of an account, and its deletion after a grace in which its owner can still keep it.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { secretFree } from './accounts.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  deletionGrace: {
    value: 7,
    unit: 'days',
    meaning: 'time between the request to delete an account and its deletion, in which its owner can keep it',
  },
  accountExports: {
    value: 4,
    unit: 'items',
    meaning: 'exports of accounts that one replica of core makes at the same time, one of each account',
  },
  exportedVolume: {
    value: 65_536 * MiB,
    unit: 'bytes',
    meaning: 'what the download of an account may contain of the volume of one app',
  },
} as const satisfies Limits;

const errors = {
  account_closing: {
    status: 403,
    title: 'This account is about to be deleted.',
    help: 'Its owner asked for that. Until the date shown after signing in, the owner can keep the account or download its data; everything else has stopped.',
  },
} as const satisfies Errors;

export const deletionBody = z.strictObject({
  /** The name of the account, typed by its owner. */
  name: z.string().max(64),
  confirmation: passkeyConfirmation,
});

export const exportBody = z.strictObject({
  confirmation: passkeyConfirmation,
  /** Whether it contains what apps keep in their volumes; each stops while its volume is read. */
  volumes: z.boolean().default(true),
});

const exportRoutes = {
  'account.export': {
    method: 'POST',
    path: '/v1/account/export',
    summary: 'Everything the platform has of the account, as a .tar.gz',
    callers: ['session'],
    whileClosing: true,
    origin: 'shell',
    confirms: 'account.export',
    body: secretFree(exportBody),
    answers: { 200: 'application/gzip' },
    refuses: ['concurrency_limited'],
    rate: 'authentication',
  },
} as const satisfies Routes;

const routes = {
  'account.deletion.request': {
    method: 'POST',
    path: '/v1/account/deletion',
    summary: 'Have the account deleted after the grace; everything it runs stops at once',
    callers: ['session'],
    origin: 'shell',
    confirms: 'account.delete',
    body: secretFree(deletionBody),
    answers: { 200: z.strictObject({ deletesAt: timestamp }) },
    rate: 'authentication',
  },
  'account.deletion.cancel': {
    method: 'DELETE',
    path: '/v1/account/deletion',
    summary: 'Keep the account',
    callers: ['session'],
    whileClosing: true,
    origin: 'shell',
    confirms: { nothing: 'keeps what there is' },
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const accountClosing = { limits, errors, routes } as const;
/** In core a domain of its own, which reads all others. */
export const accountExport = { routes: exportRoutes } as const;
