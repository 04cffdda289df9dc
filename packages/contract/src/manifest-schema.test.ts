// manifest.schema.json is made from the schema that publishing checks with, and accepts what it accepts.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import * as z from 'zod';
import { manifest } from './domains.ts';
import { MANIFEST_SCHEMA_FILE, manifestSchema, memberDescriptions } from './manifest-schema.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const text = readFileSync(MANIFEST_SCHEMA_FILE, 'utf8');
const schema = z.fromJSONSchema(JSON.parse(text));

test('the checked-in manifest.schema.json is the one the manifest’s schema makes', () => {
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(manifestSchema())), 'run `npm run openapi`');
});

test('every member at the top and of the two parts is described', () => {
  const { properties } = JSON.parse(text) as { properties: Record<string, { properties?: object }> };
  const members = [
    ...Object.keys(properties),
    ...['frontend', 'workload'].flatMap((part) =>
      Object.keys(properties[part]?.properties ?? {}).map((name) => `${part}.${name}`),
    ),
  ];
  assert.deepEqual(
    members.filter((member) => memberDescriptions[member] === undefined),
    [],
  );
});

for (const file of globSync('{apps,examples}/*/manifest.json', { cwd: ROOT })) {
  test(`${file} is valid by both`, () => {
    const value: unknown = JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
    assert.ok(manifest.safeParse(value).success);
    assert.deepEqual(schema.safeParse(value).error, undefined);
  });
}

const valid = {
  $schema: './manifest.schema.json',
  ...{ schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'Sample', summary: 'A sample.', frontend: {} },
};

test('a manifest may name its JSON Schema', () => {
  assert.ok(manifest.safeParse(valid).success);
  assert.ok(schema.safeParse(valid).success);
});

for (const [what, change] of [
  ['no summary', { summary: undefined }],
  ['an unknown member', { sumary: 'A sample.' }],
  ['an unknown permission', { permissions: [{ id: 'no.such.permission', resources: ['*'] }] }],
  ['an unknown runtime', { workload: { runtime: 'python' } }],
  ['a bad id', { id: 'Sample' }],
  ['a $schema that is no text', { $schema: 7 }],
] as const) {
  test(`${what}: refused by both`, () => {
    const value: unknown = JSON.parse(JSON.stringify({ ...valid, ...change }));
    assert.ok(!manifest.safeParse(value).success);
    assert.ok(!schema.safeParse(value).success);
  });
}
