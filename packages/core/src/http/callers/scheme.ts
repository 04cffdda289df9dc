// A credential scheme: how callers of one kind prove who they are, and all that core does because of their kind. Each is
// a file of the domain that keeps the credentials, and that domain's line in `callers` of its domain.ts.
import type { IncomingMessage } from 'node:http';
import type { CallerKind, CredentialKind, RefusalError, RouteSpec } from '@platform/contract';
import type { SignalMap, SignalName } from '../../database/signals.ts';
import type { Caller, CallerKinds } from '../caller.ts';

/** Every kind that presents a credential. */
export type PresentedKind = Exclude<CallerKind & keyof CallerKinds, 'anonymous'>;

export interface CallerScheme<Kind extends PresentedKind> {
  readonly kind: Kind;
  readonly presented: Bearer<Kind> | InRequest<Kind>;
  /** Whose rates, bodies and live streams its own count among: the id of an account, an installation, a node or an Ingress. */
  subject(caller: CallerKinds[Kind]): string;
  /**
   * Where its requests come from: the shell's own origin, exactly the origin returned for it, programs, whose credential never is
   * in a browser, or whichever it says yes to; `undefined` is no page.
   */
  readonly from:
    | 'shell'
    | 'programs'
    | { origin(caller: CallerKinds[Kind]): string }
    | { allows(caller: CallerKinds[Kind], origin: string | undefined): boolean };
  /** Default: links do not serve it. */
  readonly link?: {
    /** The only key of a connection over which it may come; `null` for none. */
    keyOf(caller: CallerKinds[Kind]): Buffer | null;
    /** The refusal of one over a connection under another key. */
    readonly otherKey: string;
  };
  /** Why it may not call this route at present, whatever it was granted. Default: nothing keeps it. */
  refusal?(caller: CallerKinds[Kind], spec: RouteSpec): RefusalError | null;
  /** What it changed is answered only once the caches of this replica have forgotten what was before. Default: at once. */
  readonly settles?: true;
  /** Signals that change who it is or what it may do. Caches forget it; those that end it also end its streams and waits. */
  readonly changes: readonly CallerChange<Kind>[];
}

/** By `Authorization: Bearer` with the prefix of this kind of credential. */
export interface Bearer<Kind extends PresentedKind> {
  readonly bearer: CredentialKind;
  /** @param tokenHash SHA-256 of the credential */
  find(tokenHash: Buffer): Promise<CallerKinds[Kind] | null>;
  /** The refusal of one whose `expiresAt` is over. */
  readonly expired?: string;
}

/** By something else in the request, for one without `Authorization`. */
export interface InRequest<Kind extends PresentedKind> {
  /**
   * Returns `null` for a request without such a credential.
   *
   * @throws RefusalError for one that is unknown, ended or ambiguous
   */
  read(request: IncomingMessage, look: LookUp): Promise<CallerKinds[Kind] | null>;
}

/** Looks up what a client presents, and counts what is unknown against the client's network. */
export interface LookUp {
  /** The caller of a credential, known from before or found; `null` also for one of another kind. */
  caller<Kind extends PresentedKind>(
    kind: Kind,
    tokenHash: Buffer,
    find: () => Promise<CallerKinds[Kind] | 'expired' | null>,
  ): Promise<CallerKinds[Kind] | 'expired' | null>;
  /** Anything else that a stranger could guess. */
  counted<Found>(find: () => Promise<Found | null>): Promise<Found | null>;
}

/** A signal that concerns callers whose member `about` is that of its data, and that `matches` says yes to. */
export type CallerChange<Kind extends PresentedKind> = {
  readonly [Name in SignalName]: {
    readonly signal: Name;
    readonly about: keyof SignalMap[Name] & keyof CallerKinds[Kind] & string;
    /** Default: all of them. */
    matches?(caller: CallerKinds[Kind], data: SignalMap[Name]): boolean;
    /** Whether its streams and waits end; it may come back with what it has then. */
    readonly ends: boolean;
  };
}[SignalName];

export type CallerSchemes<Kind extends PresentedKind> = { readonly [One in Kind]: CallerScheme<One> };

/** A scheme whose kind is known at run time alone. */
export interface AnyScheme extends Omit<CallerScheme<PresentedKind>, 'changes'> {
  readonly changes: readonly AnyChange[];
}

export interface AnyChange {
  readonly signal: SignalName;
  readonly about: string;
  matches?(caller: Caller, data: object): boolean;
  readonly ends: boolean;
}
