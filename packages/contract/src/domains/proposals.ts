// Calls of tools that wait for their person: what an app or a connected client proposes, and what became of it (contract 4g).
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, timestamp } from '../primitives.ts';
import { secretFree } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  proposalSeconds: {
    value: 900,
    unit: 'seconds',
    meaning: 'time in which a person decides on a proposed call of a tool',
  },
  proposalsPending: {
    value: 50,
    unit: 'items',
    meaning:
      'proposed calls of one installation or connected client that wait for a decision, with those declined in the time for one',
  },
  proposalBytes: {
    value: 1 * MiB,
    unit: 'bytes',
    meaning: 'arguments of all proposed calls of one installation or connected client that wait for a decision',
  },
  proposalsKept: {
    value: 100,
    unit: 'items',
    meaning:
      'proposed calls of one installation or connected client that are kept, decided or not; the oldest ones go first',
  },
  proposalKeptSeconds: {
    value: 86_400,
    unit: 'seconds',
    meaning: 'time for which a proposed call is kept after it expired',
  },
} as const satisfies Limits;

const errors = {
  proposal_conflict: {
    status: 409,
    title: 'What was proposed is not what is decided on.',
    help: 'It was decided on or expired meanwhile, or differs from what was shown. Look at it again.',
  },
} as const satisfies Errors;

export const proposalState = z.enum(['pending', 'executed', 'failed', 'declined', 'expired']);
export type ProposalState = z.infer<typeof proposalState>;

const proposalId = z.string().regex(/^prop-[\w-]{1,64}$/, 'must be the id of a proposal');

/** A call of a tool that is made once, as it stands here, when its person approves it. */
export const proposal = z.strictObject({
  id: proposalId,
  /** `pending` also while it is carried out; a cancelled one is `declined`. */
  state: proposalState,
  /** By its full name, e.g. `notes.add`. */
  tool: z.string(),
  /** The app that proposes it, or the id of the connection. */
  caller: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** SHA-256, lower-case hex, of the RFC 8785 form of `{ "arguments", "tool" }`. */
  argumentsHash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: timestamp,
  expiresAt: timestamp,
  /** What the tool answered (`CallToolResult` of the Model Context Protocol), of one by itself that was executed or failed. */
  result: z.record(z.string(), z.unknown()).optional(),
});
export type Proposal = z.infer<typeof proposal>;

/** With what its person sees before they decide. */
export const shownProposal = z.strictObject({
  ...proposal.shape,
  /** The name of the app that proposes it, or of the client, as it names itself. */
  callerName: z.string(),
  /** Where the connected client is; `null` for an app. */
  callerHost: z.string().nullable(),
  /** What the app of the tool, or the platform, says of the tool. */
  title: z.string().nullable(),
  description: z.string().nullable(),
  /** The app that has the tool; `null` for a tool of the platform. */
  app: z.strictObject({ id: appId, name: z.string() }).nullable(),
  /** Whether approving it needs a passkey: what deletes, installs, pays, or speaks for the person to others. */
  confirms: z.boolean(),
});
export type ShownProposal = z.infer<typeof shownProposal>;

export const approveProposalBody = z.strictObject({
  /** Of what was shown. */
  argumentsHash: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits'),
  /** For `tools.approve`, where the proposal `confirms`. */
  confirmation: passkeyConfirmation.optional(),
});
export type ApproveProposal = z.input<typeof approveProposalBody>;

const proposalAnswer = z.strictObject({ proposal });
const ofProposal = z.strictObject({ id: proposalId });
const proposalQuery = pageQuery.extend({ state: proposalState.optional() });

const forApps = {
  callers: ['frontend', 'installation'],
  grant: { id: 'mcp.tools.call', or: ['mcp.tools.propose'], resource: 'any' },
  rate: 'service',
} as const;

const routes = {
  'account.proposals.list': {
    method: 'GET',
    path: '/v1/account/proposals',
    summary: 'Calls of tools that apps and connected clients propose, the newest first',
    callers: ['session'],
    query: proposalQuery,
    answers: { 200: page(shownProposal) },
    rate: 'session',
  },
  'account.proposals.read': {
    method: 'GET',
    path: '/v1/account/proposals/:id',
    summary: 'A proposed call, with what came of it',
    callers: ['session'],
    params: ofProposal,
    answers: { 200: z.strictObject({ proposal: shownProposal }) },
    rate: 'session',
  },
  'account.proposals.approve': {
    method: 'POST',
    path: '/v1/account/proposals/:id/approve',
    summary: 'Have a proposed call made, once and as it was shown; answers when it has ended, or after 20 s',
    callers: ['session'],
    origin: 'shell',
    confirms: 'tools.approve',
    params: ofProposal,
    body: secretFree(approveProposalBody),
    answers: { 200: z.strictObject({ proposal: shownProposal }) },
    refuses: ['proposal_conflict'],
    rate: 'session',
  },
  'account.proposals.decline': {
    method: 'POST',
    path: '/v1/account/proposals/:id/decline',
    summary: 'Decline a proposed call',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'declines what an app proposed' },
    params: ofProposal,
    body: json(emptyBody.optional()),
    answers: { 200: z.strictObject({ proposal: shownProposal }) },
    refuses: ['proposal_conflict'],
    rate: 'session',
  },
  'services.proposals.list': {
    ...forApps,
    method: 'GET',
    path: '/v1/services/proposals',
    summary: 'What the app proposed, the newest first',
    query: proposalQuery,
    answers: { 200: page(proposal) },
  },
  'services.proposals.read': {
    ...forApps,
    method: 'GET',
    path: '/v1/services/proposals/:id',
    summary: 'What the app proposed, with what came of it',
    params: ofProposal,
    answers: { 200: proposalAnswer },
  },
  'services.proposals.cancel': {
    ...forApps,
    method: 'POST',
    path: '/v1/services/proposals/:id/cancel',
    summary: 'Withdraw what the app proposed',
    params: ofProposal,
    body: json(emptyBody.optional()),
    answers: { 200: proposalAnswer },
    refuses: ['proposal_conflict'],
  },
} as const satisfies Routes;

export const proposals = { limits, errors, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** What became of a call that the app proposed, for the app itself. */
    'mcp.proposalState': { params: { readonly id: string }; result: { readonly state: ProposalState } };
    /**
     * Puts what the app proposed before the person, in a question of the shell; for the app in front of a visible page. Answers with what
     * they decided, and `pending` when they closed the question.
     */
    'mcp.reviewProposal': { params: { readonly id: string }; result: { readonly state: ProposalState }; asks: true };
  }
}
