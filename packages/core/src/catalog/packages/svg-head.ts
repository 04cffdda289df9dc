// What is wrong with how an SVG begins, said before anything draws it: browsers show none without its namespace as a picture, and
// an internal DTD can define entities that grow without end.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const INSTEAD = 'or save it as PNG';

/** @returns to be read after "icon"; `null` for what begins as an SVG may, and for what is none */
export function faultOfSvgHead(bytes: Buffer): string | null {
  let rest = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  while (rest.startsWith('<!') || rest.startsWith('<?')) {
    if (/^<!DOCTYPE\s+(?:[\w.-]+:)?svg\b/.test(rest) && hasInternalSubset(rest))
      return `is an SVG with an internal DTD (<!DOCTYPE svg [ … ]>). Remove it, and write out the entities that it defines, ${INSTEAD}`;
    const end = rest.startsWith('<!--') ? '-->' : '>';
    const at = rest.indexOf(end);
    if (at === -1) return null;
    rest = rest.slice(at + end.length).trimStart();
  }
  const root = /^<svg(?=[\s/>])((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>/.exec(rest);
  if (root === null) return null;
  const [, , double, single] = /\sxmlns\s*=\s*("([^"]*)"|'([^']*)')/.exec(root[1] ?? '') ?? [];
  return (double ?? single) === SVG_NAMESPACE
    ? null
    : `is an SVG whose root element lacks xmlns="${SVG_NAMESPACE}". Add it, ${INSTEAD}`;
}

/** `[` before the end of the declaration, outside of its quoted names. */
function hasInternalSubset(declaration: string): boolean {
  return /^<!DOCTYPE(?:[^"'[>]|"[^"]*"|'[^']*')*\[/.test(declaration);
}
