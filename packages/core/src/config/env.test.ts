// A wrong or contradictory variable stops the start with one line that names it and says what to do.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { configurationVariables } from '@platform/contract';
import { newPushCertificate } from '../../../../tests/support/push-service.ts';
import { ZOD_PHRASES } from '../../../../tests/support/zod-phrases.ts';
import { readConfiguration } from './env.ts';
import { StartError } from './start-error.ts';

const user = { isRoot: false, home: '/home/ada' };
const read = (environment: Record<string, string>) => readConfiguration(environment, user);

test('without any variable the platform is the embedded one on loopback', () => {
  const config = read({});
  assert.equal(config.origin, 'http://shell.platform.localhost:8787');
  assert.equal(config.rpId, 'shell.platform.localhost');
  assert.equal(config.listenHost, '127.0.0.1');
  assert.equal(config.listenPort, 8787);
  assert.equal(config.nodePort, 8788);
  assert.equal(config.databaseUrl, null);
  assert.equal(config.dataDirectory, '/home/ada/.local/share/platform');
  assert.equal(config.sessionMilliseconds, 2_592_000_000);
  assert.equal(config.allowUnsandboxed, false);
  assert.deepEqual(config.workloadDns, ['9.9.9.9', '1.1.1.1']);
});

test('the data folder follows the user, the desktop convention, and the variable', () => {
  assert.equal(readConfiguration({}, { isRoot: true, home: '/root' }).dataDirectory, '/var/lib/platform');
  assert.equal(read({ XDG_DATA_HOME: '/data/ada' }).dataDirectory, '/data/ada/platform');
  assert.equal(read({ PLATFORM_DATA_DIR: '/srv/p' }).masterKeyFile, '/srv/p/master.key');
});

test('rates change for the kinds that are named, and for no other', () => {
  const { rates } = read({ PLATFORM_RATE_LIMITS: 'authentication=60, notification=120/240' });
  assert.deepEqual(rates.authentication, { perMinute: 60, burst: 60 });
  assert.deepEqual(rates.notification, { perMinute: 120, burst: 240 });
  assert.deepEqual(rates.service, read({}).rates.service);
});

test('a deployment on https takes its ports from the listener, not from the public address', () => {
  const config = read({
    PLATFORM_OS_ORIGIN: 'https://cloud.example.org',
    PLATFORM_NODE_ORIGIN: 'https://node.example.org',
    PLATFORM_APPS_DOMAIN: 'apps-of-example.net',
  });
  assert.equal(config.listenPort, 8787);
  assert.equal(config.nodePort, 8788);
  assert.equal(config.rpId, 'cloud.example.org');
});

test('who may publish are everybody, the master account, or accounts that are named', () => {
  assert.equal(read({}).publishers, 'everyone');
  assert.deepEqual(read({ PLATFORM_PUBLISHERS: 'Ada, bob' }).publishers, ['ada', 'bob']);
  for (const [value, said] of [
    [',', /PLATFORM_PUBLISHERS names nobody; set everyone, master, or names/],
    ['ada,No One', /names "No One", which is not an account name/],
    ['master', /is master, but PLATFORM_MASTER_ACCOUNT is not set/],
  ] as const)
    assert.throws(() => read({ PLATFORM_PUBLISHERS: value }), said);
  for (const [name, value] of [
    ['PLATFORM_REGISTRATION', 'Invite'],
    ['PLATFORM_PASSKEY_BACKUP_CHANGES', 'yes'],
    ['PLATFORM_DEFAULT_PLAN', 'gold'],
  ])
    assert.throws(() => read({ [name ?? '']: value ?? '' }), new RegExp(`${name} is "${value}"; use one of`));
});

