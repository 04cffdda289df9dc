// Reads JSON without losing what JSON.parse drops: every member of an object in order, also repeated names and
// __proto__. Two readers that disagree about a repeated name are how a checked value and a used value differ.

export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number' | 'boolean' | 'null' };

export interface JsonMember {
  readonly name: string;
  readonly value: JsonNode;
}

/** Deeper than any document that the platform takes, and shallow enough for the stack. */
const DEEPEST = 64;

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const WORDS = { true: 'boolean', false: 'boolean', null: 'null' } as const;

/** The document as a tree, or `null` when the text is not JSON (RFC 8259) or deeper than 64 levels. */
export function readJson(text: string): JsonNode | null {
  let at = 0;

  function match(pattern: RegExp): string | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  }

  function take(character: string): boolean {
    match(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  }

  function value(depth: number): JsonNode | null {
    match(SPACE);
    const first = text[at];
    if (first === '{') return depth < DEEPEST ? object(depth) : null;
    if (first === '[') return depth < DEEPEST ? array(depth) : null;
    if (first === '"') {
      const string = match(STRING);
      return string === null ? null : { kind: 'string', value: JSON.parse(string) };
    }
    for (const [word, kind] of Object.entries(WORDS)) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return { kind };
      }
    }
    return match(NUMBER) === null ? null : { kind: 'number' };
  }

  function object(depth: number): JsonNode | null {
    const members: JsonMember[] = [];
    at += 1;
    if (take('}')) return { kind: 'object', members };
    do {
      match(SPACE);
      const name = match(STRING);
      if (name === null || !take(':')) return null;
      const member = value(depth + 1);
      if (member === null) return null;
      members.push({ name: JSON.parse(name), value: member });
    } while (take(','));
    return take('}') ? { kind: 'object', members } : null;
  }

  function array(depth: number): JsonNode | null {
    const items: JsonNode[] = [];
    at += 1;
    if (take(']')) return { kind: 'array', items };
    do {
      const item = value(depth + 1);
      if (item === null) return null;
      items.push(item);
    } while (take(','));
    return take(']') ? { kind: 'array', items } : null;
  }

  const root = value(0);
  match(SPACE);
  return root !== null && at === text.length ? root : null;
}

/** Whether an object anywhere in the tree names a member twice. */
export function hasRepeatedNames(node: JsonNode): boolean {
  if (node.kind === 'array') return node.items.some(hasRepeatedNames);
  if (node.kind !== 'object') return false;
  return (
    new Set(node.members.map(({ name }) => name)).size < node.members.length ||
    node.members.some(({ value }) => hasRepeatedNames(value))
  );
}
