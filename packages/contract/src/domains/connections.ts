// Clients outside the platform that use tools of an account (contract 4g, From outside): what they ask for, what their person
// allows, and how that ends. How they get there is OAuth (docs/decisions/connections.md).
import * as z from 'zod';
import { KiB, type Limits, type Routes } from '../domain.ts';
import { appId, timestamp } from '../primitives.ts';
import { readScope } from '../tool-scopes.ts';
import { secretFree } from './accounts.ts';
import { page, pageQuery } from './common.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

export * from '../tool-scopes.ts';

const limits = {
  connectionRequestSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time in which a person can decide on a client that wants to connect',
  },
  connectionRequests: {
    value: 10_000,
    unit: 'items',
    meaning: 'requests to connect that wait for a decision, of all accounts together; one more ends the oldest',
  },
  connectionRequestRate: {
    value: 60,
    unit: 'per minute',
    meaning: 'requests to connect begun at one client address',
  },
  connectionCodeSeconds: {
    value: 60,
    unit: 'seconds',
    meaning: 'time in which a client exchanges its authorization code',
  },
  connectionTokenSeconds: { value: 600, unit: 'seconds', meaning: 'lifetime of an access token of a client' },
  connectionDays: {
    value: 30,
    unit: 'days',
    meaning: 'lifetime of a refresh token of a client, and so of a connection that nobody uses',
  },
  connectionUsedTokens: {
    value: 1_000,
    unit: 'items',
    meaning: 'refresh tokens of one connection, already used, whose second use is noticed',
  },
  connectionsPerAccount: {
    value: 50,
    unit: 'items',
    meaning: 'connected clients of one account; one more ends the least recently used one',
  },
  connectionScopes: { value: 100, unit: 'items', meaning: 'scopes of one connection' },
  connectionBody: { value: 16 * KiB, unit: 'bytes', meaning: 'body of a request to the token or revocation endpoint' },
  connectionTokenRate: {
    value: 300,
    unit: 'per minute',
    meaning: 'requests from one client address to exchange, refresh or revoke tokens of connections',
  },
  clientRegistrationRate: {
    value: 10,
    unit: 'per minute',
    meaning: 'clients that one client address registers',
  },
  clientRegistrationBody: { value: 16 * KiB, unit: 'bytes', meaning: 'metadata with which a client registers' },
  unusedClients: {
    value: 1_000,
    unit: 'items',
    meaning: 'registered clients that nobody has allowed anything; one more removes the oldest',
  },
  unusedClientSeconds: {
    value: 86_400,
    unit: 'seconds',
    meaning: 'time after which a registered client that nobody has allowed anything is removed',
  },
  clientDocument: { value: 64 * KiB, unit: 'bytes', meaning: 'client ID metadata document' },
  clientDocumentSeconds: { value: 5, unit: 'seconds', meaning: 'time for fetching a client ID metadata document' },
  clientDocuments: { value: 500, unit: 'items', meaning: 'client ID metadata documents kept by one core' },
  clientDocumentFetches: {
    value: 32,
    unit: 'items',
    meaning: 'client ID metadata documents that one core fetches at the same time',
  },
  clientDocumentLeastSeconds: {
    value: 60,
    unit: 'seconds',
    meaning: 'time for which a client ID metadata document is kept, whatever it says',
  },
  clientDocumentMostSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'longest time for which a client ID metadata document is kept',
  },
  connectedClientName: { value: 80, unit: 'characters', meaning: 'name of a client that connects' },
  clientRedirects: { value: 20, unit: 'items', meaning: 'redirect addresses of one client' },
  clientAddress: {
    value: 1_024,
    unit: 'characters',
    meaning: 'redirect address of a client, and URL of its metadata document',
  },
} as const satisfies Limits;

const scope = z
  .string()
  .refine((text) => readScope(text) !== null, 'must be tools:call:<pattern> or tools:propose:<pattern>');

export const connectingClient = z.strictObject({
  /** As it names itself; never trusted. */
  name: z.string(),
  /**
   * Where what it is given goes. A loopback host (`localhost`, `127.0.0.1`, `[::1]`) means that it is a program on the computer of the
   * person, whichever name it gives itself.
   */
  host: z.string(),
});
export type ConnectingClient = z.infer<typeof connectingClient>;

export const connectionRequest = z.strictObject({
  client: connectingClient,
  /** Where the client says who it is, by a document at its own address; `null` for one that registered itself. */
  documentHost: z.string().nullable(),
  /** The one app whose tools it wants to use; `null` for all of them. */
  app: appId.nullable(),
  /** What it asks for. */
  scopes: z.array(z.string()),
  requestedAt: timestamp,
  expiresAt: timestamp,
});
export type ConnectionRequest = z.infer<typeof connectionRequest>;

export const decideConnectionBody = z
  .strictObject({
    decision: z.enum(['allow', 'deny']),
    /** What is allowed, no more than was asked for. Default: what is chosen beforehand. */
    scopes: z.array(scope).min(1).max(limits.connectionScopes.value).optional(),
    /** For `connection.allow`. A denial needs none. */
    confirmation: passkeyConfirmation.optional(),
  })
  .refine(({ decision, confirmation }) => decision === 'deny' || confirmation !== undefined, {
    path: ['confirmation'],
    message: 'is missing: a client is allowed with a passkey',
  });
export type DecideConnection = z.input<typeof decideConnectionBody>;

export const connectionDecided = z.strictObject({
  /** Where the browser that began the request goes on, once: back to the client. */
  continueAt: z.string(),
});
export type ConnectionDecided = z.infer<typeof connectionDecided>;

export const connection = z.strictObject({
  id: z.string(),
  client: connectingClient,
  /** As in the request. */
  app: appId.nullable(),
  scopes: z.array(z.string()),
  createdAt: timestamp,
  /** To the minute; `null` before its first use. */
  lastUsedAt: timestamp.nullable(),
});
export type Connection = z.infer<typeof connection>;

const ofRequest = z.strictObject({ id: z.string().regex(/^[\w-]{1,64}$/, 'must be the id of a request') });
const ofConnection = z.strictObject({ id: z.string().regex(/^[\w-]{1,64}$/, 'must be the id of a connection') });

const routes = {
  'account.connectionRequests.read': {
    method: 'GET',
    path: '/v1/account/connection-requests/:id',
    summary: 'What a client that wants to connect asks for',
    callers: ['session'],
    params: ofRequest,
    answers: { 200: connectionRequest },
    rate: 'session',
  },
  'account.connectionRequests.decide': {
    method: 'POST',
    path: '/v1/account/connection-requests/:id',
    summary: 'Allow or deny that a client connects; it gets what was allowed in the browser that began',
    callers: ['session'],
    origin: 'shell',
    confirms: 'connection.allow',
    params: ofRequest,
    body: secretFree(decideConnectionBody),
    answers: { 200: connectionDecided },
    refuses: ['grants_exceed_request'],
    rate: 'session',
  },
  'account.connections.list': {
    method: 'GET',
    path: '/v1/account/connections',
    summary: 'Clients that are connected to the account',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(connection) },
    rate: 'session',
  },
  'account.connections.revoke': {
    method: 'DELETE',
    path: '/v1/account/connections/:id',
    summary: 'End the connection of a client: its next request is refused',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends the connection of a client' },
    params: ofConnection,
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const connections = { limits, routes } as const;
