// What the bridge's table says of one method: who may call it, about what, and what it does. call-method.ts applies it,
// in one order for every method; no method checks grants, the front or the calling app itself.
import type { BridgeCall, BridgeCalls, PermissionId, PickedContact, PickedFile } from '@platform/contract';
import type { Readers } from './params.ts';
import type { BridgeCaller, ShellSide } from './shell-side.ts';

/** Parameters of a method as its `run` gets them; an empty object for a method that takes none. */
export type Params<Name extends BridgeCall> = BridgeCalls[Name]['params'] extends undefined
  ? Readonly<Record<never, never>>
  : BridgeCalls[Name]['params'];

/** A call that passed every check of its method. */
export interface Call<Name extends BridgeCall> {
  readonly shell: ShellSide;
  readonly caller: BridgeCaller;
  readonly params: Params<Name>;
  /** Resources of the method's grant, as core held them when the call came; empty for a method without a grant. */
  readonly resources: readonly string[];
}

/** Answers that say more than yes or no; `null` declines. */
interface Choices {
  'contacts.pick': PickedContact | null;
  'files.pick': PickedFile | null;
  'files.save': string | null;
}

/** What a person answers to the question of a method. */
export type Answer<Name extends BridgeCall> = Name extends keyof Choices ? Choices[Name] : boolean;

type Result<Name extends BridgeCall> = Promise<BridgeCalls[Name]['result']> | BridgeCalls[Name]['result'];

/** A value, or how it follows from the parameters of the call; `undefined` demands nothing. */
type ByParams<Name extends BridgeCall, Value> = Value | ((params: Params<Name>) => Value | undefined);

/** `home`: the app that is the home screen. A list: ids of the platform's own apps, each only while core ships it. */
export type Only = 'home' | readonly string[];

interface Granted<Name extends BridgeCall> {
  /** The permission that the app must hold; core is asked for it with every call. Absent: every app may call. */
  readonly grant: ByParams<Name, PermissionId>;
  /**
   * The resource that the grant must cover: `self` and `*` are taken literally, a function names it for this call.
   * `any`, and a function that returns `undefined`: whatever resource, and `run` filters by `resources`.
   */
  readonly target: 'self' | '*' | 'any' | ((params: Params<Name>, caller: BridgeCaller) => string | undefined);
}

interface Ungranted {
  readonly grant?: undefined;
  readonly target?: undefined;
}

interface Answered<Name extends BridgeCall> {
  /** Reads each parameter; any other member is refused with `invalid_request`. */
  readonly params: Readers<Params<Name>>;
  /** Refuses every other app with `not_authorized`, whatever it was granted. */
  readonly only?: ByParams<Name, Only>;
  /** Whether the person must be looking at the calling app: for what moves their view or puts a question before them. */
  readonly front?: ByParams<Name, boolean>;
  /** Names an app of the account; one that is not installed is `not_found`. */
  readonly installed?: (params: Params<Name>) => string | undefined;
}

interface Asking<Name extends BridgeCall> {
  /**
   * Puts a trusted prompt before the person and gives their answer. One question at a time, and an app whose questions were
   * declined several times has to wait (ask-limit.ts). `run` follows whatever the answer is.
   */
  readonly asks: (call: Call<Name>) => Promise<Answer<Name>>;
  readonly run: (call: Call<Name>, answer: Answer<Name>) => Result<Name>;
}

interface Unasked<Name extends BridgeCall> {
  readonly asks?: undefined;
  readonly run: (call: Call<Name>) => Result<Name>;
}

export type Method<Name extends BridgeCall> = Answered<Name> &
  (Granted<Name> | Ungranted) &
  (Asking<Name> | Unasked<Name>);

/** The methods of one domain, e.g. `MethodsOf<'apps'>` for every `apps.…`. */
export type MethodsOf<Domain extends string> = {
  readonly [Name in Extract<BridgeCall, `${Domain}.${string}`>]: Method<Name>;
};
