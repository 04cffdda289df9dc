// Width and height of a raster image, read from its header and without decoding it.
import { imageType } from './image-type.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * @param bytes the whole file: a JPEG may have its size behind other segments
 * @returns pixels, or `null` for what is no PNG, JPEG or WebP image, or has no valid header
 */
export function imageSize(bytes: Buffer): ImageSize | null {
  const size = sizeIn(bytes);
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

function sizeIn(bytes: Buffer): ImageSize | null {
  const type = imageType(bytes);
  if (type === 'image/png') return pngSize(bytes);
  if (type === 'image/jpeg') return jpegSize(bytes);
  return type === 'image/webp' ? webpSize(bytes) : null;
}

/** IHDR is always the first chunk. */
function pngSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 33 || bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** In the first start-of-frame segment, which comes before the first scan. */
function jpegSize(bytes: Buffer): ImageSize | null {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    // Fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isStartOfFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // A scan, or a marker without a segment: none belongs here.
    if (marker === 0xda || marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9)) return null;
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return null;
}

/** SOF0 to SOF15, without the three markers among them that mean something else. */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Lossy, lossless or extended: each has its size in another place of its first chunk. */
function webpSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30) return null;
  const chunk = bytes.toString('latin1', 12, 16);
  if (chunk === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (chunk === 'VP8L') {
    if (bytes[20] !== 0x2f) return null;
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (chunk !== 'VP8 ' || bytes.readUIntBE(23, 3) !== 0x9d012a) return null;
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
