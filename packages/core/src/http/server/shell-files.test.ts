// The shell's files as browsers get them: compressed where the build did that and the browser takes it.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { rawRequest } from '../../../../../tests/support/raw-http.ts';
import { shellFiles } from './shell-files.ts';

let folder: string;
let server: http.Server;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'platform-shell-'));
  const files = {
    'index.html': 'page',
    'index.html.br': 'page by brotli',
    'index.html.gz': 'page by gzip',
    'mark.svg': 'mark',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  const origin = 'http://shell.platform.localhost:8787';
  const config = { shellDirectory: folder, origin, appsDomain: 'apps.platform.localhost' };
  const serve = await shellFiles(config, () => 'request');
  server = http.createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

async function get(name: string, accepted?: string): Promise<{ status: number; coding: string; text: string }> {
  const { port } = server.address() as AddressInfo;
  const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const answer = await rawRequest({ port, path: name, headers });
  const { 'content-encoding': coding = 'none', vary } = answer.headers;
  if (answer.status === 200) assert.equal(vary, 'Accept-Encoding');
  assert.equal(answer.headers['x-request-id'], 'request');
  return { status: answer.status, coding, text: answer.text };
}

test('a browser gets the best coding that it takes', async () => {
  const page = (coding: string, text: string) => ({ status: 200, coding, text });
  assert.deepEqual(await get('/', 'gzip, deflate, br, zstd'), page('br', 'page by brotli'));
  assert.deepEqual(await get('/index.html', 'gzip'), page('gzip', 'page by gzip'));
  assert.deepEqual(await get('/', 'br;q=0, gzip;q=0.5'), page('gzip', 'page by gzip'));
  assert.deepEqual(await get('/', 'identity'), page('none', 'page'));
  assert.deepEqual(await get('/'), page('none', 'page'));
});

test('a file that was not compressed is sent as it is', async () => {
  assert.deepEqual(await get('/mark.svg', 'gzip, br'), { status: 200, coding: 'none', text: 'mark' });
});

test('every kind of text is sent with its character set', async () => {
  const { port } = server.address() as AddressInfo;
  const types = ['/', '/mark.svg'].map(async (path) => (await rawRequest({ port, path })).headers['content-type']);
  assert.deepEqual(await Promise.all(types), ['text/html; charset=utf-8', 'image/svg+xml; charset=utf-8']);
});

test('the compressed files have no address of their own', async () => {
  assert.equal((await get('/index.html.br', 'br')).status, 404);
  assert.equal((await get('/index.html.gz', 'gzip')).status, 404);
});
