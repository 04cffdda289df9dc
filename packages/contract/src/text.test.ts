// What no text that a person reads may hold, for every schema that takes such a text from outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { passkeyLabelBody } from './domains/accounts.ts';
import { createWorkLeaseBody } from './domains/leases.ts';
import { installationStatus, registerNodeBody } from './domains/nodes.ts';
import { publishNotificationBody } from './domains/notifications.ts';
import { manifest } from './domains/packages.ts';
import { searchQuery, searchReplaceBody } from './domains/search.ts';
import { plainLine } from './plain-text.ts';
import { isStorable, readableLine, readableText } from './text.ts';

const harmful: readonly (readonly [string, string])[] = [
  ['NUL', '\u0000'],
  ['a bell', '\u0007'],
  ['an escape', '\u001b'],
  ['delete', '\u007f'],
  ['a C1 control', '\u009b'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a right-to-left embedding', '\u202b'],
  ['a right-to-left override', '\u202e'],
  ['an isolate', '\u2066'],
  ['the end of an isolate', '\u2069'],
  ['a high surrogate', '\ud83d'],
  ['a low surrogate', '\udc00'],
];
/** What must stay possible: every script, its joiners and marks, emoji. */
const harmless = ['Größe', 'ملاحظات', 'هست\u200cم', 'שָׁלוֹם\u200f', '第一章：开始', '👩‍💻 🏳️‍🌈', 'e\u0301', 'a\u00a0b'];

/** Every schema that takes text from outside, with a value it takes. */
const schemas: readonly (readonly [string, z.ZodType, object])[] = [
  [
    'manifest',
    manifest,
    {
      $schema: 'https://a.example/manifest.schema.json',
      schemaVersion: 9,
      id: 'sample',
      version: '1.0.0',
      name: 'Sample',
      summary: 'A sample',
      changes: 'News',
      visibility: 'public',
      icon: 'icon.svg',
      screenshots: ['a.png'],
      categories: ['tools'],
      systemRoles: ['launcher'],
      frontend: {
        entry: 'index.html',
        chrome: 'auto',
        csp: { connect: ['https://a.example'], image: ['https://b.example'], media: ['https://c.example'] },
      },
      workload: {
        runtime: 'oci',
        image: 'image.tar',
        mode: 'always',
        environment: { A: 'b' },
        mcp: { path: '/mcp' },
        triggers: [{ name: 'daily', path: '/daily' }],
      },
      permissions: [
        { id: 'notifications.publish', resources: ['news'], reason: 'To tell you' },
        { id: 'network.connect', resources: ['https://a.example', 'https://b.example', 'https://c.example'] },
      ],
      publicEndpoints: ['GET:/a'],
      publicPorts: [{ name: 'game', protocol: 'udp', containerPort: 1 }],
      secretSlots: [{ name: 'slot', origin: 'https://d.example', pathPrefix: '/v1', methods: ['GET'] }],
    },
  ],
  ['manifest with an executable', manifest, packageOfExecutable()],
  ['manifest of an agent', manifest, packageOfAgent()],
  [
    'notification',
    publishNotificationBody,
    {
      topic: 'news',
      title: 'Title',
      body: 'Body',
      dedupeKey: 'key',
      presentation: { actions: [{ id: 'a', label: 'Open', type: 'open-app', target: '?a=1' }] },
    },
  ],
  ['search entries', searchReplaceBody, { entries: [{ id: 'a', title: 'b', kind: 'c', url: '/d', text: 'e' }] }],
  ['search', searchQuery, { q: 'a', kind: 'b', app: 'sample' }],
  ['passkey label', passkeyLabelBody, { label: 'Blue key' }],
  ['work lease', createWorkLeaseBody, { durationSeconds: 60, reason: 'Encoding' }],
  [
    'node registration',
    registerNodeBody,
    {
      controlUrl: 'https://node.example',
      controlCredential: 'c'.repeat(20),
      inboundOrigin: 'https://node.example',
      machine: { memoryMiB: 1, cpus: 1, driver: 'process', mechanism: 'bubblewrap', runtimes: ['node'], version: '1' },
    },
  ],
];

function packageOfAgent(): object {
  const agent = { instructions: 'instructions.md', model: { provider: 'openai', id: 'small' } };
  const permissions = [{ id: 'intelligence.use', resources: ['*'], reason: 'Answers' }];
  const workload = { runtime: 'agent', agent };
  return { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'S', summary: 'S', workload, permissions };
}

function packageOfExecutable(): object {
  const workload = { runtime: 'binary', entry: 'server', processor: 'x64' };
  return { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'S', summary: 'S', workload };
}

/** Texts that only have to be stored: no person reads them as words of the platform. */
const onlyStored = /environment|dedupeKey$|\.text$|\.url$|\.body$|^search\.q$/;
/** Core checks these further than a schema can (core/src/nodes/register-node.ts), and refuses NUL in every body. */
const checkedLater = /\.(controlUrl|inboundOrigin|controlCredential)$/;

function* placesOf(value: unknown, path: string): Generator<readonly [string, (text: string) => unknown]> {
  if (typeof value === 'string') yield [path, (text) => text];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const [place, change] of placesOf(member, `${path}.${name}`)) {
      const changed = (text: string) =>
        Array.isArray(value) ? value.with(Number(name), change(text)) : { ...value, [name]: change(text) };
      yield [place, changed];
    }
  }
}

