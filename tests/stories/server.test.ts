// An operator sets up a server as docs/operators.md says, line by line: a service of systemd behind nginx, then Caddy, with
// TLS, three domains and a person at a browser. Then kills it, restores its backup, and removes everything.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { CHROMIUM, DESKTOP, launchBrowser, newPerson } from '../browser/browser.ts';
import { Newcomer } from '../browser/newcomer.ts';
import { blocksOf } from '../support/documented.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { type SystemdMachine, startSystemdMachine, systemdUnavailable } from '../support/systemd-machine.ts';
import { certificateFor } from '../support/tls-front.ts';
import { STORY_MS, until } from '../support/wait.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = ['cloud.example.org', '*.example-apps.net', 'node.example-nodes.net'];
const ORIGIN = 'https://cloud.example.org';

const skip = systemdUnavailable() || lacksProgram('nginx') || lacksProgram('caddy') || lacksProgram('curl');

let machine: SystemdMachine;
let browser: Browser | undefined;
/** By their folders in /etc/letsencrypt/live: nginx has one for all names, Caddy one for the wildcard. */
let certificates: Readonly<Record<'platform' | 'example-apps.net', Awaited<ReturnType<typeof certificateFor>>>>;
let folder: string;

before(async () => {
  if (skip !== false) return;
  folder = await mkdtemp(path.join(tmpdir(), 'server-story-'));
  certificates = {
    platform: await certificateFor(NAMES),
    'example-apps.net': await certificateFor(['*.example-apps.net']),
  };
  machine = await startSystemdMachine(CHECKOUT);
  browser = await launchBrowser(
    [
      `--host-resolver-rules=${NAMES.map((name) => `MAP ${name} 127.0.0.1`).join(', ')}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${Object.values(certificates)
        .map(({ keyHash }) => keyHash)
        .join()}`,
    ],
    machine.inItsNetwork(CHROMIUM),
  );
});
after(async () => {
  await browser?.close();
  await machine?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** The shell blocks below a heading of docs/operators.md. */
const documented = (heading: string) => blocksOf('docs/operators.md', 'sh', heading);

async function newcomer(account: string): Promise<Newcomer> {
  assert.ok(browser);
  const story = { origin: ORIGIN, device: 'desktop', account, pictures: `server-${account}` } as const;
  return new Newcomer(await newPerson(browser, DESKTOP), story);
}

/** What a newcomer does that needs the shell, an app's frontend, its backend and a live stream. */
async function keepsANote(someone: Newcomer, text: string): Promise<void> {
  await someone.registers();
  await someone.findsNotesInTheStore();
  await someone.installsNotes();
  await someone.addsANote(text);
  await someone.hearsOfTheNote(text);
  // A browser may block storage in frames of another site, which the SDK says once in each app.
  const blocked = /^This browser blocks localStorage/;
  assert.deepEqual(
    someone.complaints().filter((complaint) => !blocked.test(complaint)),
    [],
  );
}

async function putCertificate(name: keyof typeof certificates): Promise<void> {
  const [cert, key] = [path.join(folder, 'cert'), path.join(folder, 'key')];
  await writeFile(cert, certificates[name].cert);
  await writeFile(key, certificates[name].key);
  const live = `/etc/letsencrypt/live/${name}`;
  await machine.run(
    `mkdir -p ${live}; install -m 0644 ${cert} ${live}/fullchain.pem; install -m 0644 ${key} ${live}/privkey.pem`,
  );
}

async function answers(): Promise<void> {
  const health = "curl --fail --silent http://127.0.0.1:8787/v1/health --header 'Host: cloud.example.org'";
  await until('the platform answers', () => machine.run(health).catch(() => ''), 120_000);
}

const written = async (script: string) => (await machine.run(script)).trim();

test('a server, as documented', { skip, timeout: STORY_MS }, async (t) => {
  const step = async (promise: string, work: () => Promise<void>) => {
    let done = false;
    await t.test(promise, async () => {
      await work();
      done = true;
    });
    assert.ok(done, `the story ended where the operator ${promise}`);
  };

  await step('installs the service, which starts', async () => {
    for (const block of documented('### Install')) await machine.run(block);
    await answers();
    assert.equal(await written('systemctl is-enabled platform; systemctl is-active platform'), 'enabled\nactive');
  });

  await step('reads in the journal where it is', async () => {
    await until('the journal has the address', async () =>
      (await machine.run('journalctl -u platform --no-pager -o cat')).includes(ORIGIN),
    );
  });

  await step('puts nginx in front', async () => {
    await putCertificate('platform');
    await machine.run('systemctl start nginx');
    for (const block of documented('### nginx')) await machine.run(block);
  });

  await step('sees someone register behind nginx, install Notes and keep a note', async () =>
    keepsANote(await newcomer('anna'), 'Buy oat milk'),
  );

  await step('sees the account with the command of the server', async () => {
    assert.match(await machine.run('platform account list'), /anna/);
    assert.match(await machine.run('platform ps'), /anna\/notes/);
  });

  await step('gets a redirect from http', async () => {
    const asked = 'http://node.example-nodes.net/x?y --resolve node.example-nodes.net:80:127.0.0.1';
    const head = await machine.run(`curl --silent --head ${asked}`);
    assert.match(head, /^HTTP\/1\.1 301 [\s\S]*Location: https:\/\/node\.example-nodes\.net\/x\?y\r\n/);
  });

  await step('puts Caddy in its place', async () => {
    await machine.run('systemctl stop nginx; install -d -o caddy /var/lib/caddy');
    await putCertificate('example-apps.net');
    for (const block of documented('### Caddy')) {
      // Caddy would ask an authority on the internet for these two; everything else is as documented.
      const files = '/etc/letsencrypt/live/platform/fullchain.pem /etc/letsencrypt/live/platform/privkey.pem';
      const own = ['https://cloud.example.org', 'https://node.example-nodes.net']
        .map((site) => `sed -i "s|^${site} {|&\\n\\ttls ${files}|" /etc/caddy/Caddyfile`)
        .join('\n');
      await machine.run(
        block.replace(/^systemctl reload caddy$/m, `${own}\nsystemctl start caddy\nsystemctl reload caddy`),
      );
    }
  });

  await step('sees another person do the same behind Caddy', async () =>
    keepsANote(await newcomer('bert'), 'Read the manual'),
  );

  await step('kills it, and systemd starts it again', async () => {
    const pid = () => written('systemctl show --property=MainPID --value platform');
    const former = await pid();
    await machine.run('systemctl kill --kill-whom=main --signal=KILL platform');
    await until('systemd starts it again', async () => !['0', former].includes(await pid()), 60_000);
    await answers();
  });

  await step('makes a backup and restores it', async () => {
    await machine.run('systemctl stop platform');
    assert.equal(await written('ps -u platform -o pid= || true'), '');
    const [backup = ''] = documented('## Backup and restore');
    await machine.run(`cd /var/log\n${backup}`);
    await machine.run(`
      mv /var/lib/platform /var/log/former
      install -d -o platform -m 0700 /var/lib/platform
      tar --extract --file /var/log/backup.tar --directory /var/lib/platform
      cp -a /var/log/former/master.key /var/lib/platform
      systemctl start platform`);
    await answers();
    assert.match(await machine.run('platform account list'), /anna[\s\S]*bert/);
  });

  await step('uninstalls it, and nothing is left', async () => {
    for (const block of documented('### Uninstall')) await machine.run(block);
    const places = '/var/lib/platform /etc/platform /usr/local/sbin/platform /etc/nginx/conf.d/platform.conf';
    assert.equal(await written(`ls -d ${places} 2>/dev/null || true`), '');
    assert.equal(await written('getent passwd platform || true'), '');
    assert.match(await machine.run('systemctl status platform 2>&1 || true'), /could not be found/);
  });
});
