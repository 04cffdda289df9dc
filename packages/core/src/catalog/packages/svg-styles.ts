// What styles of an SVG may say. Properties and functions are an allow-list of what drawing programs write: those of pages, such as
// filters by functions, shadows, animation and three dimensions, can cost any amount in a few characters, and browsers add more.

const PROPERTIES = new Set([
  ...['fill', 'fill-opacity', 'fill-rule', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-linecap'],
  ...['stroke-linejoin', 'stroke-miterlimit', 'stroke-dasharray', 'stroke-dashoffset', 'opacity', 'display'],
  ...['visibility', 'overflow', 'color', 'clip', 'clip-path', 'clip-rule', 'mask', 'mask-type', 'filter'],
  ...['stop-color', 'stop-opacity', 'flood-color', 'flood-opacity', 'lighting-color', 'solid-color', 'solid-opacity'],
  ...['color-interpolation', 'color-interpolation-filters', 'color-rendering', 'shape-rendering', 'text-rendering'],
  ...['image-rendering', 'vector-effect', 'paint-order', 'isolation', 'enable-background', 'transform'],
  ...['transform-origin', 'transform-box', 'font', 'font-family', 'font-size', 'font-size-adjust', 'font-stretch'],
  ...['font-style', 'font-weight', 'font-variant', 'font-variant-caps', 'font-variant-ligatures', 'font-kerning'],
  ...['font-variant-numeric', 'font-variant-east-asian', 'font-variant-alternates', 'font-variant-position'],
  ...['font-feature-settings', 'font-variation-settings', 'letter-spacing', 'word-spacing', 'line-height', 'kerning'],
  ...['text-anchor', 'text-align', 'text-decoration', 'text-decoration-line', 'text-decoration-style'],
  ...['text-decoration-color', 'text-indent', 'text-transform', 'text-orientation', 'dominant-baseline'],
  ...['alignment-baseline', 'baseline-shift', 'direction', 'unicode-bidi', 'writing-mode', 'white-space'],
  ...['marker', 'marker-start', 'marker-mid', 'marker-end', 'shape-inside', 'shape-padding', 'shape-margin'],
  ...['inline-size', 'x', 'y', 'width', 'height', 'cx', 'cy', 'r', 'rx', 'ry', 'pointer-events', 'cursor'],
]);
/** What browsers ignore, whatever it says. */
const OF_PROGRAMS = /^-(inkscape|adobe|sodipodi)-/;
const FUNCTIONS = new Set([
  ...['url', 'rgb', 'rgba', 'hsl', 'hsla', 'rect', 'matrix', 'translate', 'translatex', 'translatey'],
  ...['scale', 'scalex', 'scaley', 'rotate', 'skewx', 'skewy'],
]);
/** One filter of the picture itself, which svg-cost.ts counts. */
const FILTER = /^(?:none|url\([^()]*\))$/;
/** Of one value: a mask of many layers would draw each, and is counted once. */
const MOST_URLS = 2;
const DECLARATION = /^\s*([\w-]+)\s*:([^:]*(?::[^:]*)?)$/;

/** Whether a `style` attribute, or what stands between the braces of a rule, says only what may be said. */
export function isPlainStyle(declarations: string): boolean {
  return declarations
    .replaceAll(/\/\*[\s\S]*?\*\//g, ' ')
    .split(/;(?![^(]*\))/)
    .every((one) => one.trim() === '' || isPlainDeclaration(one));
}

/** The same for style sheets: rules without rules in them, and none that begins with `@`. */
export function areSheetsPlain(sheets: string): boolean {
  const text = sheets.replaceAll(/\/\*[\s\S]*?\*\//g, ' ').replaceAll(/<!--|-->/g, ' ');
  if (text.includes('@')) return false;
  let at = 0;
  while (text.slice(at).trim() !== '') {
    const open = text.indexOf('{', at);
    const close = text.indexOf('}', at);
    if (open === -1 || close < open || text.slice(open + 1, close).includes('{')) return false;
    if (!isPlainStyle(text.slice(open + 1, close))) return false;
    at = close + 1;
  }
  return true;
}

/** Whether the value of a presentation attribute is one that may stand there. */
export function isPlainAttribute(name: string, value: string): boolean {
  return name === 'filter' ? FILTER.test(bare(value)) : urlsIn(value) <= MOST_URLS;
}

function isPlainDeclaration(declaration: string): boolean {
  const [, name = '', value = ''] = DECLARATION.exec(declaration) ?? [];
  const property = name.toLowerCase();
  if (OF_PROGRAMS.test(property)) return true;
  if (!PROPERTIES.has(property)) return false;
  if (property === 'filter') return FILTER.test(bare(value));
  // What a URL holds is no function.
  const outside = value.replaceAll(/url\(\s*(?:"[^"]*"|'[^']*'|[^"'()\s]*)\s*\)/gi, 'url()');
  if (urlsIn(value) > MOST_URLS) return false;
  return [...outside.matchAll(/([\w-]*)\s*\(/g)].every(([, called = '']) => FUNCTIONS.has(called.toLowerCase()));
}

function urlsIn(value: string): number {
  return value.match(/url\s*\(/gi)?.length ?? 0;
}

function bare(value: string): string {
  return value
    .replace(/!\s*important\s*$/i, '')
    .trim()
    .toLowerCase();
}
