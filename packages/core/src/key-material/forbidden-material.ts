// Refuses what must never leave the user's device: PRF results, private keys, recovery phrases, seeds, plaintext
// bundles (specification 5.1.3), at any depth of an authentication body and however it is wrapped.
import { decodedLayers, type ForbiddenKind, forbiddenText } from './forbidden-content.ts';
import { forbiddenName, holdsPrivateJwk, LONGEST_NAME } from './forbidden-names.ts';
import { type JsonMember, type JsonNode, readJson } from './json-members.ts';
import { ScanBudget, TooMuchToScan } from './scan-budget.ts';

export interface ForbiddenMaterial {
  /** Where it stands, made of names that the platform knows; other names show as `*`, for a name can be a secret. */
  readonly path: string;
  /** What it is, in words for a person. */
  readonly kind: ForbiddenKind;
}

/** How many wrappings are opened: JSON in a string is one, an encoding (base64, hexadecimal, percent) another. */
const WRAPPINGS = 12;

/**
 * The first piece of secret material in the raw text of a body, or `null`. Never holds or throws the value.
 *
 * The text is read instead of a parsed value because parsing keeps only the last of repeated names. Text that is not
 * JSON is read as a form or query string. The work is linear in the length of the body: what wrappings and Unicode
 * normalization make of it counts too, and a body that makes too much of itself is refused.
 */
export function findForbiddenMaterial(rawBody: string): ForbiddenMaterial | null {
  try {
    const found = new Search(new ScanBudget(rawBody.length)).node(readJson(rawBody) ?? formOf(rawBody), WRAPPINGS);
    return found === null ? null : { path: found.path.join('.'), kind: found.kind };
  } catch (error) {
    if (error instanceof TooMuchToScan) return { path: '', kind: 'more text than can be searched' };
    throw error;
  }
}

interface Found {
  readonly path: readonly string[];
  readonly kind: ForbiddenKind;
}

function formOf(text: string): JsonNode {
  const members: JsonMember[] = [{ name: '', value: { kind: 'string', value: text } }];
  for (const [name, value] of new URLSearchParams(text)) members.push({ name, value: { kind: 'string', value } });
  return { kind: 'object', members };
}

class Search {
  readonly #budget: ScanBudget;

  constructor(budget: ScanBudget) {
    this.#budget = budget;
  }

  node(node: JsonNode, wrappings: number): Found | null {
    if (node.kind === 'string') return this.#text(node.value, wrappings);
    if (node.kind === 'array') return this.#array(node.items, wrappings);
    if (node.kind === 'object') return this.#object(node.members, wrappings);
    return null;
  }

  #array(items: readonly JsonNode[], wrappings: number): Found | null {
    for (const item of items) {
      const found = this.node(item, wrappings);
      if (found !== null) return { ...found, path: ['*', ...found.path] };
    }
    return this.#spread(items);
  }

  #object(members: readonly JsonMember[], wrappings: number): Found | null {
    if (members.some(({ name }) => name.length > LONGEST_NAME)) throw new TooMuchToScan('a name is too long');
    if (holdsPrivateJwk(members)) return { path: [], kind: 'private key' };
    for (const { name, value } of members) {
      const byName = forbiddenName(name, value);
      if (byName !== null) return { path: [byName.known], kind: byName.kind };
      const byText = forbiddenText(name, this.#budget);
      if (byText !== null) return { path: ['*'], kind: byText };
      const found = this.node(value, wrappings);
      if (found !== null) return { ...found, path: [visible(name), ...found.path] };
    }
    return this.#spread(members.map(({ value }) => value));
  }

  /** A phrase may come as one word in each element. */
  #spread(nodes: readonly JsonNode[]): Found | null {
    const words = nodes.map((node) => (node.kind === 'string' ? node.value : '0'));
    const kind = words.length < 2 ? null : forbiddenText(words.join(' '), this.#budget);
    return kind === null ? null : { path: [], kind };
  }

  #text(text: string, wrappings: number): Found | null {
    const kind = forbiddenText(text, this.#budget);
    if (kind !== null) return { path: [], kind };
    if (wrappings === 0) return null;
    const inner = /^\s*[[{"]/.test(text) ? readJson(text) : null;
    if (inner !== null) return this.node(inner, wrappings - 1);
    for (const layer of decodedLayers(text)) {
      if (typeof layer !== 'string') return { path: [], kind: layer.kind };
      const found = this.#text(layer, wrappings - 1);
      if (found !== null) return found;
    }
    return null;
  }
}

const VISIBLE = new Set(
  (
    'authenticatorAttachment attestationObject authenticatorData challengeId clientDataJSON clientExtensionResults ' +
    'credential credProps extensions id label name prf publicKey publicKeyAlgorithm rawId response signature token ' +
    'transports type userHandle'
  ).split(' '),
);

function visible(name: string): string {
  return VISIBLE.has(name) ? name : '*';
}
