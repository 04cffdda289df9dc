// Patterns of openapi.json, which tools in other languages compile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portablePattern } from './portable-patterns.ts';

test('a portable pattern takes what the original takes, in whatever mode it is compiled', () => {
  for (const source of [
    '^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069]*$',
    '^\\P{Cc}*$',
    '^(?:[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069]|[\\t\\n])*$',
  ]) {
    const original = new RegExp(source, 'u');
    const portable = portablePattern(source) ?? assert.fail(source);
    for (const flags of ['', 'u']) {
      const other = new RegExp(portable, flags);
      for (let code = 0; code < 0x1_1000; code += 1) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const text = `a${String.fromCodePoint(code)}b`;
        assert.equal(other.test(text), original.test(text), `U+${code.toString(16)} with flags "${flags}"`);
      }
    }
  }
});

test('one that cannot be listed is left out', () => {
  assert.equal(portablePattern('^[^\\s\\p{C}]+$'), undefined);
  assert.equal(portablePattern('^[a-z]+$'), '^[a-z]+$');
});
