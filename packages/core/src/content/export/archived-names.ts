// What a file is called in an archive: its own name, as far as every disk takes it. The list beside the files has the names as they are.

/** What a name on Windows has none of, and what some tools act on; with it the sign that stands for them. */
const REFUSED = /[<>:"|?*/\\%\p{Cc}\p{Cf}\p{Cs}]/gu;
/** Windows opens a device under these names, whatever ending they have. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/** Most disks take 255 bytes; a number may be added. */
const MOST_BYTES = 200;
const MOST_ENDING = 20;

/** Names of the files of one folder. On many disks two names are one that differ only in case, or in how an accent is written. */
export class ArchivedNames {
  readonly #taken = new Set<string>();

  /** @returns a name that no other file of the folder has */
  take(name: string): string {
    const safe = harmless(name);
    const { stem, ending } = split(safe);
    for (let number = 1; ; number += 1) {
      const suffix = number === 1 ? ending : ` (${number})${ending}`;
      const candidate = `${shortened(stem, MOST_BYTES - Buffer.byteLength(suffix))}${suffix}`;
      const key = candidate.normalize('NFC').toLowerCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return candidate;
    }
  }
}

function harmless(name: string): string {
  const spelt = name
    .replace(REFUSED, percent)
    .replace(/^[.\s]+|[.\s]+$/gu, (ends) => [...ends].map(percent).join(''))
    .replace(DEVICE, (device) => `${percent(device.slice(0, 1))}${device.slice(1)}`);
  return spelt === '' ? 'file' : spelt;
}

/** `%XX` for each byte, as names in volumes are written. */
function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function split(name: string): { readonly stem: string; readonly ending: string } {
  const dot = name.lastIndexOf('.');
  const isEnding = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MOST_ENDING;
  return isEnding ? { stem: name.slice(0, dot), ending: name.slice(dot) } : { stem: name, ending: '' };
}

/** Whole characters, and no part of `%XX`. */
function shortened(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  let size = 0;
  for (const [piece] of text.matchAll(/%[0-9A-F]{2}|[\s\S]/gu)) {
    size += Buffer.byteLength(piece);
    if (size > bytes) break;
    kept += piece;
  }
  return kept.trimEnd();
}
