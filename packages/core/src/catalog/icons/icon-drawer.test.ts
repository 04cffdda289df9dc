// Promises of drawing icons: whatever an SVG holds, it ends in its time and memory as a PNG or as a reason, and what the
// renderer cannot show is said instead of left out.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { limits, MiB } from '@platform/contract';
import { hostilePictures, svg } from '../../../test-support/hostile-pictures.ts';
import { imageSize } from '../packages/image-size.ts';
import { imageType } from '../packages/image-type.ts';
import { IconDrawer } from './icon-drawer.ts';

const drawer = new IconDrawer();
const hurried = new IconDrawer({ milliseconds: 1_500 });
const brief = new IconDrawer({ milliseconds: 4_000 });
after(() => Promise.all([drawer.stop(), hurried.stop(), brief.stop()]));

const SHAPE = '<rect width="5" height="5" fill="#06c"/>';

async function drawn(text: string): Promise<Buffer> {
  const drawing = await drawer.draw(text);
  if ('fault' in drawing) throw new Error(drawing.fault);
  return Buffer.from(drawing.png);
}

const plain: Readonly<Record<string, readonly [text: string, width: number, height: number]>> = {
  'a square': [svg(SHAPE), 256, 256],
  'a wide one': [svg(SHAPE, 'viewBox="0 0 20 10"'), 256, 128],
  'a tall one': [svg(SHAPE, 'width="10" height="20"'), 128, 256],
  'one without a size': [svg(SHAPE, ''), 256, 256],
  'one with declaration, doctype and comments': [
    `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><!-- <text> -->${svg(SHAPE)}\n`,
    ...([256, 256] as const),
  ],
  'one with a shadow': [
    svg(`<filter id="f"><feDropShadow dx="1"/></filter><g filter="url(#f)">${SHAPE}</g>`),
    256,
    256,
  ],
  'one of a program that writes styles, clips and reuse': [
    svg(
      `<style>.a{fill:url(#g)}/* url(b) */</style><linearGradient id="g"><stop/></linearGradient><clipPath id="c"><use xlink:href='#r'/></clipPath><g id="r" class="a" clip-path="url('#c')">${SHAPE}</g>`,
    ),
    ...([256, 256] as const),
  ],
  'one with a script and a link': [
    svg(`<script>alert(1)</script><a href="https://example.com">${SHAPE}</a>`),
    256,
    256,
  ],
  'one with a picture in it': [svg('<image href="data:image/png;base64,AAAA"/>'), 256, 256],
};
for (const [what, [text, width, height]] of Object.entries(plain))
  test(`${what} becomes a PNG`, async () => {
    const bytes = await drawn(text);
    assert.equal(imageType(bytes), 'image/png');
    assert.deepEqual(imageSize(bytes), { width, height });
  });

const left: Readonly<Record<string, readonly [text: string, fault: RegExp]>> = {
  text: [svg('<text>x</text>'), /with text.*into paths/],
  'text of a prefix': [`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:text>x</s:text></s:svg>`, /with text/],
  'a picture of elsewhere': [svg('<image href="https://example.com/a.png"/>'), /refers to other files/],
  'a picture of elsewhere by the former attribute': [svg('<image xlink:href="a.png"/>'), /refers to other files/],
  'a shape of elsewhere': [svg("<use\nhref = 'a.svg#b'/>"), /refers to other files/],
  'a fill of elsewhere': [svg('<rect fill="url(a.svg#b)"/>'), /refers to other files/],
  'a fill of elsewhere in quotes': [svg(`<rect style="fill:url( 'a.svg#b' )"/>`), /refers to other files/],
  'a sheet of elsewhere': [svg('<style>@import "a.css";</style>'), /refers to other files/],
  'a font of elsewhere': [svg('<style><![CDATA[@font-face{src:url(a.woff)}]]></style>'), /refers to other files/],
  'an end too early': ['<svg xmlns="http://www.w3.org/2000/svg"><g>', /cannot be drawn: .*Correct it/],
  'no size': [svg(SHAPE, 'width="0" height="1"'), /cannot be drawn: .*size/],
};
for (const [what, [text, fault]] of Object.entries(left))
  test(`a picture with ${what} is refused with what to do`, async () => {
    const drawing = await drawer.draw(text);
    assert.ok('fault' in drawing, 'it was drawn');
    assert.match(drawing.fault, fault);
    assert.match(drawing.fault, /or save it as PNG$/);
  });

/** For the thread's program, the renderer's code and measuring on a busy machine. */
const BESIDE = 128 * MiB;

for (const [what, text] of Object.entries(hostilePictures))
  test(`${what}: it ends in its time and memory`, async () => {
    assert.ok(text.length <= limits.iconSize.value, `is no icon: ${text.length} bytes`);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 10);
    const begun = performance.now();
    const drawing = await hurried.draw(text).finally(() => clearInterval(watch));
    const took = performance.now() - begun;
    assert.ok(took < 10_000, `took ${took} ms`);
    assert.ok(most - before < limits.iconDrawingMemory.value + BESIDE, `took ${(most - before) / MiB} MiB`);
    if ('png' in drawing) assert.ok(drawing.png.length <= limits.iconSize.value + 1_024);
    else assert.match(drawing.fault, /^is an SVG that .*, or save it as PNG$/);
  });

test('what takes too much time, or too much memory, says so, and the next is drawn', async () => {
  const { 'noise of a million octaves': slow = '', 'use that names use': large = '' } = hostilePictures;
  const [late, full, next] = await Promise.all([brief.draw(slow), drawer.draw(large), brief.draw(svg(SHAPE))]);
  assert.ok('fault' in late && /longer than 4 s/.test(late.fault));
  assert.ok('fault' in full && /more than 64 MiB of memory/.test(full.fault));
  assert.ok('png' in next);
});
