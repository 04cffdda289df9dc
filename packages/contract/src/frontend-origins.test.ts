// What a manifest may name as an outside origin of its frontend, and what stands in its way to be read and granted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifest } from './domains/packages.ts';
import { frontendOrigins, isConnectResource, isSourceOrigin, sourceOrigin } from './frontend-origins.ts';

/** Faults of a manifest as `path: message`. */
function faults(csp: object, resources: readonly string[] = []): string[] {
  const parsed = manifest.safeParse({
    schemaVersion: 9,
    id: 'sample',
    version: '1.0.0',
    name: 'Sample',
    summary: 'A sample',
    frontend: { csp },
    permissions: resources.length === 0 ? [] : [{ id: 'network.connect', resources }],
  });
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

const tricks = [
  '*',
  'https:',
  'https://*',
  'https://*.example',
  'http://api.example',
  'data:',
  'data:text/html,x',
  'blob:',
  'wss://api.example',
  "'unsafe-eval'",
  "'self'",
  "https://api.example 'unsafe-eval'",
  'https://api.example; script-src *',
  'https://api.example;script-src',
  'https://api.example,https://evil.example',
  'https://api.example/',
  'https://api.example/v1?x=1',
  'https://api.example:443',
  'https://API.example',
  'https://user@api.example',
  'https://api.example#x',
  'https://аpple.com',
  'https://xn--pple-43d.com.',
  'https://[::1]',
  '//api.example',
  'api.example',
  '',
];

test('an origin is taken only as browsers write it, whatever it would become in a policy', () => {
  for (const trick of tricks) {
    assert.equal(isSourceOrigin(trick), false, trick);
    for (const kind of ['connect', 'image', 'media'])
      assert.notDeepEqual(faults({ [kind]: [trick] }, ['*']), [], `${kind} ${trick}`);
  }
  for (const origin of [
    'https://api.example',
    'https://api.example:8443',
    'https://xn--pple-43d.com',
    'https://10.0.0.1',
  ])
    assert.deepEqual(faults({ connect: [origin] }, [origin]), [], origin);
});

test('an origin of the frontend needs its grant by name: a wildcard stands for none', () => {
  const fault = 'frontend.csp.image.0: needs https://img.example among the resources of the permission network.connect';
  assert.deepEqual(faults({ image: ['https://img.example'] }), [fault]);
  for (const other of ['*', 'https://img.example:444', 'https://img.*', 'https://other.example'])
    assert.deepEqual(faults({ image: ['https://img.example'] }, [other]), [fault], other);
  assert.deepEqual(faults({ image: ['https://img.example'] }, ['https://other.example', 'https://img.example']), []);
});

test('no more outside origins are asked for than a frontend can use', () => {
  const origins = Array.from({ length: 49 }, (_, index) => `https://n${index}.example`);
  assert.deepEqual(faults({}, origins), ['permissions.0.resources: must name at most 48 origins']);
  assert.deepEqual(faults({}, origins.slice(1)), []);
});

test('a resource of network.connect is an origin that can be read letter by letter', () => {
  for (const resource of ['*', 'https://api.example', 'https://api.*', 'https://*', 'https://xn--pple-43d.com'])
    assert.ok(isConnectResource(resource), resource);
  for (const resource of [
    'https://аpple.com',
    'https://а*',
    'http://api.example',
    'api.example',
    'HTTPS://api.example',
  ])
    assert.match(faults({}, [resource])[0] ?? '', /^permissions\.0\.resources\.0: must be an https origin/, resource);
});

test('of what older packages named, the origin counts', () => {
  assert.equal(sourceOrigin('https://Api.example:443/v1?x=1'), 'https://api.example');
  assert.equal(sourceOrigin('https://аpple.com/'), 'https://xn--pple-43d.com');
  assert.equal(sourceOrigin('https://a;script-src *'), null);
  assert.deepEqual(
    frontendOrigins({
      connect: ['https://a.example/x', 'https://b.example'],
      image: ['https://a.example'],
      media: ['data:'],
    }),
    ['https://a.example', 'https://b.example'],
  );
  assert.deepEqual(frontendOrigins(undefined), []);
});