test('the operator’s contact is one readable line, or none', () => {
  assert.equal(read({}).operatorContact, null);
  assert.equal(read({ PLATFORM_OPERATOR_CONTACT: 'Ada, ada@example.com' }).operatorContact, 'Ada, ada@example.com');
  for (const contact of ['two\nlines', 'turned \u202e round', 'x'.repeat(121)])
    assert.throws(() => read({ PLATFORM_OPERATOR_CONTACT: contact }), /PLATFORM_OPERATOR_CONTACT/);
});

test('credentials of OpenSearch are taken out of its address and never printed', () => {
  const config = read({ PLATFORM_SEARCH_OPENSEARCH_URL: 'https://platform:s%40crt@search.example:9200/' });
  assert.deepEqual(config.searchOpenSearch, {
    address: 'https://search.example:9200',
    auth: { username: 'platform', password: 's@crt' },
  });
  assert.doesNotMatch(JSON.stringify(config.effective), /s%40crt|s@crt/);
  assert.equal(read({}).searchOpenSearch, null);
});

test('a proxy in front may have any ports: the platform listens on others', () => {
  const seen = (environment: Record<string, string>) => {
    const { origin, listenPort, nodeOrigin, nodePort, effective } = read(environment);
    const shown = effective.filter(({ name }) => /^PLATFORM_(NODE_)?LISTEN_PORT$/.test(name)).map(({ value }) => value);
    assert.deepEqual(shown, [String(listenPort), String(nodePort)], 'what is printed');
    return [new URL(origin).host, listenPort, new URL(nodeOrigin).host, nodePort];
  };
  const proxied = {
    PLATFORM_OS_ORIGIN: 'https://cloud.example.org',
    PLATFORM_NODE_ORIGIN: 'https://backends.example.org',
    PLATFORM_APPS_DOMAIN: 'apps-of-example.net',
  };
  assert.deepEqual(seen(proxied), ['cloud.example.org', 8787, 'backends.example.org', 8788]);
  const chosen = { PLATFORM_LISTEN_PORT: '3000', PLATFORM_NODE_LISTEN_PORT: '3001' };
  assert.deepEqual(seen({ ...proxied, ...chosen }), ['cloud.example.org', 3000, 'backends.example.org', 3001]);
  const onePort = {
    PLATFORM_OS_ORIGIN: 'http://shell.platform.localhost:8000',
    PLATFORM_NODE_ORIGIN: 'http://node.platform.localhost:8000',
  };
  assert.deepEqual(seen({ ...onePort, ...chosen }).slice(1), [3000, 'node.platform.localhost:8000', 3001]);
});

