// Distinguishes a wallet's recovery phrase (BIP-39, in any of its ten languages) from prose.
import { wordlist as czech } from '@scure/bip39/wordlists/czech.js';
import { wordlist as english } from '@scure/bip39/wordlists/english.js';
import { wordlist as french } from '@scure/bip39/wordlists/french.js';
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js';
import { wordlist as japanese } from '@scure/bip39/wordlists/japanese.js';
import { wordlist as korean } from '@scure/bip39/wordlists/korean.js';
import { wordlist as portuguese } from '@scure/bip39/wordlists/portuguese.js';
import { wordlist as simplifiedChinese } from '@scure/bip39/wordlists/simplified-chinese.js';
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js';
import { wordlist as traditionalChinese } from '@scure/bip39/wordlists/traditional-chinese.js';
import { normalizeWithin } from '../normalize.ts';
import type { ScanBudget } from './scan-budget.ts';

const LISTS = [
  czech,
  english,
  french,
  italian,
  japanese,
  korean,
  portuguese,
  simplifiedChinese,
  spanish,
  traditionalChinese,
];

/** The shortest phrase that BIP-39 knows. Its lists leave out articles and pronouns, so prose does not come near. */
const SHORTEST = 12;

/** Upper case, accents left out and full-width letters are no disguise. @param text in NFKD */
function fold(text: string): string {
  return text.replace(/\p{M}/gu, '').toLowerCase();
}

/** For each folded word the lists it is in, as bits. Made at first use: most processes never see an auth body. */
let languagesOf: ReadonlyMap<string, number> | undefined;

function wordIndex(): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  LISTS.forEach((list, language) => {
    for (const word of list.map((one) => fold(one.normalize('NFKD'))))
      words.set(word, (words.get(word) ?? 0) | (1 << language));
  });
  return words;
}

/**
 * Whether the text holds twelve words in a row of one BIP-39 list, whatever stands between them (spaces, commas,
 * numbers, line ends). The checksum is not asked for: a phrase with one wrong word is still a secret.
 *
 * @param budget pays for what normalization adds to the text
 * @throws TooMuchToScan when it does not cover that
 */
export function holdsMnemonic(text: string, budget: ScanBudget): boolean {
  languagesOf ??= wordIndex();
  const plain = normalizeWithin(text, 'NFKD', text.length + budget.left + 1).text;
  budget.spend(Math.max(0, plain.length - text.length));
  const runs = LISTS.map(() => 0);
  for (const [word] of fold(plain).matchAll(/\p{L}+/gu)) {
    const languages = languagesOf.get(word) ?? 0;
    if (languages === 0) {
      runs.fill(0);
      continue;
    }
    for (let language = 0; language < runs.length; language += 1) {
      const run = languages & (1 << language) ? (runs[language] ?? 0) + 1 : 0;
      if (run >= SHORTEST) return true;
      runs[language] = run;
    }
  }
  return false;
}
