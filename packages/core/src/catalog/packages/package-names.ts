// Which names a package may hold: those that mean the same file on every disk, to every reader, and to a person.
import { limits, sizeText } from '@platform/contract';
import { packageFault, quoted } from './package-fault.ts';

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const SEGMENT_BYTES = 255;

/** Device names of Windows, alone or before an extension (superscript digits count as digits there). */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])\s*(\.|$)/i;
/** Control and invisible characters, direction overrides, line separators. Joiners stay: scripts and emoji need them. */
const DECEPTIVE = /[\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]|(?![\u200C\u200D])\p{Cf}/u;
/** Separators, drive letters and streams, wildcards and redirections of one system or another. */
const SPECIAL = /[\\:*?"<>|]/;

/**
 * Checks the name of an entry, its leading `./` taken off, and returns it: plain segments below the root, joined by single slashes.
 *
 * @throws RefusalError saying which rule the name breaks
 */
export function checkPackageName(bytes: Buffer): string {
  const refused = (why: string) => packageFault(`The name ${quoted(bytes)} in the archive ${why}.`);
  if (bytes.length > limits.packagePathLength.value)
    throw refused(`is longer than ${sizeText(limits.packagePathLength.value)}`);
  const name = decode(bytes);
  if (name === null) throw refused('is not valid UTF-8');
  if (name === '' || DECEPTIVE.test(name)) throw refused('is empty or holds control or invisible characters');
  // A name is also judged by what it looks like: full-width dots and slashes are dots and slashes to a person.
  const look = name.normalize('NFKC');
  if (!isPlainPath(name) || !isPlainPath(look) || separators(look) !== separators(name))
    throw refused('is not a plain relative path (no "." or ".." inside, no empty part)');
  if (SPECIAL.test(name)) throw refused('holds a character that is special on some systems');
  if (name.startsWith('~')) throw refused('starts with "~"');
  const segments = name.split('/');
  if (segments.some((segment) => /[. ]$/.test(segment))) throw refused('has a part that ends with a dot or space');
  if (segments.some((segment) => RESERVED.test(segment))) throw refused('is a device name on some systems');
  if (segments.some((segment) => Buffer.byteLength(segment) > SEGMENT_BYTES))
    throw refused(`has a part longer than ${sizeText(SEGMENT_BYTES)}`);
  return name;
}

function isPlainPath(name: string): boolean {
  return name.split(/[/\\]/).every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

function separators(name: string): number {
  return name.split(/[/\\]/).length;
}

function decode(bytes: Buffer): string | null {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/** Equal for names that some disk takes for the same: canonical forms composed, letters folded fully (`ß` is `SS`). */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}

interface Known {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** A folder that has an entry of its own, and not only files below it. */
  readonly listed: boolean;
}

/** The names seen so far in one archive; finds two that would fall on the same file, and counts them all. */
export class PackageNames {
  readonly #known = new Map<string, Known>();

  /** @throws RefusalError when the name was there before, in any spelling, or a folder of it is a file */
  add(name: string, kind: 'file' | 'folder'): void {
    let folded = '';
    let exact = '';
    const segments = name.split('/');
    segments.forEach((segment, index) => {
      folded += `/${foldName(segment)}`;
      exact = index === 0 ? segment : `${exact}/${segment}`;
      const last = index === segments.length - 1;
      this.#put(folded, { name: exact, kind: last ? kind : 'folder', listed: last });
    });
  }

  hasFile(name: string): boolean {
    const known = this.#known.get(`/${name.split('/').map(foldName).join('/')}`);
    return known?.kind === 'file' && known.name === name;
  }

  #put(folded: string, entry: Known): void {
    const before = this.#known.get(folded);
    if (before === undefined) {
      if (this.#known.size >= limits.packageEntries.value)
        throw packageFault(`The archive contains more than ${limits.packageEntries.value} files and folders.`);
    } else {
      const sameFolder = before.kind === 'folder' && entry.kind === 'folder' && before.name === entry.name;
      if (!sameFolder || (before.listed && entry.listed))
        throw packageFault(
          `The archive contains ${quoted(before.name)} and ${quoted(entry.name)}, which are one file.`,
        );
      if (!entry.listed) return;
    }
    this.#known.set(folded, entry);
  }
}
