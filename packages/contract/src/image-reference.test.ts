// Which names of images are references, and which of those an operator's list allows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isImageAllowed, isRegistryEntry, readImageReference } from './image-reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

test('a name with a digest is a reference, and nothing else is', () => {
  assert.deepEqual(readImageReference(`registry.example:5000/team/the_app@${digest}`), {
    registry: 'registry.example:5000',
    repository: 'team/the_app',
    digest,
  });
  assert.deepEqual(
    readImageReference(`registry.example/app:1.0@${digest}`),
    readImageReference(`registry.example/app@${digest}`),
  );
  for (const text of [
    'registry.example/app',
    'registry.example/app:1.0',
    `app@${digest}`,
    `registry.example/app@${digest.toUpperCase()}`,
    `registry.example/app@${digest}0`,
    `registry.example/app@sha512:${'0'.repeat(128)}`,
    `registry.example/../app@${digest}`,
    `registry.example//app@${digest}`,
    `registry.example/app%2f@${digest}`,
    `registry.example/app?x=@${digest}`,
    `user@registry.example/app@${digest}`,
    `https://registry.example/app@${digest}`,
    `Registry.example/app@${digest}`,
    `registry.example./app@${digest}`,
    `registry.example/app@${digest}\n`,
    `registry.example/${'a/'.repeat(300)}app@${digest}`,
  ])
    assert.equal(readImageReference(text), undefined, text);
});

test('a list allows a registry, or what lies below a path of one, and nothing that only begins alike', () => {
  const allows = (name: string, ...entries: string[]) => {
    const reference = readImageReference(`${name}@${digest}`);
    assert.ok(reference !== undefined);
    return isImageAllowed(reference, entries);
  };
  assert.ok(allows('registry.example/team/app', 'registry.example'));
  assert.ok(allows('registry.example/team/app', 'other.example', 'registry.example/team'));
  assert.ok(allows('registry.example/team/app', 'registry.example/team/app'));
  assert.ok(!allows('registry.example/team/app'));
  assert.ok(!allows('registry.example/team/app', 'registry.example/tea'));
  assert.ok(!allows('registry.example/teams/app', 'registry.example/team'));
  assert.ok(!allows('registry.example.evil.example/app', 'registry.example'));
  assert.ok(!allows('registry.example:5000/app', 'registry.example'));
});

test('entries of the list are hosts with an optional port and path', () => {
  for (const entry of ['registry.example', 'registry.example:5000/team/app', 'localhost:5000'])
    assert.ok(isRegistryEntry(entry), entry);
  for (const entry of ['', '*', 'https://registry.example', 'registry.example/', 'Registry.example', 'a b'])
    assert.ok(!isRegistryEntry(entry), entry);
});
