// How often a browser draws an image of pixels: once, whatever its size says, unless it is animated or comes in many passes. A few
// bytes are a frame or a pass over all pixels, so 256 KiB can keep every page that shows it busy for minutes, or for ever.
import { imageType } from './image-type.ts';

/** Encoders write about ten; among other bytes, such as a colour profile, the mark of one appears by chance. */
const MOST_PASSES = 40;

/**
 * @param bytes the whole file
 * @returns why it takes more than drawing it once, to be read after "icon"; `null` for what is drawn once
 */
export function faultOfParts(bytes: Buffer): string | null {
  const type = imageType(bytes);
  const isAnimated = (type === 'image/png' && isAnimatedPng(bytes)) || (type === 'image/webp' && isAnimatedWebp(bytes));
  if (isAnimated) return 'is animated. Save one picture of it';
  return type === 'image/jpeg' && passesOf(bytes) > MOST_PASSES
    ? `is a JPEG of more than ${MOST_PASSES} scans. Save it as a plain JPEG or as PNG`
    : null;
}

/** Chunks: length, type, data, checksum. */
function isAnimatedPng(bytes: Buffer): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (['acTL', 'fcTL', 'fdAT'].includes(bytes.toString('latin1', at + 4, at + 8))) return true;
  return false;
}

/** Chunks: type, length, data, filled up to an even length. */
function isAnimatedWebp(bytes: Buffer): boolean {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const chunk = bytes.toString('latin1', at, at + 4);
    if (chunk === 'ANIM' || chunk === 'ANMF') return true;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return false;
}

/** Start-of-scan markers. Within the data of a scan no marker appears by chance. */
function passesOf(bytes: Buffer): number {
  const mark = Buffer.from([0xff, 0xda]);
  let count = 0;
  for (let at = bytes.indexOf(mark); at !== -1 && count <= MOST_PASSES; at = bytes.indexOf(mark, at + 2)) count += 1;
  return count;
}
