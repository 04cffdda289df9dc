// What the master account does to the whole platform through the shell: invitations, and the accounts of others. Sessions
// alone call these; an app never does, not even Fleet, which has the shell ask the person (bridge methods `system.…`).
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { accountName, timestamp } from '../primitives.ts';
import { secretFree } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  invitationDays: { value: 7, unit: 'days', meaning: 'lifetime of an invitation to register' },
  invitations: { value: 500, unit: 'items', meaning: 'invitations that wait to be used' },
  accountApps: {
    value: 20,
    unit: 'items',
    meaning: 'apps of one account that the list of accounts shows with their disk space, those that take the most',
  },
} as const satisfies Limits;

const counted = z.int().min(0);

/** Without its token, which is shown once. */
export const invitation = z.strictObject({
  id: z.string(),
  /** The only name that can be registered with it; `null` for any. */
  name: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp,
});
export type Invitation = z.infer<typeof invitation>;

export const newInvitation = invitation.extend({
  /** `<origin>/#invite=<token>`. Its holder can register once. */
  url: z.string(),
});
export type NewInvitation = z.infer<typeof newInvitation>;

export const inviteBody = z.strictObject({ name: accountName.optional() });
export const planBody = z.strictObject({
  /** `null`: what PLATFORM_DEFAULT_PLAN says. */
  plan: z.enum(['free', 'paid']).nullable(),
});
export const removeAccountBody = z.strictObject({
  /** The name of the account, typed. */
  name: z.string().max(64),
  confirmation: passkeyConfirmation,
});

const accountsQuery = pageQuery.extend({
  /** Only accounts whose name contains this. */
  name: z
    .string()
    .max(32)
    .transform((name) => name.toLowerCase())
    .optional(),
});

const listedAccount = z.strictObject({
  name: z.string(),
  state: z.enum(['active', 'paused', 'suspended']),
  plan: z.enum(['free', 'paid']),
  /** Whether the operator set the plan; otherwise it is the default. */
  ownPlan: z.boolean(),
  /** Whether it looks after the platform: the one that PLATFORM_MASTER_ACCOUNT or `platform account operator` names. */
  master: z.boolean(),
  createdAt: timestamp,
  /** Of an open session, to the minute; `null` without one. */
  lastSeenAt: timestamp.nullable(),
  /** Open ones. */
  sessions: counted,
  /** When it is deleted, as its owner asked. */
  deletesAt: timestamp.nullable(),
  /** Installed ones. */
  apps: counted,
  /** Volumes at their declared size, published packages, and images. */
  diskBytes: counted,
  /** What takes that space, the largest first. */
  disk: z
    .array(
      z.strictObject({
        appId: z.string(),
        name: z.string(),
        volumeBytes: counted,
        /** Of the versions that the account published. */
        packageBytes: counted,
        /** Of container images of installed apps. */
        imageBytes: counted,
      }),
    )
    .max(limits.accountApps.value),
});
export type ListedAccount = z.infer<typeof listedAccount>;

const ofAccount = z.strictObject({ name: accountName });
const ofInvitation = z.strictObject({
  id: z.string().regex(/^inv-[0-9a-f-]{36}$/, 'must be an id that starts with inv-'),
});

const asMaster = {
  callers: ['session'],
  origin: 'shell',
  refuses: ['master_account_only'],
  rate: 'session',
} as const;

const routes = {
  'services.system.accounts': {
    method: 'GET',
    path: '/v1/services/system/accounts',
    summary: 'The accounts of the platform with what they take, for an app of the master account',
    callers: ['installation', 'frontend'],
    grant: { id: 'system.inventory.read', resource: '*' },
    query: accountsQuery,
    answers: { 200: page(listedAccount) },
    refuses: ['master_account_only'],
    rate: 'service',
  },
  'operator.invitations.list': {
    method: 'GET',
    path: '/v1/operator/invitations',
    summary: 'Invitations that wait to be used',
    callers: ['session'],
    refuses: ['master_account_only'],
    rate: 'session',
    query: pageQuery,
    answers: { 200: page(invitation) },
  },
  'operator.invitations.create': {
    method: 'POST',
    path: '/v1/operator/invitations',
    summary: 'Make a one-time invitation to register',
    ...asMaster,
    confirms: { nothing: 'lets one person register an account of their own, for a few days' },
    body: json(inviteBody),
    answers: { 201: z.strictObject({ invitation: newInvitation }) },
  },
  'operator.invitations.revoke': {
    method: 'DELETE',
    path: '/v1/operator/invitations/:id',
    summary: 'Revoke an invitation',
    ...asMaster,
    confirms: { nothing: 'takes back what was not used' },
    params: ofInvitation,
    answers: { 204: null },
  },
  'operator.accounts.suspend': {
    method: 'POST',
    path: '/v1/operator/accounts/:name/suspend',
    summary: 'Sign an account out and stop everything it runs, until it is resumed',
    ...asMaster,
    confirms: { nothing: 'can be taken back' },
    params: ofAccount,
    body: json(emptyBody),
    answers: { 204: null },
  },
  'operator.accounts.resume': {
    method: 'POST',
    path: '/v1/operator/accounts/:name/resume',
    summary: 'End the suspension of an account',
    ...asMaster,
    confirms: { nothing: 'can be taken back' },
    params: ofAccount,
    body: json(emptyBody),
    answers: { 204: null },
  },
  'operator.accounts.plan': {
    method: 'PUT',
    path: '/v1/operator/accounts/:name/plan',
    summary: 'Set the plan of an account',
    ...asMaster,
    confirms: { nothing: 'can be taken back' },
    params: ofAccount,
    body: json(planBody),
    answers: { 204: null },
  },
  'operator.accounts.delete': {
    method: 'POST',
    path: '/v1/operator/accounts/:name/delete',
    summary: 'Delete an account with everything it has, at once',
    ...asMaster,
    confirms: 'operator.account.delete',
    params: ofAccount,
    body: secretFree(removeAccountBody),
    answers: { 204: null },
    rate: 'authentication',
  },
} as const satisfies Routes;

export const operator = { limits, routes } as const;

/** What the operator can do to an account. */
export type AccountChange = 'suspend' | 'resume' | 'plan-free' | 'plan-paid' | 'plan-default' | 'delete';

/** Who may register: everybody, people with an invitation, nobody. */
export type Registration = 'open' | 'invite' | 'closed';

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * These four only for the platform's own Fleet, with `system.inventory.read` on `*`, for changes also in front; core refuses
     * every account but the master account. Invitations that wait to be used, the newest first.
     */
    'system.invitations': {
      params: { readonly limit?: number; readonly cursor?: string };
      result: BridgePage<Invitation> & { readonly registration: Registration };
    };
    /** The shell shows the link to the person alone, and Fleet never gets it. `invited` is false when they declined. */
    'system.invite': { params: { readonly name?: string }; result: { readonly invited: boolean }; asks: true };
    /** `revoked` is false when they declined. */
    'system.uninvite': { params: { readonly id: string }; result: { readonly revoked: boolean }; asks: true };
    /** A deletion is confirmed with a passkey. `changed` is false when they declined. */
    'system.changeAccount': {
      params: { readonly name: string; readonly change: AccountChange };
      result: { readonly changed: boolean };
      asks: true;
    };
  }
}
