// How much work an SVG is to a browser. A few lines of `<use>` that name each other can mean billions of shapes, and few
// filters, dashes or long paths as much, which stop every page that shows the picture. What cannot be read for certain costs
// too much.
import { limits } from '@platform/contract';
import { areSheetsPlain, isPlainAttribute, isPlainStyle } from './svg-styles.ts';

/** Elements whose cost is not in their number: pictures and pages inside, copies by vertex, and changes over time. */
const REFUSED = new Set(['foreignobject', 'image', 'feimage', 'marker', 'set']);
const ANIMATED = /^animate/;
/** No child of theirs inherits these. */
const DRAWN_ONCE = new Set(['href', 'clip-path', 'mask', 'filter']);
/** Elements within each other; references and elements together twice as many. */
const DEEPEST = 200;
/** In place of an id: everything that the style sheets name. */
const SHEETS = '';

const TAG = /<([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_:][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([A-Za-z_:][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Characters of attributes that are as much work as a shape, paths above all. */
const CHARACTERS = 8;
/** A filter and each of its steps look at every pixel. */
const OF_FILTER = 100;
/** Shapes with dashes, which may be very short. */
const DASHED = 100;

interface Element {
  /** Shapes that it is worth by itself. */
  readonly own: number;
  readonly children: Element[];
  /** Ids that it draws once: what it reuses, clips or filters by. */
  readonly names: string[];
  /** Ids that it and each of its children is painted with. */
  readonly paints: string[];
  readonly isDashed: boolean;
  readonly ids: string[];
  readonly hasClass: boolean;
}

/** Whether a browser draws the picture without effort. */
export function isCheapSvg(text: string): boolean {
  return svgCost(text) <= limits.iconShapes.value;
}

/** @returns shapes at most, or what is as much work; `Infinity` for what is no plain SVG */
export function svgCost(text: string): number {
  const document = read(text);
  if (document === null) return Number.POSITIVE_INFINITY;
  const { root, all, sheets } = document;
  const styled = namesInSheets(sheets);
  if (styled === null) return Number.POSITIVE_INFINITY;
  for (const element of all) if (styled.everywhere || element.hasClass) element.paints.push(SHEETS);
  return costOf(root, byId(all), styled);
}

function byId(all: readonly Element[]): Map<string, Element[]> {
  const found = new Map<string, Element[]>();
  for (const element of all)
    for (const id of element.ids) {
      const others = found.get(id);
      if (others === undefined) found.set(id, [element]);
      else others.push(element);
    }
  return found;
}

/** A picture whose elements name each other in a circle costs without end, though browsers leave out what they can. */
function costOf(root: Element, named: ReadonlyMap<string, readonly Element[]>, sheets: Styled): number {
  const known = new Map<Element | string, number>();
  let depth = 0;
  const once = (key: Element | string, work: () => number): number => {
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, Number.POSITIVE_INFINITY);
    if (depth > DEEPEST * 2) return Number.POSITIVE_INFINITY;
    depth += 1;
    const found = work();
    depth -= 1;
    known.set(key, found);
    return found;
  };
  const ofId = (id: string): number =>
    once(id, () =>
      id === SHEETS ? product(sheets.names) * (sheets.isDashed ? DASHED : 1) - 1 : sum(named.get(id) ?? []),
    );
  const product = (ids: readonly string[]): number =>
    [...new Set(ids)].reduce((total, id) => total * (1 + ofId(id)), 1);
  const sum = (elements: readonly Element[]): number =>
    elements.reduce((total, one) => total + once(one, () => ofElement(one)), 0);
  const ofElement = ({ own, children, names, paints, isDashed }: Element): number => {
    let drawn = own + sum(children);
    for (const id of new Set(names)) drawn += ofId(id);
    return drawn * product(paints) * (isDashed ? DASHED : 1);
  };
  return once(root, () => ofElement(root));
}

interface Document {
  readonly root: Element;
  readonly all: readonly Element[];
  /** Contents of style elements. */
  readonly sheets: string;
}

function read(text: string): Document | null {
  const all: Element[] = [];
  const open: { readonly name: string; readonly element: Element }[] = [];
  let root: Element | null = null;
  let sheets = '';
  let at = 0;
  const content = (piece: string) => {
    if (open.at(-1)?.name === 'style') sheets += decoded(piece);
  };
  while (at < text.length) {
    const next = text.indexOf('<', at);
    content(text.slice(at, next === -1 ? text.length : next));
    if (next === -1) break;
    const skipped = endOfOther(text, next);
    if (skipped === null) return null;
    if (skipped > next) {
      if (text.startsWith('<![CDATA[', next)) content(text.slice(next + 9, skipped - 3));
      at = skipped;
      continue;
    }
    const closing = /<\/([\w.:-]+)\s*>/y;
    closing.lastIndex = next;
    const closed = closing.exec(text);
    if (closed !== null) {
      if (open.pop()?.name !== localName(closed[1] ?? '')) return null;
      at = closing.lastIndex;
      continue;
    }
    TAG.lastIndex = next;
    const tag = TAG.exec(text);
    if (tag === null) return null;
    at = TAG.lastIndex;
    const name = localName(tag[1] ?? '');
    if (REFUSED.has(name) || ANIMATED.test(name) || open.length > DEEPEST) return null;
    const element = elementOf(name, tag[2] ?? '');
    if (element === null || (open.length === 0 && root !== null)) return null;
    root ??= element;
    all.push(element);
    open.at(-1)?.element.children.push(element);
    if (tag[3] !== '/') open.push({ name, element });
  }
  return root === null || open.length > 0 ? null : { root, all, sheets };
}

/** Behind a comment, the declaration, a plain doctype or literal text at `at`; `at` for a tag; `null` for anything else. */
function endOfOther(text: string, at: number): number | null {
  for (const [begin, end] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?xml ', '?>'],
    ['<!DOCTYPE ', '>'],
  ] as const) {
    if (!text.startsWith(begin, at)) continue;
    const found = text.indexOf(end, at + begin.length);
    // A doctype with entities of its own would be text that is not read here.
    if (found === -1 || (begin === '<!DOCTYPE ' && text.slice(at, found).includes('['))) return null;
    return found + end.length;
  }
  return /[!?]/.test(text[at + 1] ?? '') ? null : at;
}

function elementOf(tag: string, attributes: string): Element | null {
  const element = {
    own: (tag.startsWith('fe') || tag === 'filter' ? OF_FILTER : 1) + Math.floor(attributes.length / CHARACTERS),
    ...{ children: [], names: [] as string[], paints: [] as string[], ids: [] as string[] },
    ...{ isDashed: false, hasClass: false },
  };
  for (const [, full = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    const name = localName(full);
    const value = decoded(double ?? single ?? '');
    if (name === 'id') element.ids.push(value);
    else if (name === 'class') element.hasClass = true;
    // Attributes of a program's own are in a namespace.
    else if (!full.includes(':') && (name === 'style' ? !isPlainStyle(value) : !isPlainAttribute(name, value)))
      return null;
    else if (name === 'href' || /url\s*\(/i.test(value))
      (DRAWN_ONCE.has(name) ? element.names : element.paints).push(...fragmentsIn(value));
    if (isDashed(name === 'style' ? value : `${name}:${value}`)) element.isDashed = true;
    // An escape could spell `url(` in another way.
    if (value.includes('\\') && !full.includes(':')) return null;
  }
  return element;
}

/** Whether declarations of styles name a pattern of dashes. */
function isDashed(declarations: string): boolean {
  return /stroke-dasharray\s*:(?!\s*(?:none|0)\s*(?:;|\}|$))/i.test(declarations);
}

interface Styled {
  readonly names: readonly string[];
  readonly isDashed: boolean;
  /** Whether the sheets reach elements without a class. */
  readonly everywhere: boolean;
}

function namesInSheets(sheets: string): Styled | null {
  if (sheets.includes('\\') || !areSheetsPlain(sheets)) return null;
  const plain = sheets.replaceAll(/\/\*[\s\S]*?\*\//g, ' ');
  const names = /url\s*\(/i.test(plain) ? fragmentsIn(plain) : [];
  const selectors = plain.split('{').flatMap((piece) => piece.slice(piece.lastIndexOf('}') + 1).split(','));
  // Behind the last rule is no selector.
  const everywhere = selectors.slice(0, -1).some((selector) => !/^\s*\.[\w-]+\s*$/.test(selector));
  return { names, everywhere, isDashed: isDashed(plain) };
}

/** Every `#…` in a value, as it stands and as a URL means it; a colour among them names nothing. */
function fragmentsIn(value: string): string[] {
  return [...value.matchAll(/#([^\s"'()#;,]+)/g)].flatMap(([, name = '']) => [name, percentDecoded(name)]);
}

function percentDecoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1).toLowerCase();
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
