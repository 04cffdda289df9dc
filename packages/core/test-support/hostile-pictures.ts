// Pictures for tests that cost a renderer far more than their bytes: in time, in memory, or in depth.

export function svg(content: string, more = 'viewBox="0 0 100 100"'): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${more}>${content}</svg>`;
}

const SQUARE = 'width="100" height="100"';

/** Each level names the one below ten times. */
function levels(
  count: number,
  {
    one,
    group = (id, content) => `<g id="${id}">${content}</g>`,
  }: {
    readonly one: (below: string) => string;
    readonly group?: (id: string, content: string) => string;
  },
): string {
  const all = Array.from({ length: count }, (_, level) => group(`l${level + 1}`, one(`l${level}`).repeat(10)));
  return `<circle id="l0" r="5"/>${all.join('')}`;
}

function filtered(steps: string, shapes: number, region = ''): string {
  return svg(`<filter id="f" ${region}>${steps}</filter>${`<rect ${SQUARE} filter="url(#f)"/>`.repeat(shapes)}`);
}

const EVERYWHERE = 'x="-100000%" y="-100000%" width="1000000%" height="1000000%"';
const NESTED_USE = svg(levels(12, { one: (below) => `<use href="#${below}"/>` }));
const ENTITIES = Array.from({ length: 9 }, (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`).join(
  '',
);
const MARKED = `<path d="M0 0${'L1 1'.repeat(500)}"`;

export const hostilePictures: Readonly<Record<string, string>> = {
  'use that names use': NESTED_USE,
  'use in a circle': svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'),
  'use that leads on and on': svg(
    Array.from({ length: 5_000 }, (_, level) => `<g id="c${level}"><use href="#c${level + 1}"/></g>`).join(''),
  ),
  'masks in masks': svg(
    `${levels(12, {
      one: (below) => `<rect ${SQUARE} mask="url(#${below})"/>`,
      group: (id, content) => `<mask id="${id}">${content}</mask>`,
    })}<rect ${SQUARE} mask="url(#l12)"/>`,
  ),
  'masks of masks': svg(
    `${Array.from({ length: 1_500 }, (_, level) => `<mask id="c${level}"><rect ${SQUARE} mask="url(#c${level + 1})"/></mask>`).join('')}<rect ${SQUARE} mask="url(#c0)"/>`,
  ),
  'clip paths in clip paths': svg(
    `${levels(12, {
      one: (below) => `<rect ${SQUARE} clip-path="url(#${below})"/>`,
      group: (id, content) => `<clipPath id="${id}">${content}</clipPath>`,
    })}<rect ${SQUARE} clip-path="url(#l12)"/>`,
  ),
  'patterns in patterns': svg(
    `${levels(12, {
      one: (below) => `<rect ${SQUARE} fill="url(#${below})"/>`,
      group: (id, content) => `<pattern id="${id}" width=".1" height=".1">${content}</pattern>`,
    })}<rect ${SQUARE} fill="url(#l12)"/>`,
  ),
  'a pattern of nearly no size': svg(
    `<pattern id="p" width="1e-9" height="1e-9" patternUnits="userSpaceOnUse"><rect ${SQUARE}/></pattern>${`<rect ${SQUARE} fill="url(#p)"/>`.repeat(4_000)}`,
  ),
  'markers on markers': svg(
    `${['m', 'n', 'o', 'p']
      .map((id, at, all) => `<marker id="${id}">${MARKED} marker-mid="url(#${all[at + 1]})"/></marker>`)
      .join('')}${MARKED} marker-mid="url(#m)"/>`,
  ),
  'blurs over everything': filtered('<feGaussianBlur stdDeviation="3000"/>'.repeat(100), 4_000, EVERYWHERE),
  'noise of a million octaves': filtered('<feTurbulence baseFrequency=".9" numOctaves="1000000"/>'.repeat(100), 1),
  'morphology of a large radius': filtered('<feMorphology radius="900"/>', 3_000),
  'a convolution of a large matrix': filtered(
    `<feConvolveMatrix order="200" kernelMatrix="${'1 '.repeat(40_000)}"/>`,
    1_000,
  ),
  'light from many sides': filtered(
    '<feSpecularLighting><fePointLight z="9"/></feSpecularLighting>'.repeat(2_000),
    500,
  ),
  'gradients of many stops': svg(
    `<linearGradient id="g">${'<stop offset=".5"/>'.repeat(8_000)}</linearGradient>${`<rect ${SQUARE} fill="url(#g)"/>`.repeat(1_500)}`,
  ),
  'gradients that inherit each other': svg(
    Array.from({ length: 4_000 }, (_, at) => `<linearGradient id="g${at}" href="#g${at + 1}"/>`).join('') +
      `<rect ${SQUARE} fill="url(#g0)"/>`,
  ),
  'groups in groups': svg('<g>'.repeat(30_000) + '</g>'.repeat(30_000)),
  'layers in layers': svg(`${'<g opacity=".5">'.repeat(1_000)}<rect ${SQUARE}/>${'</g>'.repeat(1_000)}`),
  'layers beside layers': svg(`<g opacity=".5"><rect ${SQUARE}/></g>`.repeat(5_000)),
  'an enormous path': svg(
    `<path d="M0 0${'L9 9 0 9'.repeat(27_000)}" stroke="#000" stroke-width="50" stroke-linejoin="round"/>`,
  ),
  'a path beyond all numbers': svg(
    `<path d="M0 0${'A1e30 1e30 0 0 1 1e30 1e30'.repeat(9_000)}" stroke="#000" stroke-width="1e30"/>`,
  ),
  'dashes of nearly no length': svg('<path d="M0 0H1e9" stroke="#000" stroke-dasharray=".000001"/>'.repeat(3_000)),
  'a huge view box': svg(`<rect ${SQUARE}/>`, 'viewBox="-1e9 -1e9 1e30 1e30" width="1e9" height="1e9"'),
  'a view box of one line': svg(`<rect ${SQUARE}/>`, 'viewBox="0 0 1e9 1"'),
  'a view box of one column': svg(`<rect ${SQUARE}/>`, 'viewBox="0 0 1 1e9"'),
  'entities of entities': `<!DOCTYPE svg [<!ENTITY e0 "aaaaaaaaaa">${ENTITIES}]>${svg('<desc>&e9;</desc>')}`,
  'entities in a circle': `<!DOCTYPE svg [<!ENTITY a "&b;"><!ENTITY b "&a;">]>${svg('&a;')}`,
  'an entity of a file': `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svg('<desc>&a;</desc>')}`,
  'a picture in it of 65,535 pixels a side': svg(
    `<image ${SQUARE} href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA//8AAP//CAYAAAAAAAAA"/>`,
  ),
  'such a picture in it': svg(
    `<image ${SQUARE} href="data:image/svg+xml;base64,${Buffer.from(NESTED_USE).toString('base64')}"/>`,
  ),
  'very many attributes': svg(`<g ${Array.from({ length: 20_000 }, (_, at) => `a${at}="b"`).join(' ')}/>`),
  'very many rules of style': svg(`<style>${'*{fill:red}'.repeat(10_000)}</style>${'<g/>'.repeat(30_000)}`),
  'rules of style for depths': svg(
    `<style>${'g g g g g g{fill:red}'.repeat(5_000)}</style>${'<g>'.repeat(900)}${'</g>'.repeat(900)}`,
  ),
  'comments that do not end': '<svg xmlns="http://www.w3.org/2000/svg"><!--'.repeat(5_000),
  'tags that do not end': svg('<g a="'.repeat(40_000)),
};
