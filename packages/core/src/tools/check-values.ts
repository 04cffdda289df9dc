// Checks arguments and results against the schemas of tools, within a time: a schema of an app may take exponentially long.
import { createHash } from 'node:crypto';
import vm from 'node:vm';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { LRUCache } from 'lru-cache';

const MILLISECONDS = 50;
const KEPT = 2_000;

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string; readonly tooSlow?: true };

type Check = (value: unknown) => { readonly valid: boolean; readonly errorMessage?: string | undefined };

const validator = new CfWorkerJsonSchemaValidator({ draft: '2020-12' });
/** By the hash of their schema; `slow` took too long once, and is not tried again. */
const checks = new LRUCache<string, Check | 'slow'>({ max: KEPT });
const sandbox = vm.createContext({ run: () => undefined });
const script = new vm.Script('run()');

/** @param schema one that is usable (served/usable-schema.ts), or of the platform */
export function checkValue(schema: object, value: unknown): Verdict {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  const known = checks.get(key);
  if (known === 'slow') return tooSlow;
  try {
    const { valid, errorMessage = 'it does not match the schema' } = withinTime(() => {
      const check: Check = known ?? validator.getValidator(schema as Parameters<typeof validator.getValidator>[0]);
      checks.set(key, check);
      return check(value);
    });
    return valid ? { ok: true } : { ok: false, why: errorMessage.slice(0, 500) };
  } catch (error) {
    if (!isTimeout(error) && !(error instanceof RangeError)) return { ok: false, why: 'the schema cannot be used' };
    checks.set(key, 'slow');
    return tooSlow;
  }
}

const tooSlow: Verdict = { ok: false, why: 'checking it against the schema of the tool takes too long', tooSlow: true };

/** The timer of `vm` also interrupts functions of this context that its script calls, and regular expressions. */
function withinTime<Result>(work: () => Result): Result {
  let result: Result | undefined;
  sandbox.run = () => {
    result = work();
  };
  script.runInContext(sandbox, { timeout: MILLISECONDS });
  return result as Result;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
