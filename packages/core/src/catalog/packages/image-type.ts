// The media type of a picture by its first bytes; the type that the package declares is ignored.

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/svg+xml';

/** Bytes to look at: an SVG may begin with a declaration and comments. */
export const IMAGE_HEAD_BYTES = 4_096;

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
/** @returns the media type, or `null` when the bytes begin none of the images a package may show */
export function imageType(head: Buffer): ImageType | null {
  if (head.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (head.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  return isSvg(head.subarray(0, IMAGE_HEAD_BYTES).toString('utf8')) ? 'image/svg+xml' : null;
}

/** Declaration, comments and a plain doctype may precede the root element, each once skipped for good. */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\uFEFF/, '').trimStart();
  for (;;) {
    const end = rest.startsWith('<!--') ? '-->' : /^<(\?xml\s|!DOCTYPE svg)/.test(rest) ? '>' : null;
    if (end === null) return /^<svg[\s>]/.test(rest);
    const at = rest.indexOf(end);
    if (at === -1) return false;
    rest = rest.slice(at + end.length).trimStart();
  }
}
