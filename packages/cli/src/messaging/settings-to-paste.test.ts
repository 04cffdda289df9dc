// The settings that docs/operations/messaging.md has operators paste, beside what `platform messaging init` writes and prints: Synapse
// itself reads them as one configuration, and they say the same as the platform.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { synapsePackages } from '../../../../tests/support/synapse.ts';
import { newRegistration, writeRegistration } from '../messaging-bridge/registration.ts';
import { homeserverSettings, platformSettings } from './settings-to-paste.ts';

const run = promisify(execFile);
const PAGE = new URL('../../../../docs/operations/messaging.md', import.meta.url);
const packages = await synapsePackages();
const skip = packages === null && 'needs Python with venv, and a package index';

/** What a setting is to Synapse, after it has read the file. */
const READ = `
import json, sys, yaml
from synapse.config.homeserver import HomeServerConfig
pasted, printed, file = sys.argv[1:]
keys = [sorted(yaml.safe_load(open(one))) for one in (pasted, printed)]
config = HomeServerConfig.load_config("", ["-c", file])
service = config.appservice.app_service_config_files
print(json.dumps({
  "keys": keys,
  "serverName": config.server.server_name,
  "registrations": service,
  "openRegistration": config.registration.enable_registration,
  "presence": config.server.presence_enabled,
  "stats": config.metrics.report_stats,
  "staleDevices": config.server.delete_stale_devices_after,
  "database": [config.database.get_single_database().config["name"], config.database.get_single_database().config["args"]],
  "listeners": [[one.port, one.bind_addresses, one.http_options.x_forwarded, [r.names for r in one.http_options.resources]]
                for one in config.server.listeners],
}))
`;

interface Read {
  readonly keys: readonly [string[], string[]];
  readonly serverName: string;
  readonly registrations: string[];
  readonly openRegistration: boolean;
  readonly presence: boolean;
  readonly stats: boolean;
  readonly staleDevices: number | null;
  readonly database: readonly [string, Record<string, unknown>];
  readonly listeners: readonly [number, string[], boolean, string[][]][];
}

const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

async function written(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'operations-'));
  t.after(() => rm(folder, { recursive: true }));
  const config: Parameters<typeof newRegistration>[0] & Parameters<typeof homeserverSettings>[0] = {
    messaging: { serverName: 'example.com', bridge: { kind: 'none' }, federation: null, clientUrl: null },
    messagingBridge: {
      registrationFile: path.join(folder, 'registration.yaml'),
      homeserverUrl: null,
      homeserverCaFile: null,
      listen: { host: '127.0.0.1', port: 8390 },
      storeFolder: folder,
    } as never,
  };
  const registration = newRegistration(config);
  writeRegistration(config.messagingBridge.registrationFile, registration);
  return { folder, config, registration, page: await readFile(PAGE, 'utf8') };
}

test('Synapse reads what the page and init have it paste, and each setting is in one of them', { skip }, async (t) => {
  const { folder, config, page } = await written(t);
  const [yaml = '', ...others] = blocks(page, 'yaml');
  assert.deepEqual(others, []);
  const printed = homeserverSettings(config);
  const [pasted = '', init = '', file = ''] = ['pasted', 'init', 'homeserver'].map((name) =>
    path.join(folder, `${name}.yaml`),
  );
  await writeFile(pasted, yaml);
  await writeFile(init, printed);
  const keys = `signing_key_path: ${JSON.stringify(path.join(folder, 'signing.key'))}\nlog_config: null\n`;
  // Both as they are, one after the other.
  await writeFile(file, printed + yaml + keys);
  const env = { ...process.env, PYTHONPATH: packages ?? '' };
  await run('python3', ['-m', 'synapse.app.homeserver', '-c', file, '--generate-keys'], { env, cwd: folder });
  const { stdout } = await run('python3', ['-c', READ, pasted, init, file], { env, cwd: folder });
  const read = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Read;
  const [ofPage, ofInit] = read.keys;
  assert.deepEqual(
    ofPage.filter((key) => ofInit.includes(key)),
    [],
    'a key that is there twice is read once',
  );
  assert.equal(read.serverName, config.messaging.serverName);
  assert.deepEqual(read.registrations, [config.messagingBridge.registrationFile]);
  assert.deepEqual([read.openRegistration, read.presence, read.stats, read.staleDevices], [false, false, false, null]);
  assert.equal(read.database[0], 'psycopg2');
  const [sql = ''] = blocks(page, 'sql');
  assert.match(sql, new RegExp(`CREATE ROLE ${read.database[1].user} `));
  assert.match(sql, new RegExp(`CREATE DATABASE ${read.database[1].dbname} `));
  const [, url = ''] = /PLATFORM_MESSAGING_HOMESERVER_URL=(\S+)/.exec(platformSettings(config)) ?? [];
  assert.deepEqual(read.listeners, [[Number(new URL(url).port), ['127.0.0.1'], true, [['client', 'federation']]]]);
});

test('what the page says of the registration is what init writes', async (t) => {
  const { registration, page } = await written(t);
  const [, kept = ''] = /^Keep these as they are[^\n]*\n\n(.*?)\n\n/ms.exec(page) ?? [];
  const [ofRegistration = ''] = kept.split(/^- /m).filter((line) => line.includes('in the registration'));
  const said = [...ofRegistration.matchAll(/`([\w.]+): (\w+)`/g)].map(([, name = '', value]) => [name, value]);
  assert.ok(said.length >= 3, ofRegistration);
  for (const [name = '', value] of said) assert.equal(String(registration[name]), value, name);
  const unnamed = Object.keys(registration).filter(
    (name) => !['id', 'url', 'as_token', 'hs_token', 'sender_localpart', 'namespaces'].includes(name),
  );
  assert.deepEqual(
    said.map(([name]) => name),
    unnamed,
  );
});
