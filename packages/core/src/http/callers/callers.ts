// The credential schemes of all domains, by the kind of their callers.
import type { RefusalError, RouteSpec } from '@platform/contract';
import type { Signals } from '../../database/signals.ts';
import type { Caller } from '../caller.ts';
import type { AnyChange, AnyScheme } from './scheme.ts';

export class Callers {
  readonly #signals: Pick<Signals, 'onAbout'>;
  #schemes: ReadonlyMap<string, AnyScheme> = new Map();

  constructor(signals: Pick<Signals, 'onAbout'>) {
    this.#signals = signals;
  }

  /** Called once, when the domains are there. */
  follow(schemes: readonly AnyScheme[]): void {
    this.#schemes = new Map(schemes.map((scheme) => [scheme.kind, scheme]));
  }

  get schemes(): readonly AnyScheme[] {
    return [...this.#schemes.values()];
  }

  /** `undefined` for an anonymous caller. @throws Error for a kind without a scheme, which nothing would hold for */
  schemeOf(caller: Caller): AnyScheme | undefined {
    const scheme = this.#schemes.get(caller.kind);
    if (scheme === undefined && caller.kind !== 'anonymous') throw new Error(`no scheme for ${caller.kind} callers`);
    return scheme;
  }

  /** What its rates, bodies and streams are counted by; `null` for an anonymous caller. */
  subjectOf(caller: Caller): string | null {
    return caller.kind === 'anonymous' ? null : (this.schemeOf(caller)?.subject(caller) ?? null);
  }

  /** Why it may not call this route at present, whatever it was granted; `null` when nothing keeps it. */
  refusalOf(caller: Caller, spec: RouteSpec): RefusalError | null {
    return caller.kind === 'anonymous' ? null : (this.schemeOf(caller)?.refusal?.(caller, spec) ?? null);
  }

  /**
   * Calls `end` when a signal ends the credential, or changes what it may do so that what began with it must end.
   *
   * @returns stops listening
   */
  onEnd(caller: Caller, end: () => void): () => void {
    const ending = (this.schemeOf(caller)?.changes ?? []).filter(({ ends }) => ends);
    const offs = ending.map((change) =>
      this.#signals.onAbout(change.signal, change.about, subjectOf(change, caller), (data) => {
        if (change.matches?.(caller, data) !== false) end();
      }),
    );
    return () => {
      for (const off of offs) off();
    };
  }
}

/** The value that a signal of this change has in its data when it is about this caller. */
export function subjectOf({ about }: AnyChange, caller: Caller): string {
  return String((caller as unknown as Readonly<Record<string, unknown>>)[about]);
}
