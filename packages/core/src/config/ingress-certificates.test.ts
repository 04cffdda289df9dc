// The variables of an Ingress that has certificates: what belongs together, and what contradicts itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from './env.ts';

const read = (environment: Record<string, string>) =>
  readConfiguration(environment, { isRoot: false, home: '/home/ada' });
const DOMAIN = { PLATFORM_INGRESS_DOMAIN: 'apps-in-public.example' };
const DIRECTORY = 'https://acme-v02.api.letsencrypt.org/directory';
const ACME = { ...DOMAIN, PLATFORM_INGRESS_TLS: 'acme', PLATFORM_ACME_DIRECTORY: DIRECTORY };

test('certificates come from a folder, or from an authority by HTTP-01 or by a command', () => {
  const plain = { PLATFORM_INGRESS_HTTP_LISTEN: '0.0.0.0:80' };
  const files = read({ ...DOMAIN, ...plain, PLATFORM_INGRESS_TLS: 'files:/etc/platform/tls/' });
  assert.deepEqual(files.ingressTls, { kind: 'files', folder: '/etc/platform/tls/' });
  assert.deepEqual(files.ingressHttpListen, { host: '0.0.0.0', port: 80 });
  const kind = 'acme';
  assert.deepEqual(read({ ...ACME, ...plain, PLATFORM_ACME_EMAIL: 'ada@example.org' }).ingressTls, {
    ...{ kind, directory: DIRECTORY, email: 'ada@example.org', dnsHook: null },
  });
  assert.deepEqual(read({ ...ACME, PLATFORM_ACME_DNS_HOOK: '/bin/true' }).ingressTls, {
    ...{ kind, directory: DIRECTORY, email: '', dnsHook: '/bin/true' },
  });
});

const wrong: Readonly<Record<string, readonly [Record<string, string>, RegExp]>> = {
  'another word': [{ PLATFORM_INGRESS_TLS: 'on' }, /^PLATFORM_INGRESS_TLS is "on"; set it to acme/],
  'a relative folder': [{ PLATFORM_INGRESS_TLS: 'files:tls' }, /^PLATFORM_INGRESS_TLS is "files:tls"/],
  'no authority': [{ PLATFORM_INGRESS_TLS: 'acme' }, /PLATFORM_ACME_DIRECTORY is not set/],
  'an authority over plain HTTP': [
    { ...ACME, PLATFORM_ACME_DIRECTORY: 'http://ca.example/dir' },
    /^PLATFORM_ACME_DIRECTORY is "http:\/\/ca\.example\/dir"; set an https URL/,
  ],
  'no way to prove a name': [
    ACME,
    /^PLATFORM_INGRESS_TLS is acme, but .* set PLATFORM_INGRESS_HTTP_LISTEN .* or PLATFORM_ACME_DNS_HOOK/,
  ],
  'no mail address': [{ ...ACME, PLATFORM_ACME_EMAIL: 'ada' }, /^PLATFORM_ACME_EMAIL is "ada"/],
  'a command that is none': [
    { ...ACME, PLATFORM_ACME_DNS_HOOK: '/etc/passwd' },
    /^PLATFORM_ACME_DNS_HOOK names \/etc\/passwd, which cannot be run/,
  ],
  'a command that is not there': [{ ...ACME, PLATFORM_ACME_DNS_HOOK: '/nowhere/hook' }, /which cannot be run/],
  'an authority without ACME': [
    { PLATFORM_ACME_DIRECTORY: DIRECTORY },
    /^PLATFORM_ACME_DIRECTORY is set without PLATFORM_INGRESS_TLS=acme/,
  ],
  'plain HTTP beside nothing': [
    { PLATFORM_INGRESS_HTTP_LISTEN: '0.0.0.0:80' },
    /^PLATFORM_INGRESS_HTTP_LISTEN is set without PLATFORM_INGRESS_TLS/,
  ],
};
for (const [what, [environment, message]] of Object.entries(wrong)) {
  test(`the start is refused: ${what}`, () => {
    assert.throws(
      () => read({ ...DOMAIN, ...environment }),
      (error: Error) => message.test(error.message) || assert.fail(error.message),
    );
  });
}
