// Checks arguments and results against the schemas of tools, within a time: a schema of an app may take exponentially long.
import { createHash } from 'node:crypto';
import vm from 'node:vm';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { RefusalError, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { namesPrototype } from './names-prototype.ts';
import { weightOf } from './schema-weight.ts';

/** Of the processor; a machine that is busy elsewhere gets more time for them, up to the last of the attempts. */
const MILLISECONDS = 200;
const ATTEMPTS = [MILLISECONDS, 10 * MILLISECONDS];
const KEPT = 2_000;
/** So long after a check that took too long, no other schema is tried for the account. */
const PAUSE_MILLISECONDS = 60_000;

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

interface Check {
  readonly of: (value: unknown) => { readonly valid: boolean; readonly errorMessage?: string | undefined };
  /** The most work for each byte of a value; `null` where nothing bounds it. */
  readonly weight: number | null;
}

/** Weight times bytes up to which a check takes far less time than its timer, which takes half a millisecond. */
const SMALL_WORK = 200_000;

const validator = new CfWorkerJsonSchemaValidator({ draft: '2020-12' });
const sandbox = vm.createContext({ run: () => undefined });
const script = new vm.Script('run()');

export class ValueChecks {
  /** By the hash of their schema. */
  readonly #checks = new LRUCache<string, Check>({ max: KEPT });
  /** By account and hash: took too long, and waits. A value of one account stops the schema for nobody else. */
  readonly #slow = new LRUCache<string, true>({ max: KEPT, ttl: PAUSE_MILLISECONDS });
  /** Accounts that wait. */
  readonly #paused = new LRUCache<string, true>({ max: KEPT, ttl: PAUSE_MILLISECONDS });

  /**
   * @param schema one that is usable (served/usable-schema.ts)
   * @param accountKey of the caller
   * @throws RefusalError `rate_limited` while the account waits, `unavailable` when the machine is too busy
   */
  check(schema: object, value: unknown, accountKey: string): Verdict {
    if (namesPrototype(value)) return PROTOTYPE;
    const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
    const known = this.#checks.get(key);
    const own = `${accountKey} ${key}`;
    if (this.#slow.has(own)) return TOO_SLOW;
    if (this.#paused.has(accountKey))
      throw refuse('rate_limited', 'The schema of a tool of this account took too long to check. Wait a minute.', {
        retryAfter: PAUSE_MILLISECONDS / 1_000,
      });
    const work = (): Verdict => {
      const check: Check = known ?? {
        of: validator.getValidator(schema as Parameters<typeof validator.getValidator>[0]),
        weight: weightOf(schema),
      };
      this.#checks.set(key, check);
      const { valid, errorMessage = 'it does not match the schema' } = check.of(value);
      return valid ? { ok: true } : { ok: false, why: errorMessage.slice(0, 500) };
    };
    try {
      const small = typeof known?.weight === 'number' && known.weight * JSON.stringify(value).length <= SMALL_WORK;
      const verdict = small ? work() : withinTime(work);
      if (verdict !== null) return verdict;
    } catch (error) {
      if (error instanceof RefusalError) throw error;
      return { ok: false, why: 'the schema of the tool cannot be used' };
    }
    this.#slow.set(own, true);
    this.#paused.set(accountKey, true);
    return TOO_SLOW;
  }
}

/** The validator takes it for a member that every schema knows. */
const PROTOTYPE: Verdict = { ok: false, why: 'a member is named __proto__' };
const TOO_SLOW: Verdict = { ok: false, why: 'checking it against the schema of the tool takes too long' };

/**
 * The timer of `vm` also interrupts functions of this context that its script calls, and regular expressions.
 *
 * @returns `null` for what takes too long
 */
function withinTime<Result>(work: () => Result): Result | null {
  for (const timeout of ATTEMPTS) {
    const before = process.threadCpuUsage();
    try {
      let result: Result | undefined;
      sandbox.run = () => {
        result = work();
      };
      script.runInContext(sandbox, { timeout });
      return result as Result;
    } catch (error) {
      // Of the other context, so no `instanceof`.
      const { code } = error as { readonly code?: unknown };
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const { user, system } = process.threadCpuUsage(before);
      if ((user + system) / 1_000 >= MILLISECONDS * 0.7) return null;
    }
  }
  throw refuse('unavailable', 'The machine is too busy to check the arguments.', { retryAfter: 1 });
}
