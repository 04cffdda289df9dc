// Promises of the cost of an SVG: what drawing programs write is cheap, what multiplies itself is not, however it is spelt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@platform/contract';
import { svgCost } from './svg-cost.ts';

const MOST = limits.iconShapes.value;
const svg = (content: string, root = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"${root}>${content}</svg>`;
/** Each level names the one below ten times. */
function levels(name: (id: string) => string, wrap = (id: string, content: string) => `<g id="${id}">${content}</g>`) {
  const shapes = [wrap('l0', '<circle r="5"/>')];
  for (let level = 1; level < 8; level += 1) shapes.push(wrap(`l${level}`, name(`l${level - 1}`).repeat(10)));
  return shapes.join('') + name('l7');
}

const plain: Readonly<Record<string, string>> = {
  'one with a gradient': svg(
    '<defs><linearGradient id="g"><stop offset="0"/><stop offset="1"/></linearGradient></defs><rect fill="url(#g)"/>',
  ),
  'one with declaration, doctype and comments': `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><!-- <use> -->${svg('<path d="M0 0"/>')}\n`,
  'one of a program that writes styles, clips and reuse': svg(
    '<style>.st0{fill:url(#SVGID_1_);} .st1,.st2{clip-path:url(#SVGID_3_);fill:#FFF}</style><defs><rect id="SVGID_2_"/></defs>' +
      '<linearGradient id="SVGID_1_"><stop/></linearGradient><clipPath id="SVGID_3_"><use xlink:href="#SVGID_2_" style="overflow:visible;"/></clipPath>' +
      '<g class="st1"><path class="st0" d="M0 0"/><path d="M1 1"/></g>',
  ),
  'one with a shadow': svg(
    '<g filter="url(#f)"><path d="M0 0"/></g><defs><filter id="f"><feFlood/><feOffset dy="1"/><feGaussianBlur stdDeviation="2"/><feBlend/></filter></defs>',
  ),
  'one with a path of Windows in a field of its program': svg('<path/>', ' xmlns:i="urn:i" i:export="C:\\Users\\a"'),
  'one with much text': svg(`<title>${'a &amp; b '.repeat(1_000)}</title>`),
  'one of 4,000 shapes': svg('<path d="M0 0"/>'.repeat(4_000)),
  'one of a program that says what there is not': svg(
    '<path style="stroke-dasharray:none;stroke:#000"/><path stroke-dasharray="0"/>'.repeat(500),
  ),
  'one with shadows on groups': svg(
    `${`<g filter="url(#f)">${'<path d="M0 0"/>'.repeat(100)}</g>`.repeat(8)}<filter id="f">${'<feOffset/>'.repeat(6)}</filter>`,
  ),
  'one of a program that writes properties of its own, fonts and transforms': svg(
    '<style type="text/css"><!-- .a{fill:#fff;font-family:"Open Sans",sans-serif;-inkscape-font-specification:x} --></style>' +
      '<path class="a" style="fill:url(#g) #fff;stroke:rgb(0, 0, 0);transform:rotate(4deg) translate(1px,2px);filter:url(#f) !important;"/>' +
      '<rect filter="none" style="enable-background:new 0 0 1 1;;"/><filter id="f"><feOffset/></filter>',
  ),
};
for (const [what, text] of Object.entries(plain))
  test(`${what} is drawn`, () => {
    assert.ok(svgCost(text) <= MOST, String(svgCost(text)));
  });

const useOf = (attribute: string) => levels((id) => `<use ${attribute.replace('ID', id)}/>`);
const costly: Readonly<Record<string, string>> = {
  'that reuses itself': svg(useOf('href="#ID"')),
  'with the former attribute': svg(useOf('xlink:href="#ID"')),
  'with another prefix': svg(useOf('l:href="#ID"'), ' xmlns:l="http://www.w3.org/1999/xlink"'),
  'in single quotes, over lines': svg(useOf("\n\thref = '#ID'")),
  'by its own address': svg(useOf('href="icon#ID"')),
  'with an encoded sign': svg(useOf('href="&#35;ID"')),
  'with an encoded letter': svg(useOf('href="#ID"').replaceAll('"#l', '"#%6c')),
  'with elements of a prefix': svg(
    useOf('href="#ID"').replaceAll('<use', '<s:use'),
    ' xmlns:s="http://www.w3.org/2000/svg"',
  ),
  'by masks': svg(
    levels(
      (id) => `<rect mask="url(#${id})"/>`,
      (id, content) => `<mask id="${id}">${content}</mask>`,
    ),
  ),
  'by patterns that are inherited': svg(
    levels(
      (id) => `<g fill='URL( "#${id}" )'>${'<rect/>'.repeat(10)}</g>`,
      (id, content) => `<pattern id="${id}">${content}</pattern>`,
    ),
  ),
  'by the style of an element': svg(
    levels(
      (id) => `<rect style="mask:url(#${id})"/>`,
      (id, content) => `<mask id="${id}">${content}</mask>`,
    ),
  ),
  'by classes': svg(
    `<style>${[0, 1, 2, 3, 4, 5, 6, 7].map((level) => `.l${level}{mask:url(#l${level})}`).join('')}</style>${levels(
      (id) => `<rect class="${id}"/>`,
      (id, content) => `<mask id="${id}">${content}</mask>`,
    )}`,
  ),
  'by a sheet in CDATA that reaches every element': svg(
    '<style><![CDATA[*{mask:url(#a)}]]></style><mask id="a"><rect/></mask><rect/>',
  ),
  'by an escape in a style': svg('<style>.a{mask:u\\72l(#a)}</style><rect class="a"/>'),
  'by an escape in an attribute': svg('<rect mask="u\\72l(#a)"/>'),
  'by entities of its own': `<!DOCTYPE svg [<!ENTITY a "${'x'.repeat(10)}">]>${svg('&a;')}`,
  'with many filters': svg(
    `<filter id="f"><feGaussianBlur stdDeviation="300"/></filter>${'<rect filter="url(#f)"/>'.repeat(200)}`,
  ),
  'with a filter of many steps': svg(`<filter><!-- -->${'<feMorphology radius="9"/>'.repeat(200)}</filter>`),
  'with many dashes': svg('<path d="M0 0H1e9" stroke-dasharray=".001"/>'.repeat(500)),
  'with dashes that are inherited': svg(`<g stroke-dasharray=".001">${'<path d="M0 0H1e9"/>'.repeat(500)}</g>`),
  'with dashes in a sheet': svg(`<style>.a{stroke-dasharray:.1}</style>${'<path class="a" d="M0 0"/>'.repeat(500)}`),
  'with a path of 100,000 characters': svg(`<path d="M0 0${' 1 1'.repeat(25_000)}"/>`),
  'clipped by a long path again and again': svg(
    `<clipPath id="c"><path d="M0 0${' 1 1'.repeat(1_000)}"/></clipPath>${'<rect clip-path="url(#c)"/>'.repeat(100)}`,
  ),
  'in a circle': svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'),
  'that contains a picture': svg('<image href="data:image/png;base64,AAAA"/>'),
  'that contains a page': svg('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>'),
  'that animates its references': svg('<use><animate attributeName="href" to="#a"/></use>'),
  'with a style sheet of elsewhere': `<?xml-stylesheet href="a.css"?>${svg('')}`,
  'that is blurred by functions': svg('<rect style="filter:blur(300px) blur(300px)"/>'),
  'with the filter of a page as an attribute': svg('<rect filter="blur(300px)"/>'),
  'with one filter many times': svg('<rect filter="url(#f) url(#f)"/><filter id="f"><feOffset/></filter>'),
  'with one mask many times': svg('<rect style="mask:url(#m),url(#m),url(#m)"/><mask id="m"><rect/></mask>'),
  'with shadows of text': svg('<style>text{text-shadow:0 0 99px red}</style><text>x</text>'),
  'with what is behind it blurred': svg('<rect style="backdrop-filter:blur(9px)"/>'),
  'that moves by a sheet': svg('<style>@keyframes a{to{opacity:0}}rect{animation:a 1s infinite}</style><rect/>'),
  'that moves by its style': svg('<rect style="transition:all 9s"/>'),
  'that loads a sheet': svg('<style>@import "a.css";</style>'),
  'with rules within rules': svg('<style>.a{fill:red;.b{mask:none}}</style>'),
  'in three dimensions': svg('<rect style="transform:rotate3d(1,1,1,4deg)"/>'),
  'with a property that hides in a comment': svg('<rect style="fi/**/lter:blur(9px)"/>'),
  'with a property in capitals': svg('<rect style="FILTER:BLUR(9px)"/>'),
  'with blended layers': svg('<rect style="mix-blend-mode:multiply"/>'),
  'with a property that nobody knows': svg('<rect style="some-new-effect:9"/>'),
  'that is nested without end': svg('<g>'.repeat(5_000) + '</g>'.repeat(5_000)),
  'that leads on and on': svg(
    Array.from({ length: 5_000 }, (_, level) => `<g id="c${level}"><use href="#c${level + 1}"/></g>`).join(''),
  ),
  'that is not closed': '<svg xmlns="http://www.w3.org/2000/svg"><g>',
  'with two roots': svg('') + svg(''),
  'of more shapes than the limit': svg('<path/>'.repeat(MOST)),
};
for (const [what, text] of Object.entries(costly))
  test(`a picture ${what} costs too much`, () => {
    assert.ok(svgCost(text) > MOST, String(svgCost(text)));
  });

test('a picture of the largest size is judged in no time, whatever it repeats', () => {
  const { value } = limits.iconSize;
  const named = Array.from({ length: value / 8 }, (_, index) => `#a${index} `).join('');
  const classes = '<g class="a"/>'.repeat(4_000);
  assert.ok(svgCost(svg(`<style>.a{mask:url(${named})}</style>${classes}`)) <= MOST);
  for (const piece of [
    '<',
    '<g a="',
    '<g a=b',
    ' a="b"',
    '<!--',
    '<![CDATA[',
    '&#35;',
    '<use href="#a" id="a"/>',
    '</g>',
    '#a ',
  ])
    for (const text of [
      svg(piece.repeat(value / piece.length)),
      svg(`<style>${piece.repeat(value / piece.length)}</style>`),
    ]) {
      const begun = process.cpuUsage();
      svgCost(text);
      const { user } = process.cpuUsage(begun);
      assert.ok(user < 2_000_000, `${piece}: ${user} µs`);
    }
});