const wrong: readonly [name: string, environment: Record<string, string>][] = [
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'shell' }],
  ['PLATFORM_SEARCH_OPENSEARCH_URL', { PLATFORM_SEARCH_OPENSEARCH_URL: 'search.example:9200' }],
  ['PLATFORM_SEARCH_OPENSEARCH_URL', { PLATFORM_SEARCH_OPENSEARCH_URL: 'http://search.example:9200' }],
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'ftp://shell.platform.localhost' }],
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'http://shell.platform.localhost:8787/x' }],
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'http://cloud.example.org' }],
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'https://192.0.2.1' }],
  ['PLATFORM_OS_ORIGIN', { PLATFORM_OS_ORIGIN: 'http://user@shell.platform.localhost:8787' }],
  ['PLATFORM_NODE_ORIGIN', { PLATFORM_NODE_ORIGIN: 'http://node.platform.localhost:8787' }],
  ['PLATFORM_NODE_ORIGIN', { PLATFORM_NODE_ORIGIN: 'http://shell.platform.localhost:8788' }],
  ['PLATFORM_NODE_ORIGIN', { PLATFORM_NODE_ORIGIN: 'http://node.shell.platform.localhost:8788' }],
  ['PLATFORM_NODE_ORIGIN', { PLATFORM_NODE_ORIGIN: 'http://node.apps.platform.localhost:8788' }],
  ['PLATFORM_RP_ID', { PLATFORM_RP_ID: 'example.org' }],
  ['PLATFORM_APPS_DOMAIN', { PLATFORM_APPS_DOMAIN: 'apps.shell.platform.localhost' }],
  ['PLATFORM_APPS_DOMAIN', { PLATFORM_APPS_DOMAIN: 'platform.localhost' }],
  ['PLATFORM_APPS_DOMAIN', { PLATFORM_APPS_DOMAIN: 'Apps.Example' }],
  ['PLATFORM_APPS_DOMAIN', { PLATFORM_RP_ID: 'platform.localhost' }],
  ['PLATFORM_APPS_DOMAIN', { PLATFORM_APPS_DOMAIN: '127.0.0.1' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: 'platform.localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: 'x.shell.platform.localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: 'apps.platform.localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: 'public.apps.platform.localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_APPS_DOMAIN: 'a.localhost', PLATFORM_INGRESS_DOMAIN: 'localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_APPS_DOMAIN: 'a.localhost', PLATFORM_RP_ID: 'platform.localhost' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: 'Public.Example' }],
  ['PLATFORM_INGRESS_DOMAIN', { PLATFORM_INGRESS_DOMAIN: '127.0.0.1' }],
  ['PLATFORM_INGRESS_LISTEN', { PLATFORM_INGRESS_LISTEN: '8791' }],
  ['PLATFORM_INGRESS_LISTEN', { PLATFORM_INGRESS_LISTEN: 'public.example.org:443' }],
  ['PLATFORM_INGRESS_TLS', { PLATFORM_INGRESS_TLS: 'yes' }],
  ['PLATFORM_INGRESS_TLS', { PLATFORM_INGRESS_TLS: 'files:certificates' }],
  ['PLATFORM_NODE_ORIGIN', { PLATFORM_NODE_ORIGIN: 'http://node.public.platform.localhost:8788' }],
  ['PLATFORM_PUBLIC_HOST', { PLATFORM_PUBLIC_HOST: 'https://games.example.org' }],
  ['PLATFORM_UDP_PORT_RANGE', { PLATFORM_UDP_PORT_RANGE: '40000' }],
  ['PLATFORM_UDP_PORT_RANGE', { PLATFORM_UDP_PORT_RANGE: '50000-40000' }],
  ['PLATFORM_UDP_PORT_RANGE', { PLATFORM_UDP_PORT_RANGE: '53-1053' }],
  ['PLATFORM_WORKLOAD_DNS', { PLATFORM_WORKLOAD_DNS: '127.0.0.53' }],
  ['PLATFORM_WORKLOAD_DNS', { PLATFORM_WORKLOAD_DNS: '9.9.9.9, dns.example' }],
  ['PLATFORM_WORKLOAD_DNS', { PLATFORM_WORKLOAD_DNS: '1.1.1.1,1.0.0.1,9.9.9.9,8.8.8.8' }],
  ['PLATFORM_SESSION_TTL_MS', { PLATFORM_SESSION_TTL_MS: 'a month' }],
  ['PLATFORM_SESSION_TTL_MS', { PLATFORM_SESSION_TTL_MS: '1' }],
  ['PLATFORM_CHALLENGE_TTL_MS', { PLATFORM_CHALLENGE_TTL_MS: '1e99' }],
  ['PLATFORM_SESSION_COOKIE', { PLATFORM_SESSION_COOKIE: 'a b' }],
  ['PLATFORM_SESSION_COOKIE', { PLATFORM_SESSION_COOKIE: '__Host-session' }],
  ['PLATFORM_LISTEN_PORT', { PLATFORM_LISTEN_PORT: '0' }],
  ['PLATFORM_LISTEN_PORT', { PLATFORM_LISTEN_PORT: '127.0.0.1:3000' }],
  ['PLATFORM_NODE_LISTEN_PORT', { PLATFORM_NODE_LISTEN_PORT: '65536' }],
  ['PLATFORM_NODE_LISTEN_PORT', { PLATFORM_LISTEN_PORT: '3000', PLATFORM_NODE_LISTEN_PORT: '3000' }],
  ['PLATFORM_NODE_LISTEN_PORT', { PLATFORM_LISTEN_PORT: '8788' }],
  ['PLATFORM_INGRESS_PUBLIC_PORT', { PLATFORM_INGRESS_PUBLIC_PORT: 'https' }],
  ['PLATFORM_LISTEN_HOST', { PLATFORM_LISTEN_HOST: 'localhost' }],
  ['PLATFORM_TRUSTED_PROXIES', { PLATFORM_TRUSTED_PROXIES: '10.0.0.1, everybody' }],
  ['PLATFORM_TRUSTED_PROXIES', { PLATFORM_TRUSTED_PROXIES: '10.0.0.0/33' }],
  ['PLATFORM_DATABASE_URL', { PLATFORM_DATABASE_URL: 'mysql://x' }],
  ['PLATFORM_DATA_DIR', { PLATFORM_DATA_DIR: 'data' }],
  ['PLATFORM_MASTER_KEY_FILE', { PLATFORM_MASTER_KEY_FILE: 'key' }],
  ['PLATFORM_MASTER_ACCOUNT', { PLATFORM_MASTER_ACCOUNT: 'Two Words' }],
  ['PLATFORM_RUNTIME_DRIVER', { PLATFORM_RUNTIME_DRIVER: 'magic' }],
  ['PLATFORM_RUNTIME_IMAGE_REGISTRIES', { PLATFORM_RUNTIME_IMAGE_REGISTRIES: 'registry.example, *' }],
  ['PLATFORM_RUNTIME_IMAGE_REGISTRIES', { PLATFORM_RUNTIME_IMAGE_REGISTRIES: 'https://registry.example' }],
  ['PLATFORM_MICROVM_MONITOR', { PLATFORM_MICROVM_MONITOR: 'xen' }],
  ['PLATFORM_MICROVM_KERNEL', { PLATFORM_MICROVM_KERNEL: 'boot/vmlinuz' }],
  ['PLATFORM_RUNTIME_ALLOW_UNSANDBOXED', { PLATFORM_RUNTIME_ALLOW_UNSANDBOXED: 'yes' }],
  ['PLATFORM_RATE_LIMITS', { PLATFORM_RATE_LIMITS: 'everything=5' }],
  ['PLATFORM_RATE_LIMITS', { PLATFORM_RATE_LIMITS: 'service=0' }],
  ['PLATFORM_RATE_LIMITS', { PLATFORM_RATE_LIMITS: 'service=fast' }],
  ['PLATFORM_NOTIFICATION_DAYS', { PLATFORM_NOTIFICATION_DAYS: '0' }],
  ['PLATFORM_NOTIFICATIONS_KEPT', { PLATFORM_NOTIFICATIONS_KEPT: 'all' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'ada@example.org' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'mailto:ada' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'mailto:ada@localhost' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'mailto:ada@home.local' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'mailto:ada@home.local.' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'mailto:ada@example.org,bob@home.local' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'http://example.org' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'https://localhost/contact' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'https://home.LOCAL' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'https://[::1]/' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'https://192.168.1.10/' }],
  ['PLATFORM_VAPID_SUBJECT', { PLATFORM_VAPID_SUBJECT: 'https://ada:secret@example.org' }],
  ['PLATFORM_OUTBOUND_PRIVATE_ORIGINS', { PLATFORM_OUTBOUND_PRIVATE_ORIGINS: 'http://git.example.lan' }],
  ['PLATFORM_OUTBOUND_PRIVATE_ORIGINS', { PLATFORM_OUTBOUND_PRIVATE_ORIGINS: 'https://*.example.lan' }],
  ['PLATFORM_OUTBOUND_CA_FILE', { PLATFORM_OUTBOUND_CA_FILE: '/nonexistent/ca.pem' }],
  ['PLATFORM_OUTBOUND_CA_FILE', { PLATFORM_OUTBOUND_CA_FILE: import.meta.filename }],
  ['PLATFORM_OUTBOUND_CA_FILE', { PLATFORM_OUTBOUND_CA_FILE: 'ca.pem' }],
  ['PLATFORM_WEB_PUSH_PRIVATE_ORIGINS', { PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: 'http://push.example.lan' }],
  ['PLATFORM_WEB_PUSH_PRIVATE_ORIGINS', { PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: 'https://push.example.lan/up' }],
  ['PLATFORM_WEB_PUSH_PRIVATE_ORIGINS', { PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: 'https://*.example.lan' }],
  ['PLATFORM_METRICS_LISTEN', { PLATFORM_METRICS_LISTEN: '0.0.0.0:9090' }],
  ['PLATFORM_METRICS_LISTEN', { PLATFORM_METRICS_LISTEN: '127.0.0.1' }],
  ['PLATFORM_LOG_LEVEL', { PLATFORM_LOG_LEVEL: 'loud' }],
  ['PLATFORM_PRF_LEGACY_SALT', { PLATFORM_PRF_LEGACY_SALT: 'short' }],
  ['PLATFORM_OS_ORIGN', { PLATFORM_OS_ORIGN: 'http://typo.localhost' }],
];

for (const [name, environment] of wrong) {
  test(`${JSON.stringify(environment)} stops the start with one line about ${name}`, () => {
    assert.throws(
      () => read(environment),
      (error: unknown) => {
        assert.ok(error instanceof StartError);
        assert.equal(error.code, 'wrong_variable');
        assert.ok(error.message.startsWith(`${name} `), error.message);
        assert.ok(!error.message.includes('\n'));
        return true;
      },
    );
  });
}

test('an unknown variable is refused, with the name that was probably meant', () => {
  for (const [name, meant] of Object.entries({
    PLATFORM_OS_ORIGN: 'PLATFORM_OS_ORIGIN',
    PLATFORM_LISTENPORT: 'PLATFORM_LISTEN_PORT',
  }))
    assert.throws(() => read({ [name]: 'x' }), { message: new RegExp(`^${name} .*did you mean ${meant}\\?`) });
  assert.throws(() => read({ PLATFORM_COLOUR: 'x' }), {
    message: 'PLATFORM_COLOUR is not a variable of the platform; docs/configuration.md lists the names.',
  });
});

test('every variable of the specification and its contract is known by name', () => {
  const specified = `
    OS_ORIGIN RP_ID RP_NAME SESSION_TTL_MS CHALLENGE_TTL_MS SESSION_COOKIE DATABASE_URL DATA_DIR APPS_DOMAIN INGRESS_DOMAIN
    PUBLIC_HOST UDP_PORT_RANGE MASTER_ACCOUNT MASTER_KEY_FILE INGRESS_LISTEN INGRESS_TLS INGRESS_RATE INGRESS_BURST
    INGRESS_CONCURRENCY INGRESS_BODY_MIB INGRESS_HEADER_KIB ACME_DIRECTORY ACME_EMAIL TRUSTED_PROXIES
    OUTBOUND_PRIVATE_ORIGINS OUTBOUND_CA_FILE DEFAULT_PLAN ACCOUNT_DISK_MIB INTELLIGENCE_FILE OBJECT_STORE_ENDPOINT
    OBJECT_STORE_REGION OBJECT_STORE_BUCKET OBJECT_STORE_CREDENTIALS_FILE OBJECT_STORE_PATH_STYLE RUNTIME_DRIVER
    VAPID_SUBJECT LOG_LEVEL MESSAGING_SERVER_NAME MESSAGING_BRIDGE_URL MESSAGING_BRIDGE_TOKEN
  `;
  const known = Object.keys(configurationVariables);
  const names = specified.trim().split(/\s+/);
  assert.deepEqual(
    names.filter((name) => !known.includes(`PLATFORM_${name}`)),
    [],
  );
});

test('a messaging bridge needs its address and its token: with one alone the platform starts and says so', () => {
  const PLATFORM_MESSAGING_BRIDGE_URL = 'https://bridge.example.net/';
  const PLATFORM_MESSAGING_BRIDGE_TOKEN = 'a'.repeat(32);
  const both = read({ PLATFORM_MESSAGING_BRIDGE_URL, PLATFORM_MESSAGING_BRIDGE_TOKEN });
  const url = 'https://bridge.example.net';
  assert.deepEqual(both.messaging.bridge, { kind: 'configured', url, token: PLATFORM_MESSAGING_BRIDGE_TOKEN });
  assert.deepEqual(both.notices, []);
  assert.doesNotMatch(JSON.stringify(both.effective), /aaaa/);
  for (const [one, missing] of [
    [{ PLATFORM_MESSAGING_BRIDGE_URL }, 'PLATFORM_MESSAGING_BRIDGE_TOKEN'],
    [{ PLATFORM_MESSAGING_BRIDGE_TOKEN }, 'PLATFORM_MESSAGING_BRIDGE_URL'],
  ] as const) {
    const { messaging, notices } = read(one);
    assert.deepEqual(messaging.bridge, { kind: 'incomplete', missing });
    assert.match(notices.join(), new RegExp(`${missing} is not: messaging is unavailable`));
  }
  for (const PLATFORM_MESSAGING_BRIDGE_URL of ['x', 'ftp://b.example', 'http://b.example', 'https://u:p@b.example'])
    assert.throws(() => read({ PLATFORM_MESSAGING_BRIDGE_URL, PLATFORM_MESSAGING_BRIDGE_TOKEN }), {
      message: /^PLATFORM_MESSAGING_BRIDGE_URL /,
    });
  assert.ok(read({ PLATFORM_MESSAGING_BRIDGE_URL: 'http://127.0.0.1:8390', PLATFORM_MESSAGING_BRIDGE_TOKEN }));
  assert.throws(
    () => read({ PLATFORM_MESSAGING_BRIDGE_TOKEN: 'short-secret' }),
    (error: Error) => error.message.startsWith('PLATFORM_MESSAGING_BRIDGE_TOKEN ') && !error.message.includes('secret'),
  );
});

test('the places of a homeserver that core publishes are a host with a port, and an address', () => {
  const { messaging } = read({
    PLATFORM_MESSAGING_SERVER_NAME: 'Example.COM',
    PLATFORM_MESSAGING_FEDERATION: 'matrix.example.com:8448',
    PLATFORM_MESSAGING_CLIENT_URL: 'https://matrix.example.com/',
  });
  assert.deepEqual(
    [messaging.serverName, messaging.federation, messaging.clientUrl],
    ['example.com', 'matrix.example.com:8448', 'https://matrix.example.com'],
  );
  for (const wrong of ['matrix.example.com', 'https://matrix.example.com:8448', ':8448'])
    assert.throws(() => read({ PLATFORM_MESSAGING_FEDERATION: wrong }), { message: /^PLATFORM_MESSAGING_FEDERATION / });
  assert.throws(() => read({ PLATFORM_MESSAGING_CLIENT_URL: 'matrix.example.com' }), {
    message: /^PLATFORM_MESSAGING_CLIENT_URL /,
  });
});

test('people see plain HTTP on a laptop, and https wherever else an app is on the internet', () => {
  const seen = (environment: Record<string, string>) => {
    const { ingressOrigin, ingressListen } = read(environment);
    return [`${ingressOrigin.scheme}://…${ingressOrigin.port}`, ingressListen?.port ?? null];
  };
  assert.deepEqual(seen({}), ['http://…:8791', 8791]);
  assert.deepEqual(seen({ PLATFORM_INGRESS_LISTEN: '127.0.0.1:80' }), ['http://…', 80]);
  assert.deepEqual(seen({ PLATFORM_INGRESS_LISTEN: '' }), ['http://…', null]);
  const onInternet = { PLATFORM_INGRESS_DOMAIN: 'public-of-example.net' };
  assert.deepEqual(seen(onInternet), ['https://…', 8791]);
  const withTls = { ...onInternet, PLATFORM_INGRESS_TLS: 'files:/etc/platform/certificates' };
  assert.deepEqual(seen({ ...withTls, PLATFORM_INGRESS_LISTEN: '0.0.0.0:443' }), ['https://…', 443]);
  assert.deepEqual(seen({ ...withTls, PLATFORM_INGRESS_LISTEN: '[::]:8443' }), ['https://…:8443', 8443]);
  const behind = (port: string) => ({ PLATFORM_INGRESS_PUBLIC_PORT: port });
  assert.deepEqual(seen(behind('8000')), ['http://…:8000', 8791], 'a proxy on a laptop');
  assert.deepEqual(seen({ ...onInternet, ...behind('8443') }), ['https://…:8443', 8791], 'a proxy that ends TLS');
  const forwarded = { ...withTls, PLATFORM_INGRESS_LISTEN: '[::]:8443', ...behind('443') };
  assert.deepEqual(seen(forwarded), ['https://…', 8443], 'a firewall that forwards a port');
});

test('on https the domain of public names is of another site than the shell, and may be that of the apps', () => {
  const deployed = {
    PLATFORM_OS_ORIGIN: 'https://cloud.example.org',
    PLATFORM_NODE_ORIGIN: 'https://node.third-example.net',
    PLATFORM_APPS_DOMAIN: 'apps.example-apps.net',
  };
  assert.throws(
    () => read({ ...deployed, PLATFORM_INGRESS_DOMAIN: 'public.example.org' }),
    /^StartError: PLATFORM_INGRESS_DOMAIN is "public.example.org", which belongs to the same site/,
  );
  const { ingressDomain } = read({ ...deployed, PLATFORM_INGRESS_DOMAIN: 'public.example-apps.net' });
  assert.equal(ingressDomain, 'public.example-apps.net');
});

/** Shell and apps of a deployment on https. */
function onHttps(shell: string, apps: string) {
  return read({
    PLATFORM_OS_ORIGIN: `https://${shell}`,
    PLATFORM_NODE_ORIGIN: 'https://node.third-example.net',
    PLATFORM_APPS_DOMAIN: apps,
  });
}

for (const [shell, apps, site] of [
  ['cloud.example.org', 'apps.example.org', 'example.org'],
  ['example.org', 'example-apps.example.org.uk', null],
  ['cloud.example.co.uk', 'apps.example.co.uk', 'example.co.uk'],
  ['cloud.example.co.uk', 'apps.co.uk', null],
  ['ada.github.io', 'apps-of-ada.github.io', null],
  ['cloud.ada.github.io', 'apps.ada.github.io', 'ada.github.io'],
  ['cloud.example-a.test', 'apps.example-a.test', 'example-a.test'],
  ['cloud.example-a.test', 'example-b.test', null],
  ['shell.platform.localhost', 'apps.platform.localhost', 'platform.localhost'],
] as const) {
  test(`on https ${apps} beside ${shell} is ${site === null ? 'a site of its own' : `refused: both are ${site}`}`, () => {
    if (site === null) {
      assert.equal(onHttps(shell, apps).appsDomain, apps);
      return;
    }
    assert.throws(
      () => onHttps(shell, apps),
      (error: unknown) =>
        error instanceof StartError &&
        error.message.startsWith(`PLATFORM_APPS_DOMAIN is "${apps}", which belongs to the same site (${site})`) &&
        error.message.includes('register a second domain') &&
        !error.message.includes('\n'),
    );
  });
}

test('on http, which is for localhost alone, shell and apps are one site', () => {
  assert.equal(read({}).appsDomain, 'apps.platform.localhost');
});

const deployed = { PLATFORM_NODE_ORIGIN: 'https://node.example.org', PLATFORM_APPS_DOMAIN: 'apps-of-example.net' };

test('web push is offered when the operator has a contact for push services', () => {
  assert.equal(read({}).vapidSubject, null, 'a laptop has no address that anybody could reach');
  assert.equal(
    read({ ...deployed, PLATFORM_OS_ORIGIN: 'https://cloud.example.org' }).vapidSubject,
    'https://cloud.example.org',
  );
  const inside = read({ ...deployed, PLATFORM_OS_ORIGIN: 'https://cloud.home.arpa' });
  assert.equal(inside.vapidSubject, null, 'https in a network of its own');
  const given = read({
    PLATFORM_VAPID_SUBJECT: 'mailto:ada@example.org',
    PLATFORM_WEB_PUSH_PRIVATE_ORIGINS: 'https://push.example.lan:8443, https://10.0.0.7',
  });
  assert.equal(given.vapidSubject, 'mailto:ada@example.org');
  assert.deepEqual(given.pushPrivateOrigins, ['https://push.example.lan:8443', 'https://10.0.0.7']);
});

test('whatever a variable holds, the refusal names a variable and says what to do, in one line of our own', () => {
  const strange = ['', ' ', 'x', '-1', '1.5', '1e9', 'true', '{}', '[]', 'a,b', '../..', 'http://', 'https://a/?b#c'];
  let refused = 0;
  for (const name of Object.keys(configurationVariables)) {
    for (const value of [...strange, 'x'.repeat(5_000), 'turned \u202e round', 'two\nlines']) {
      try {
        read({ [name]: value });
      } catch (error) {
        assert.ok(error instanceof StartError, `${name}=${value.slice(0, 40)}: ${String(error)}`);
        refused += 1;
        assert.match(error.message, /^PLATFORM_[A-Z0-9_]+ [^\n]+[;.] [^\n]+$/);
        assert.doesNotMatch(error.message, ZOD_PHRASES);
      }
    }
  }
  assert.ok(refused > 200, String(refused));
});

test('the effective configuration names every variable and shows no secret', () => {
  const { effective } = read({ PLATFORM_DATABASE_URL: 'postgres://ada:hunter2@db.example.org/platform' });
  assert.deepEqual(
    effective.map(({ name }) => name),
    Object.keys(configurationVariables),
  );
  assert.ok(!JSON.stringify(effective).includes('hunter2'));
  assert.deepEqual(
    effective.find(({ name }) => name === 'PLATFORM_DATABASE_URL'),
    { name: 'PLATFORM_DATABASE_URL', value: '********', set: true, differs: true },
  );
});

test('a setting differs when it is set to something else than its default, or to nothing', () => {
  const { effective } = read({
    PLATFORM_RP_NAME: 'Platform',
    PLATFORM_LOG_LEVEL: 'debug',
    PLATFORM_LISTEN_PORT: '8787',
    PLATFORM_INGRESS_LISTEN: '',
  });
  assert.deepEqual(
    effective.filter(({ differs }) => differs).map(({ name, value }) => `${name}=${value}`),
    ['PLATFORM_INGRESS_LISTEN=', 'PLATFORM_LISTEN_PORT=8787', 'PLATFORM_LOG_LEVEL=debug'],
  );
});

test('private origins of outbound calls are exact, and of the file of authorities only the certificates count', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'authorities-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { cert, key } = await newPushCertificate();
  const file = path.join(folder, 'ca.pem');
  writeFileSync(file, `# of our network\n${key}${cert}\n`);
  assert.deepEqual(read({}).outbound, { privateOrigins: [], ca: null });
  const { outbound } = read({
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: 'https://git.example.lan:8443, https://10.0.0.7',
    PLATFORM_OUTBOUND_CA_FILE: file,
  });
  assert.deepEqual(outbound.privateOrigins, ['https://git.example.lan:8443', 'https://10.0.0.7']);
  assert.ok(outbound.ca?.startsWith('-----BEGIN CERTIFICATE-----') && !outbound.ca.includes('PRIVATE'));
});
