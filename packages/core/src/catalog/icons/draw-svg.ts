// Draws an SVG to a PNG, in a thread that may be ended at any time: nothing here counts what a picture costs. The renderer has
// no fonts, no files and no network, so what would need them is refused instead of being left out without a word.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { limits, sizeText } from '@platform/contract';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { WASM_PAGE_BYTES, withMemoryEnd } from './bounded-module.ts';

export type Drawing = { readonly png: Uint8Array<ArrayBuffer> } | { readonly fault: string };

/** What to do about every fault. */
const INSTEAD = 'or save it as PNG';

/** Once in each thread: after a failure nothing is known of the module's memory. */
export async function startRenderer(): Promise<void> {
  const module = readFileSync(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')));
  const pages = Math.floor(limits.iconDrawingMemory.value / WASM_PAGE_BYTES);
  await initWasm(await WebAssembly.compile(new Uint8Array(withMemoryEnd(module, pages))));
}

/** @returns a PNG whose longer side has `limits.iconDrawnEdge` pixels, or why there is none, to be read after "icon" */
export function drawSvg(text: string): Drawing {
  try {
    const { width, height } = new Resvg(text, { fitTo: { mode: 'original' } });
    const fault = faultOfContent(text);
    if (fault !== null) return { fault };
    const mode = width >= height ? 'width' : 'height';
    const picture = new Resvg(text, { fitTo: { mode, value: limits.iconDrawnEdge.value } });
    return { png: new Uint8Array(picture.render().asPng()) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

function faultOf(error: unknown): string {
  // The renderer stops at the end of its memory, or of its stack.
  if (error instanceof WebAssembly.RuntimeError)
    return `is an SVG that is nested too deeply, or takes more than ${sizeText(limits.iconDrawingMemory.value)} of memory to draw. Make it simpler, ${INSTEAD}`;
  // Of what the renderer itself says, such as where in the text something is not closed.
  const said = String(error instanceof Error ? error.message : error).slice(0, 200);
  return `is an SVG that cannot be drawn: ${said}. Correct it, ${INSTEAD}`;
}

const COMMENT_OR_TEXT = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g;
const TAG = /<(?:[\w.-]+:)?([\w-]+)((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>/g;
const REFERENCE = /\s(?:[\w.-]+:)?href\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const WITHIN = /^\s*(?:#|data:|$)/;
const STYLED_FROM_OUTSIDE = /@import\b|url\(\s*["']?\s*(?!["']?\s*(?:#|data:))[^\s)]/i;

/** @param text of a well-formed document, so that each comment and attribute ends */
function faultOfContent(text: string): string | null {
  const markup = text.replaceAll(COMMENT_OR_TEXT, ' ');
  for (const [, name = '', attributes = ''] of markup.matchAll(TAG)) {
    if (name === 'text')
      return `is an SVG with text, for which there are no fonts. Turn the text into paths, ${INSTEAD}`;
    // Where a link leads is not drawn.
    const references = name === 'a' ? [] : [...attributes.matchAll(REFERENCE)];
    const outside = references.some(([, double, single]) => !WITHIN.test(double ?? single ?? ''));
    if (outside || STYLED_FROM_OUTSIDE.test(attributes)) return OUTSIDE;
  }
  return STYLED_FROM_OUTSIDE.test(stylesIn(text)) ? OUTSIDE : null;
}

const OUTSIDE = `is an SVG that refers to other files. Embed what it needs, ${INSTEAD}`;

function stylesIn(text: string): string {
  return [...text.matchAll(/<(?:[\w.-]+:)?style\b[^>]*>([\s\S]*?)<\/(?:[\w.-]+:)?style\b/g)]
    .map(([, sheet = '']) => sheet.replaceAll(/\/\*[\s\S]*?\*\//g, ' '))
    .join('\n');
}
