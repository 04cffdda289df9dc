// How the command line of an author signs in: a code that a person approves in the shell, and the token that comes of it
// (after RFC 8628; docs/decisions/cli-login.md).
import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { readableLine, visible } from '../text.ts';
import { secretFree } from './accounts.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

const limits = {
  authorRequestSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time in which the sign-in of a command line can be approved',
  },
  authorRequests: {
    value: 10_000,
    unit: 'items',
    meaning: 'sign-ins of command lines that wait for approval, of all clients together; one more ends the oldest',
  },
  authorRequestRate: {
    value: 20,
    unit: 'per minute',
    meaning: 'sign-ins of command lines begun at one client address',
  },
  authorCodeRate: {
    value: 10,
    unit: 'per minute',
    meaning: 'codes of command lines that one account enters or decides',
  },
  authorPollSeconds: {
    value: 3,
    unit: 'seconds',
    meaning: 'interval at which a command line asks whether it was approved',
  },
  authorTokenSeconds: { value: 7_776_000, unit: 'seconds', meaning: 'lifetime of the token of a command line' },
  authorTokensPerAccount: {
    value: 20,
    unit: 'items',
    meaning: 'tokens of command lines of one account; one more ends the least recently used one',
  },
  machineName: { value: 60, unit: 'characters', meaning: 'name of the machine of a command line' },
} as const satisfies Limits;

const errors = {
  author_request_denied: {
    status: 403,
    title: 'The sign-in was denied.',
    help: 'Somebody chose “Don’t allow” in the shell. Run `./platform login` again if that was a mistake.',
  },
  author_request_ended: {
    status: 404,
    title: 'This code is wrong or has expired.',
    help: 'Codes are valid for ten minutes and once. Check the letters, or run `./platform login` again for a new one.',
  },
} as const satisfies Errors;

/** Two groups of five: digits and consonants that are not mistaken for each other, and spell nothing. */
export const AUTHOR_CODE_LETTERS = '23456789BCDFGHJKMNPQRSTVWXZ';
const LETTER = `[${AUTHOR_CODE_LETTERS}]`;

/** As a person types it: any case, with or without the hyphen. */
export const authorCode = z
  .string()
  .max(40)
  .transform((typed) => typed.toUpperCase().replaceAll(/[\s\-–—]/g, ''))
  .pipe(z.string().regex(new RegExp(`^${LETTER}{10}$`), 'must be a code such as 7KXWQ-4MHTP'));

/** As a person reads it. */
export function writtenAuthorCode(code: string): string {
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

export const machineName = z
  .string()
  .trim()
  .min(1)
  .max(limits.machineName.value)
  .regex(...readableLine)
  .regex(...visible);

export const authorRequestBody = z.strictObject({ machine: machineName });
export const authorRequestAnswer = z.strictObject({
  /** Secret: collects the token. */
  requestToken: z.string(),
  /** What the person enters, `7KXWQ-4MHTP`. */
  code: z.string(),
  /** Where the person enters it. */
  page: z.string(),
  expiresAt: timestamp,
  pollSeconds: z.int(),
});
export type AuthorRequestAnswer = z.infer<typeof authorRequestAnswer>;

export const authorCollectBody = z.strictObject({ requestToken: z.string().min(20).max(100) });
export const authorTokenAnswer = z.strictObject({
  token: z.string(),
  /** Account name. */
  account: z.string(),
  expiresAt: timestamp,
});
export type AuthorTokenAnswer = z.infer<typeof authorTokenAnswer>;

export const authorReviewBody = z.strictObject({ code: authorCode });
export const authorReview = z.strictObject({
  /** As it named itself; never trusted. */
  machine: z.string(),
  /** The client address it came from. */
  address: z.string(),
  /** Whether that is the network of the one who reviews it. */
  sameNetwork: z.boolean(),
  requestedAt: timestamp,
});
export type AuthorReview = z.infer<typeof authorReview>;
export const authorDecideBody = z
  .strictObject({
    code: authorCode,
    allow: z.boolean(),
    /** For `author.allow`. A denial needs none. */
    confirmation: passkeyConfirmation.optional(),
  })
  .refine(({ allow, confirmation }) => !allow || confirmation !== undefined, {
    path: ['confirmation'],
    message: 'is missing: a command line is allowed with a passkey',
  });

export const authorTokenView = z.strictObject({
  id: z.string(),
  machine: z.string(),
  createdAt: timestamp,
  /** To the minute. */
  lastUsedAt: timestamp,
  expiresAt: timestamp,
});
export type AuthorTokenView = z.infer<typeof authorTokenView>;

export const authorSelf = z.strictObject({ account: z.string(), machine: z.string(), expiresAt: timestamp });
export type AuthorSelf = z.infer<typeof authorSelf>;

const ofToken = z.strictObject({ id: z.string().regex(/^[\w-]{1,64}$/, 'must be the id of a token') });

const routes = {
  'author.requests.begin': {
    method: 'POST',
    path: '/v1/author/requests',
    summary: 'Begin the sign-in of a command line',
    callers: ['anonymous'],
    body: json(authorRequestBody, 1_024),
    answers: { 201: authorRequestAnswer },
    rate: 'authorRequest',
  },
  'author.requests.collect': {
    method: 'POST',
    path: '/v1/author/requests/collect',
    summary: 'Take the token of an approved sign-in, once; 204 while nobody has decided',
    callers: ['anonymous'],
    body: json(authorCollectBody, 1_024),
    answers: { 200: authorTokenAnswer, 204: null },
    refuses: ['author_request_denied', 'author_request_ended'],
    rate: 'authentication',
  },
  'author.requests.review': {
    method: 'POST',
    path: '/v1/author/requests/review',
    summary: 'What a code is for',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'changes nothing' },
    body: json(authorReviewBody, 1_024),
    answers: { 200: authorReview },
    refuses: ['author_request_ended'],
    rate: 'authorCode',
  },
  'author.requests.decide': {
    method: 'POST',
    path: '/v1/author/requests/decide',
    summary: 'Approve or deny the sign-in of a command line',
    callers: ['session'],
    origin: 'shell',
    confirms: 'author.allow',
    body: secretFree(authorDecideBody),
    answers: { 204: null },
    refuses: ['author_request_ended'],
    rate: 'authorCode',
  },
  'author.tokens.list': {
    method: 'GET',
    path: '/v1/author/tokens',
    summary: 'Command lines that are signed in to the account',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(authorTokenView) },
    rate: 'session',
  },
  'author.tokens.revoke': {
    method: 'DELETE',
    path: '/v1/author/tokens/:id',
    summary: 'Sign a command line out',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends a command line' },
    params: ofToken,
    answers: { 204: null },
    rate: 'session',
  },
  'author.self': {
    method: 'GET',
    path: '/v1/author',
    summary: 'Whose token this is',
    callers: ['author'],
    answers: { 200: authorSelf },
    rate: 'session',
  },
  'author.logout': {
    method: 'POST',
    path: '/v1/author/logout',
    summary: 'End the token',
    callers: ['author'],
    body: json(emptyBody.optional()),
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const authorTokens = { limits, errors, routes } as const;
