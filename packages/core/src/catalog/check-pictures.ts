// The pictures that a manifest names: images by their content, whatever their names say, and no larger than a browser
// shows without effort.
import { open } from 'node:fs/promises';
import * as path from 'node:path';
import { limits, type Manifest, sizeText } from '@platform/contract';
import { imageSize } from './image-size.ts';
import { IMAGE_HEAD_BYTES, imageType } from './image-type.ts';

export interface PictureFault {
  /** Of the manifest. */
  readonly path: string;
  readonly message: string;
}

/**
 * @param frontend the unpacked folder, which holds every file that the manifest names
 */
export async function checkPictures(
  frontend: string,
  { icon, screenshots = [] }: Pick<Manifest, 'icon' | 'screenshots'>,
): Promise<PictureFault[]> {
  const faults: PictureFault[] = [];
  const add = (at: string, message: string | null) => {
    if (message !== null) faults.push({ path: at, message });
  };
  if (icon !== undefined) add('icon', await faultOfIcon(path.join(frontend, icon)));
  for (const [index, name] of screenshots.entries())
    add(`screenshots[${index}]`, await faultOfScreenshot(path.join(frontend, name)));
  return faults;
}

async function faultOfIcon(file: string): Promise<string | null> {
  const head = await readUpTo(file, IMAGE_HEAD_BYTES);
  return imageType(head) === null ? 'is not a PNG, JPEG, WebP or SVG image' : null;
}

async function faultOfScreenshot(file: string): Promise<string | null> {
  const { screenshotSize, screenshotEdge } = limits;
  const bytes = await readUpTo(file, screenshotSize.value + 1);
  if (bytes.length > screenshotSize.value)
    return `is larger than ${sizeText(screenshotSize.value)}. Save it as JPEG or WebP, or make it smaller`;
  const size = imageSize(bytes);
  if (size === null) return 'is not a PNG, JPEG or WebP image';
  const { width, height } = size;
  const most = screenshotEdge.value.toLocaleString('en');
  return Math.max(width, height) > screenshotEdge.value
    ? `is ${width} × ${height} pixels. At most ${most} × ${most} are allowed`
    : null;
}

async function readUpTo(file: string, most: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(most, (await handle.stat()).size));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
