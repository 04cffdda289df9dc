// What a start says of each part, also of those that are not configured.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from '@platform/core/config';
import { parts } from './parts/table.ts';

for (const [where, environment] of [
  ['a laptop', {}],
  ['a machine without backends', { PLATFORM_LOCAL_NODE: 'false' }],
] as const) {
  test(`no line of the greeting of ${where} lacks what it is about`, () => {
    const config = readConfiguration(environment, { isRoot: false, home: '/home/ada' });
    for (const { name, greeting } of parts as readonly { name: string; greeting?: (typeof parts)[1]['greeting'] }[]) {
      const { facts = [], addresses = [] } = greeting?.({ config, report: null }) ?? {};
      for (const { label, value } of [...facts, ...addresses]) assert.notEqual(value.trim(), '', `${name}: ${label}`);
    }
  });
}
