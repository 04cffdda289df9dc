// What a query demands of an entry, in a form that every engine can say in its own language.

/** A word that stands in the entry; with `prefix`, or a longer one that begins with it. */
export interface WordCondition {
  readonly kind: 'word';
  readonly text: string;
  readonly prefix: boolean;
  /** For a word that may be typed with a slip, or be a part of another: whether it is the last. `null` for others. */
  readonly comparable: { readonly last: boolean } | null;
}

export type Condition =
  | WordCondition
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'ordered'; readonly of: readonly PlacedWord[] };

/** A word, and at how many words after the one before it. */
export interface PlacedWord {
  readonly text: string;
  readonly prefix: boolean;
  readonly distance: number;
}

export function allOf(of: readonly Condition[]): Condition {
  return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'all', of };
}

export function anyOf(of: readonly Condition[]): Condition {
  return of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'any', of };
}

/** A whole word, or the beginning of one, that must be right. */
export function exactly(text: string, prefix: boolean): WordCondition {
  return { kind: 'word', text, prefix, comparable: null };
}

/**
 * The part of a condition that an index without word positions cannot check: which words must follow each other. `null`
 * when there is none, or when one of several ways to meet the condition has none.
 */
export function orderIn(condition: Condition): Condition | null {
  if (condition.kind === 'ordered') return condition.of.length > 1 ? condition : null;
  if (condition.kind === 'word') return null;
  const of = condition.of.map(orderIn).filter((part) => part !== null);
  if (condition.kind === 'any') return of.length === condition.of.length ? anyOf(of) : null;
  return of.length === 0 ? null : allOf(of);
}
