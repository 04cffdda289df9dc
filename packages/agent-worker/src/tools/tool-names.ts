// Names of tools as models see them: providers take letters, digits, `_` and `-` alone, and no more than 64 of them.
import { createHash } from 'node:crypto';

const LONGEST = 64;
const HASH_LENGTH = 8;

/** By the name for the model. Names that would be the same, or are too long, end in a hash of the real one. */
export function modelNames<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  taken: readonly string[] = [],
): ReadonlyMap<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const plain = tool.name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    const isFree = plain.length <= LONGEST && !named.has(plain) && !taken.includes(plain);
    named.set(isFree ? plain : withHash(plain, tool.name), tool);
  }
  return named;
}

function withHash(plain: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${plain.slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`;
}