for (const [what, schema, good] of schemas) {
  test(`no text of a ${what} holds what could hide, break or reverse a line`, () => {
    assert.equal(schema.safeParse(good).success, true, JSON.stringify(schema.safeParse(good).error?.issues));
    for (const [place, change] of placesOf(good, what)) {
      if (checkedLater.test(place)) continue;
      for (const [name, character] of harmful) {
        const stored = isStorable(character);
        if (stored && onlyStored.test(place)) continue;
        assert.equal(schema.safeParse(change(`/a${character}b`)).success, false, `${place} takes ${name}`);
        assert.equal(schema.safeParse(change(`https://a.example/a${character}b`)).success, false, `${place}, ${name}`);
        assert.equal(schema.safeParse(change(`a${character}b`)).success, false, `${place} takes ${name}`);
      }
    }
  });
}

test('the samples have every member of a manifest that takes text', () => {
  const places = schemas.flatMap(([what, , good]) => [...placesOf(good, what)].map(([place]) => place));
  const text = z.toJSONSchema(manifest, { io: 'input', unrepresentable: 'any' });
  for (const member of textsIn(text))
    assert.ok(
      places.some((place) => new RegExp(`^manifest[^.]*${member}$`).test(place)),
      member,
    );
});

/** Of a JSON Schema: patterns of the places where it takes a string. */
function* textsIn(schema: object, path = ''): Generator<string> {
  const { type, properties, items, anyOf, additionalProperties } = schema as {
    type?: string;
    properties?: Record<string, object>;
    items?: object;
    anyOf?: object[];
    additionalProperties?: object | boolean;
  };
  const isChosen = 'const' in schema || 'enum' in schema;
  if (type === 'string' && !isChosen) yield path;
  for (const [name, member] of Object.entries(properties ?? {}))
    yield* textsIn(member, `${path}\\.${name.replace('$', '\\$')}`);
  if (items !== undefined) yield* textsIn(items, `${path}\\.\\d+`);
  for (const member of anyOf ?? []) yield* textsIn(member, path);
  if (typeof additionalProperties === 'object') yield* textsIn(additionalProperties, `${path}\\.\\w+`);
}

test('lines and texts in every script are taken as they are', () => {
  for (const text of harmless) {
    assert.match(text, readableLine[0]);
    assert.equal(readableText(100).parse(text), text);
    assert.equal(plainLine(text), text.replace('\u00a0', ' '));
  }
});

test('a text may have tabs and line breaks, and CRLF is one of them', () => {
  assert.equal(readableText(5).parse('a\r\n\tb'), 'a\n\tb');
  for (const text of ['a\rb', 'a\u000bb', 'a\u2028b', 'abcdef'])
    assert.equal(readableText(5).safeParse(text).success, false);
});

test('a report of a node is taken whatever stands in its sentences, as plain lines', () => {
  const status = {
    installationId: 'inst-01890000-0000-7000-8000-000000000000',
    state: 'failed',
    since: '2026-01-01T00:00:00.000Z',
    reason: 'It ended:\r\n\u001b[31m\u202epanic',
    restarts: 0,
    lastExit: { at: '2026-01-01T00:00:00.000Z', reason: 'a\u0000b' },
    unenforced: ['a\ud800b'],
  };
  const taken = installationStatus.parse(status);
  assert.equal(taken.reason, 'It ended: [31m panic');
  assert.equal(taken.lastExit?.reason, 'a b');
  assert.deepEqual(taken.unenforced, ['a b']);
});

test('the name and summary of an app show something', () => {
  const sample = { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'Sample', summary: 'A sample' };
  for (const nothing of [
    '\u200b',
    '\u3164',
    '\u2800',
    '\u00ad\u2060',
    '\u115f\u1160',
    '\ufe0f',
    '\u0301',
    '\u{e0041}',
  ]) {
    assert.equal(manifest.safeParse({ ...sample, name: nothing }).success, false, escape(nothing));
    assert.equal(manifest.safeParse({ ...sample, summary: nothing }).success, false, escape(nothing));
  }
  for (const name of harmless) {
    const frontend = { entry: 'index.html' };
    assert.ok(manifest.safeParse({ ...sample, name, summary: name, frontend }).success, name);
  }
});
