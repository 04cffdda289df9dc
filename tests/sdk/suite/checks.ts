// Checks for cases that run in every runtime: nothing here may come from Node or a test runner.

/** Deep equality of plain data; a missing member equals `undefined`. */
export function equal(actual: unknown, expected: unknown): void {
  const [one, other] = [plain(actual), plain(expected)];
  if (one !== other) throw new Error(`${one} is not ${other}`);
}

export interface Failure {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly errors: readonly { readonly path: string }[];
  readonly cause: unknown;
}

/** What the work rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure === undefined) throw new Error('the call succeeded');
  return failure as Failure;
}

export async function fails(work: Promise<unknown>, expected: Partial<Failure>): Promise<void> {
  const failure = await failureOf(work);
  equal(Object.fromEntries(Object.keys(expected).map((name) => [name, failure[name as keyof Failure]])), expected);
}

export interface Deferred {
  readonly reached: Promise<void>;
  reach(): void;
}

/** A point that one part of a case reaches and another waits for. */
export function point(): Deferred {
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach: () => reach() };
}

function plain(value: unknown): string {
  return JSON.stringify(sorted(value), (_name, one) => (one === undefined ? null : one)) ?? 'undefined';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
}
