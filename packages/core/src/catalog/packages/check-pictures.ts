// The pictures that a manifest names: images by their content, whatever their names say, and no larger than a browser
// shows without effort.
import * as path from 'node:path';
import { limits, type Manifest, sizeText } from '@platform/contract';
import { faultOfParts } from './image-parts.ts';
import { imageSize } from './image-size.ts';
import { imageType } from './image-type.ts';
import { readUpTo } from './read-bytes.ts';
import { faultOfSvgHead } from './svg-head.ts';

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
  const { iconSize, iconEdge } = limits;
  const bytes = await readUpTo(file, iconSize.value + 1);
  const badHead = faultOfSvgHead(bytes);
  if (badHead !== null) return badHead;
  const type = imageType(bytes);
  if (type === null) return 'is not a PNG, JPEG, WebP or SVG image';
  if (bytes.length > iconSize.value) return `is larger than ${sizeText(iconSize.value)}. Make it smaller`;
  // Whether an SVG can be drawn is seen when it is (icons/draw-svg.ts).
  return type === 'image/svg+xml' ? null : faultOfPixels(bytes, iconEdge.value);
}

async function faultOfScreenshot(file: string): Promise<string | null> {
  const { screenshotSize, screenshotEdge } = limits;
  const bytes = await readUpTo(file, screenshotSize.value + 1);
  if (bytes.length > screenshotSize.value)
    return `is larger than ${sizeText(screenshotSize.value)}. Save it as JPEG or WebP, or make it smaller`;
  return faultOfPixels(bytes, screenshotEdge.value);
}

function faultOfPixels(bytes: Buffer, most: number): string | null {
  const size = imageSize(bytes);
  if (size === null) return 'is not a PNG, JPEG or WebP image';
  const { width, height } = size;
  const written = most.toLocaleString('en');
  return Math.max(width, height) > most
    ? `is ${width} × ${height} pixels. At most ${written} × ${written} are allowed`
    : faultOfParts(bytes);
}
