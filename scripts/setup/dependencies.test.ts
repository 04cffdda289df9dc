// Which dependencies the set-up installs with npm, and what a person reads where it cannot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import * as path from 'node:path';
import { test } from 'node:test';
import { certificateFor } from '../../tests/support/tls-front.ts';
import { type Checkout, checkout, start } from './small-checkout.ts';

test('a changed lockfile is installed with npm before anything runs', async (t) => {
  const place = checkout(t);
  fs.rmSync(path.join(place.root, 'node_modules'), { recursive: true });
  const first = await start(t, place).ended;
  assert.match(first.err, /Installing dependencies …\nDependencies installed/);
  const second = await start(t, place).ended;
  assert.doesNotMatch(second.err, /dependencies/i);
});

test('without npm a missing dependency is one clear line', async (t) => {
  const place = checkout(t);
  fs.rmSync(path.join(place.root, 'node_modules'), { recursive: true });
  const onlyFlock = path.join(place.root, 'bin');
  fs.mkdirSync(onlyFlock);
  const flock = (process.env.PATH ?? '').split(':').map((folder) => path.join(folder, 'flock'));
  fs.symlinkSync(flock.find((file) => fs.existsSync(file)) ?? '', path.join(onlyFlock, 'flock'));
  const env = { PATH: onlyFlock, npm_execpath: '', npm_node_execpath: '' };
  const { code, err } = await start(t, place, { env }).ended;
  assert.equal(code, 1);
  assert.equal(
    err,
    'Installing dependencies …\nnpm was not found: install it (on Debian: apt-get install npm), then try again.\n',
  );
});

/** Without node_modules, and with a lockfile that wants these packages. */
function wanting({ root }: Checkout, packages: Record<string, object>, optional: boolean) {
  fs.rmSync(path.join(root, 'node_modules'), { recursive: true });
  const versions = Object.fromEntries(Object.keys(packages).map((name) => [name, '1.0.0']));
  const description = {
    name: 'checkout',
    version: '1.0.0',
    [optional ? 'optionalDependencies' : 'dependencies']: versions,
  };
  const entries = Object.entries(packages).map(([name, entry]) => [
    `node_modules/${name}`,
    { version: '1.0.0', optional, ...entry },
  ]);
  const locked = { ...description, lockfileVersion: 3, packages: { '': description, ...Object.fromEntries(entries) } };
  fs.writeFileSync(path.join(root, 'package.json'), JSON.stringify(description));
  fs.writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify(locked));
}

function npmOf({ root }: Checkout, registry: string) {
  return { npm_config_registry: registry, npm_config_cache: path.join(root, 'cache') };
}

const nowhere = { integrity: 'sha512-AAAA' };

test('an unreachable registry is one clear line', async (t) => {
  const place = checkout(t);
  wanting(place, { nothing: nowhere }, false);
  // The discard port of this machine, at which nothing listens.
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm could not reach its registry \(ECONNREFUSED\): check the network .+\n$/);
});

test('a registry whose certificate npm does not trust is one clear line', async (t) => {
  const place = checkout(t);
  wanting(place, { nothing: nowhere }, false);
  const registry = https.createServer(await certificateFor(['localhost']), (_request, answer) => answer.end());
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  t.after(() => registry.close());
  const { port } = registry.address() as AddressInfo;
  const env = { ...npmOf(place, `https://localhost:${port}`), NODE_EXTRA_CA_CERTS: '', npm_config_cafile: '' };
  const { code, err } = await start(t, place, { env }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm does not trust the certificate of its registry \(\S*CERT\S*\): .+NODE_EXTRA_CA_CERTS .+\n$/);
});

const thisMachine = { os: [process.platform], cpu: [process.arch] };

test('a program of this machine that npm leaves out is named, and wanted again at the next start', async (t) => {
  const place = checkout(t);
  wanting(place, { [`program-of-${process.arch}`]: { ...nowhere, ...thisMachine } }, true);
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 1);
  assert.match(err, /\nnpm left out what this machine needs \(program-of-\w+\): try again\./);
  assert.equal(fs.existsSync(path.join(place.root, 'node_modules/.platform-setup')), false);
});

test('npm installs for the Node that it brings, not for its own', async (t) => {
  const place = checkout(t);
  const ours = `node-${process.platform}-${process.arch}`;
  const packed = (name: string, entry: object) => {
    const folder = path.join(place.root, 'packed', name);
    fs.mkdirSync(path.join(folder, 'bin'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'bin/node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...entry }));
    const { status } = spawnSync('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd: folder });
    assert.equal(status, 0);
    const file = path.join(place.root, 'packed', `${name}-1.0.0.tgz`);
    const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`;
    return { ...entry, resolved: `file:packed/${name}-1.0.0.tgz`, integrity };
  };
  // No npm runs on such a Node.
  const engines = { engines: { node: '1.0.0' }, ...thisMachine };
  wanting(place, { [ours]: packed(ours, thisMachine), program: packed('program', engines) }, true);
  const { code, err } = await start(t, place, { env: npmOf(place, 'http://127.0.0.1:9') }).ended;
  assert.equal(code, 0, err);
  assert.ok(fs.existsSync(path.join(place.root, 'node_modules/program')));
  // Old npms link no program of that name, as none does here.
  assert.equal(fs.readlinkSync(path.join(place.root, 'node_modules/.bin/node')), `../${ours}/bin/node`);
});
