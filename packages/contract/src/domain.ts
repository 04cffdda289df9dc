// What a domain contributes to the tables of the contract: its limits, refusals, routes and metrics. Written in
// `domains/<name>.ts` together with its schemas, and composed in domains.ts.
import type * as z from 'zod';
import type { ConfirmedOperation } from './domains/passkey-credentials.ts';
import type { PermissionId } from './permissions.ts';

export interface Domain {
  readonly limits?: Limits;
  readonly errors?: Errors;
  readonly routes?: Routes;
  readonly metrics?: Metrics;
}

export type Limits = Readonly<Record<string, LimitEntry>>;
export type Errors = Readonly<Record<string, ErrorEntry>>;
export type Routes = Readonly<Record<string, RouteSpec>>;
export type Metrics = Readonly<Record<string, MetricEntry>>;

/** A numeric limit that crosses a border. */
export interface LimitEntry {
  readonly value: number;
  readonly unit:
    | 'bytes'
    | 'days'
    | 'seconds'
    | 'milliseconds'
    | 'characters'
    | 'pixels'
    | 'items'
    | 'per minute'
    | 'percent';
  readonly meaning: string;
}

export { KiB, MiB } from './sizes.ts';

/** A refusal that a caller can meet. */
export interface ErrorEntry {
  readonly status: number;
  /** One short sentence, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** When it happens and what to do, for docs/errors.md. */
  readonly help: string;
}

/** What an operator's Prometheus reads. */
export interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** As Prometheus shows it. */
  readonly meaning: string;
}

/** Who may call: `anonymous` needs no credential; every other kind is made from exactly one credential. */
export type CallerKind =
  | 'anonymous'
  | 'session'
  | 'frontend'
  | 'installation'
  | 'node'
  | 'ingress'
  | 'author'
  | 'connection';

export type RateLimitName =
  | 'authentication'
  | 'passkey'
  | 'join'
  | 'authorRequest'
  | 'authorCode'
  | 'connectionRequest'
  | 'connectionToken'
  | 'clientRegistration'
  | 'session'
  | 'notification'
  | 'searchWrite'
  | 'workflow'
  | 'makeApp'
  | 'messagingSend'
  | 'messagingDirect'
  | 'tool'
  | 'service'
  | 'none';

/** What only apps that come with the platform can be. */
export type SystemRole = 'schedules.manager-ui' | 'files.user-manager';

export interface JsonBody {
  readonly schema: z.ZodType;
  /** Bytes. */
  readonly limit: number;
  /** Key material in the body is refused with `forbidden_material` before its schema is applied. */
  readonly refusesSecrets?: true;
  /** Takes a large body apart while it is read, so that it is never held as a whole. */
  readonly streams?: StreamedMember;
  /** The schema itself replaces NUL and halves of surrogate pairs, which are refused in every other body. */
  readonly cleansText?: true;
  /**
   * Holds values that are given back as they came. Refused is what would not: repeated members and integers beyond 2^53
   * (RFC 7493, sections 2.2 and 2.3), and numbers beyond a double.
   */
  readonly keepsJson?: KeptJson;
}

/** `limit` leaves room for escapes and white space; this is for what they stand for, and looked at before parsing. */
export interface KeptJson {
  /** Bytes of the body as compact JSON. More than any valid body has. */
  readonly most: number;
  /** The error code that refuses a larger one. */
  readonly tooLarge: 'workflow_input_too_large' | 'workflow_result_too_large' | 'payload_too_large';
}

/** Bytes that a body has besides the value that it is about, at most. */
const BESIDES = 8 * 1_024;

/** @param most bytes of the value, as compact JSON */
export function keptJson(most: number, tooLarge: KeptJson['tooLarge']): KeptJson {
  return { most: most + BESIDES, tooLarge };
}

/** The one member of a body, a list of objects, whose items are read one by one. Says what the body's schema says. */
export interface StreamedMember {
  readonly member: string;
  readonly item: z.ZodType;
  readonly fewest: number;
  readonly most: number;
  /** The member of an item that names it; no two items have the same. */
  readonly key: string;
}

/** One entry of the route table. Core enforces exactly this; openapi.json is made from it. */
export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly callers: readonly CallerKind[];
  /**
   * `shell`: the request's Origin must equal the configured origin. `app`: it must be the origin of an app of this
   * platform (the handler compares it with the exact one). Frontend callers are always held to their own origin.
   */
  readonly origin?: 'shell' | 'app';
  /**
   * For `frontend` and `installation` callers. `self` and `*` are taken literally; `{ body }` names a member of the
   * body; `any` asks for the grant with whatever resources, and the domain filters by them. `or` names grants that do as well.
   */
  readonly grant?: {
    readonly id: PermissionId;
    readonly or?: readonly PermissionId[];
    readonly resource: 'self' | '*' | 'any' | { readonly body: string };
  };
  /**
   * For `frontend` and `installation` callers: only the app that comes with the platform and bears this role may call,
   * whatever others were granted.
   */
  readonly systemRole?: SystemRole;
  /** Also answers a caller whose account is paused: what it reports began before. */
  readonly whilePaused?: true;
  /** Also answers the session of an account that is about to be deleted. */
  readonly whileClosing?: true;
  /**
   * Of routes by which a session changes something: what the person confirms with a passkey at the moment of the effect (contract
   * 2, Confirmations), or why a session alone is enough.
   */
  readonly confirms?: ConfirmedOperation | { readonly nothing: string };
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** Of bytes, the handler reads them itself. `anyType`: their sender may say any media type, or none. */
  readonly body?: JsonBody | { readonly mediaType: string; readonly limit: number; readonly anyType?: true };
  /** Success statuses and their bodies; `null` is no body, a string is the media type of a stream. */
  readonly answers: Readonly<Record<number, z.ZodType | null | string>>;
  /** A protocol in whose form it answers besides, whatever the status. */
  readonly answersAs?: string;
  /** Error codes, beside those that follow from the rest of the entry: openapi.json lists all of a route. */
  readonly refuses?: readonly string[];
  readonly rate: RateLimitName;
  /** An app adds to the database by it: waits while its disk has nothing left but the reserve. */
  readonly fillsDatabase?: true;
}

/** The permissions of which a route needs one. */
export function sufficientGrants({ id, or = [] }: NonNullable<RouteSpec['grant']>): readonly PermissionId[] {
  return [id, ...or];
}
