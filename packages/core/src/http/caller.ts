// The one value that says who is calling. Made in one place (authenticate.ts) from exactly one credential.
import type { CallerKind, Grant, InstallationId, RouteId, routes } from '@platform/contract';

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

/** A person at the shell, by session cookie. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly accountKey: string;
  readonly accountName: string;
  readonly accountCreatedAt: Date;
  /** When its account is deleted; `null` unless its owner asked for that. */
  readonly deletesAt: Date | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface InstallationIdentity {
  readonly installationId: InstallationId;
  readonly accountKey: string;
  readonly accountName: string;
  readonly appId: string;
  readonly grants: readonly Grant[];
  /** Its account is paused: every route refuses it. */
  readonly paused: boolean;
}

/** The browser part of an installation, by frontend capability from its own origin. */
export interface FrontendCaller extends InstallationIdentity {
  readonly kind: 'frontend';
  readonly sessionId: string;
  readonly origin: string;
  readonly expiresAt: Date;
}

/** The workload of an installation, through its Gateway, by core service credential. */
export interface InstallationCaller extends InstallationIdentity {
  readonly kind: 'installation';
  readonly epoch: number;
  /** X25519, for which secrets are sealed; `null` when the node of this start gave none. */
  readonly envelopeKey: Buffer | null;
  /** Of the node that this start is on; `null` for one from before nodes had keys. */
  readonly nodeKey: Buffer | null;
}

/** The Runtime of a node. */
export interface NodeCaller {
  readonly kind: 'node';
  readonly nodeId: string;
  /** `null` for a node from before nodes had keys. */
  readonly publicKey: Buffer | null;
  /** SHA-256 of the credential that it presented. */
  readonly credentialHash: Buffer;
  readonly expiresAt: Date;
}

/** An Ingress. */
export interface IngressCaller {
  readonly kind: 'ingress';
  readonly ingressId: string;
  readonly publicKey: Buffer;
  readonly expiresAt: Date;
}

/** The command line of an author: publishes and tries out apps of the account, and reads their logs. */
export interface AuthorCaller {
  readonly kind: 'author';
  readonly tokenId: string;
  readonly accountKey: string;
  readonly accountName: string;
  /** As it named itself. */
  readonly machine: string;
  readonly expiresAt: Date;
}

export type Caller =
  | AnonymousCaller
  | SessionCaller
  | FrontendCaller
  | InstallationCaller
  | NodeCaller
  | IngressCaller
  | AuthorCaller;

type KindsOf<Id extends RouteId> = (typeof routes)[Id]['callers'][number] & CallerKind;
/** The callers a route can see: whatever its table entry names, nothing else. */
export type CallerOf<Id extends RouteId> = Extract<Caller, { kind: KindsOf<Id> }>;
