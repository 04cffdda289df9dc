// Which member names announce secret material, however they are spelled: private-key, PRIVATE_KEY, privateKey.
import type { ForbiddenKind } from './forbidden-content.ts';
import type { JsonMember, JsonNode } from './json-members.ts';

/** Anywhere inside a name: nothing innocent contains these. */
const PARTS: readonly (readonly [ForbiddenKind, string])[] = [
  ['PRF result', 'prfresult prfoutput prffirst prfsecond prfsecret prfvalue'],
  [
    'private key',
    'privatekey privkey secretkey signingkey decryptionkey vaultkey masterkey walletkey recoverykey recoverycode ' +
      'keyencryptionkey',
  ],
  ['recovery phrase', 'mnemonic recoveryphrase backupphrase seedphrase secretphrase'],
  ['seed', 'passphrase password seedhex seedbytes masterseed walletseed totpsecret otpsecret'],
  ['plaintext bundle', 'plaintext decryptedbundle unsealedbundle'],
];

/** Only as the whole name: inside others they are parts of ordinary words (opinion, mask, seedling). */
const WHOLE: readonly (readonly [ForbiddenKind, string])[] = [
  ['PRF result', 'hmacgetsecret hmacsecret'],
  ['private key', 'sk kek dek wif xprv secret secrets'],
  ['seed', 'seed entropy pin pincode passcode totp'],
];

function table(entries: readonly (readonly [ForbiddenKind, string])[]): ReadonlyMap<string, ForbiddenKind> {
  return new Map(entries.flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)));
}

const PART_KINDS = table(PARTS);
const WHOLE_KINDS = table(WHOLE);
const BUNDLES = new Set(['bundle', 'accountbundle', 'keybundle', 'secretbundle', 'vault']);
/** A member of these names says that an object is sealed. */
const SEALED = new Set(['ciphertext', 'ct', 'sealed', 'encrypted', 'encapsulated']);
const PRF_RESULTS = new Set(['results', 'result', 'first', 'second', 'output', 'outputs', 'value']);
/** RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1; RFC 8037, section 2. */
const PRIVATE_JWK_MEMBERS = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']);

/** No honest name is longer, in UTF-16 units; of one that is, the rest is not looked at. */
export const LONGEST_NAME = 1_024;

/** Letters and digits only, lower case, invisible characters gone. */
function foldName(name: string): string {
  return name
    .slice(0, LONGEST_NAME)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Whether there is anything in it: a flag (`true`, `null`, `{}`, `""`) says only that something exists. */
function carriesValue(node: JsonNode): boolean {
  if (node.kind === 'string') return node.value.trim() !== '';
  if (node.kind === 'array') return node.items.length > 0;
  if (node.kind === 'object') return node.members.length > 0;
  return node.kind === 'number';
}

export interface ForbiddenName {
  readonly kind: ForbiddenKind;
  /** The part of the name that the platform knows: the rest of a name can be a secret itself. */
  readonly known: string;
}

/** What the member holds judged by its name, or `null`. */
export function forbiddenName(name: string, value: JsonNode): ForbiddenName | null {
  if (!carriesValue(value)) return null;
  const known = foldName(name);
  if (known === 'prf') return holdsPrfResult(value) ? { kind: 'PRF result', known } : null;
  if (known === 'results') return holdsPrfPair(value) ? { kind: 'PRF result', known } : null;
  if (BUNDLES.has(known)) return isPlainBundle(value) ? { kind: 'plaintext bundle', known } : null;
  const whole = WHOLE_KINDS.get(known);
  if (whole !== undefined) return { kind: whole, known };
  for (const [part, kind] of PART_KINDS) {
    if (known.includes(part)) return { kind, known: part };
  }
  return null;
}

/** `enabled` and the inputs (`eval`) are no secrets; anything else that stands where results stand is one. */
function holdsPrfResult(prf: JsonNode): boolean {
  if (prf.kind !== 'object') return true;
  return prf.members.some(({ name, value }) => PRF_RESULTS.has(foldName(name)) && carriesValue(value));
}

/** Results that lost their `prf` on the way: `first` or `second` with the 32 bytes of an HMAC-SHA-256. */
function holdsPrfPair(results: JsonNode): boolean {
  return (
    results.kind === 'object' &&
    results.members.some(({ name, value }) => ['first', 'second'].includes(foldName(name)) && is32Bytes(value))
  );
}

function is32Bytes(node: JsonNode): boolean {
  if (node.kind === 'string') return /^(?:[A-Za-z0-9+/_-]{43}=?|[0-9a-fA-F]{64})$/.test(node.value);
  return node.kind === 'array' && node.items.length === 32 && node.items.every(({ kind }) => kind === 'number');
}

function isPlainBundle(value: JsonNode): boolean {
  if (value.kind === 'array') return true;
  return value.kind === 'object' && !value.members.some(({ name }) => SEALED.has(foldName(name)));
}

/** A JSON Web Key that is more than public (RFC 7517). */
export function holdsPrivateJwk(members: readonly JsonMember[]): boolean {
  return (
    members.some(({ name }) => foldName(name) === 'kty') &&
    members.some(({ name, value }) => PRIVATE_JWK_MEMBERS.has(foldName(name)) && carriesValue(value))
  );
}
