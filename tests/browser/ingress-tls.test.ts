// An app at its public address as the internet meets it: an Ingress with certificates, curl and Chromium over HTTP/2, a
// WebSocket, and what stays open while a certificate is exchanged. Once with files beside core, once with an Ingress of its own
// that orders from a real ACME server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { newAuthority, type TestAuthority, writePair } from '../../packages/ingress/test-support/certificates.ts';
import { registerAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type Pebble, startPebble } from '../support/pebble.ts';
import {
  inherited,
  type LongCommand,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { installPublicApp } from '../support/real-ingress.ts';
import { until } from '../support/wait.ts';
import { launchProfile } from './browser.ts';

const run = promisify(execFile);
const DOMAIN = 'public.example.org';
const APP = 'open-house';
const ROUTES = ['GET:/', 'GET:/download', 'POST:/go-on', 'WS:/live'];
/** A page, a download that waits in its middle until the test releases it, and a WebSocket that sends back what it gets. */
const SERVER = `
  const { createHash } = process.getBuiltinModule('node:crypto');
  const http = process.getBuiltinModule('node:http');
  const waiting = [];
  http.createServer((req, res) => {
    if (req.url === '/download') {
      res.write('first ');
      waiting.push(() => res.end('last'));
    } else if (req.method === 'POST') {
      for (const goOn of waiting.splice(0)) goOn();
      res.end();
    } else {
      res.setHeader('content-type', 'text/html');
      res.end('<!doctype html><title>' + req.headers['x-forwarded-proto'] + '</title>');
    }
  }).on('upgrade', (req, socket) => {
    const accept = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11');
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n' +
      'Sec-WebSocket-Accept: ' + accept.digest('base64') + '\\r\\n\\r\\n');
    socket.on('error', () => socket.destroy());
    socket.on('data', (frame) => {
      // One short text for each read, as the page sends them.
      const length = frame[1] & 127;
      const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ frame[2 + (index & 3)]);
      if ((frame[0] & 15) === 1) socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
      else socket.end();
    });
  }).listen(Number(process.env.PORT));
`;

const lacking = ['pebble', 'pebble-challtestsrv', 'curl', 'certutil', 'openssl'].filter(
  (name) => !existsSync(`/usr/bin/${name}`),
);
const skip = lacking.length === 0 ? false : `needs ${lacking.join(', ')}`;

let folder: string;
let authority: TestAuthority;
let pebble: Pebble;
let place: PlatformPlace;
let platform: PlatformProcess | undefined;
let context: BrowserContext | undefined;
let hostname: string;
let link: string;
let plainPort: number;
/** Of the Ingress beside core. */
let certificates: string;

before(async () => {
  if (skip !== false) return;
  folder = await mkdtemp(path.join(tmpdir(), 'ingress-tls-'));
  certificates = path.join(folder, 'tls');
  await mkdir(certificates);
  [authority, pebble] = await Promise.all([newAuthority(), startPebble()]);
  await writePair(certificates, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`]));
  plainPort = await freePort();
  link = `127.0.0.1:${await freePort()}`;
  place = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_LINK_LISTEN: link,
    PLATFORM_NODE_PUBLIC: `127.0.0.1:${await freePort()}`,
    PLATFORM_INGRESS_DOMAIN: DOMAIN,
    PLATFORM_INGRESS_TLS: `files:${certificates}`,
    PLATFORM_INGRESS_HTTP_LISTEN: `127.0.0.1:${plainPort}`,
  });
  platform = await startPlatform(place);
  const address = await installPublicApp(await registerAccount(place, 'host'), APP, {
    workload: SERVER,
    routes: ROUTES,
  });
  hostname = address.hostname;
  assert.equal(address.url, `https://${hostname}:${place.ingressPort}`);
  const roots = { files: authority.ca, acme: await pebble.root() };
  for (const [name, root] of Object.entries(roots)) await writeFile(path.join(folder, `${name}.pem`), root);
  context = await launchTrusting(Object.keys(roots));
});
after(async () => {
  await context?.close();
  await platform?.stop();
  await place?.remove();
  await pebble?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Chromium that trusts these authorities as an operator's own are trusted, and finds the domain here. */
async function launchTrusting(names: readonly string[]): Promise<BrowserContext> {
  const home = path.join(folder, 'home');
  const store = path.join(home, '.pki/nssdb');
  await mkdir(store, { recursive: true });
  await run('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
  for (const name of names)
    await run('certutil', [
      '-A',
      '-d',
      `sql:${store}`,
      '-n',
      name,
      '-t',
      'C,,',
      '-i',
      path.join(folder, `${name}.pem`),
    ]);
  return launchProfile(path.join(folder, 'profile'), { HOME: home }, [
    `--host-resolver-rules=MAP *.${DOMAIN} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
  ]);
}

interface CurlOptions {
  /** Default: that of the Ingress beside core. */
  readonly port?: number;
  readonly scheme?: 'http' | 'https';
  readonly root?: string;
}

async function curl(args: readonly string[], target: string, options: CurlOptions = {}): Promise<string> {
  return (await run('curl', curlArguments(args, target, options))).stdout;
}

function curlArguments(
  args: readonly string[],
  target: string,
  { port = place.ingressPort, scheme = 'https', root = 'files' }: CurlOptions = {},
): string[] {
  const trust = ['--cacert', path.join(folder, `${root}.pem`), '--resolve', `${hostname}:${port}:127.0.0.1`];
  return ['-sS', ...trust, ...args, `${scheme}://${hostname}:${port}${target}`];
}

async function openPage(port: number): Promise<Page> {
  assert.ok(context !== undefined);
  const page = await context.newPage();
  await page.goto(`https://${hostname}:${port}/`);
  return page;
}

/** What the page was loaded over, as the browser names it. */
const protocolOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return navigation?.nextHopProtocol ?? '';
  });

/** Opens a WebSocket, which {@link echoes} uses. */
const openSocket = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = new WebSocket(`wss://${location.host}/live`);
        socket.onopen = () => resolve();
        socket.onclose = () => reject(new Error('closed'));
        Reflect.set(globalThis, 'socket', socket);
      }),
  );

const echoes = (page: Page, text: string): Promise<string> =>
  page.evaluate(
    (said) =>
      new Promise<string>((resolve, reject) => {
        const socket = Reflect.get(globalThis, 'socket') as WebSocket;
        socket.onmessage = ({ data }) => resolve(String(data));
        socket.onclose = () => reject(new Error('closed'));
        if (socket.readyState !== WebSocket.OPEN) reject(new Error('not open'));
        socket.send(said);
      }),
    text,
  );

describe('with certificates from files', { skip }, () => {
  test('curl gets the page over HTTP/2 and HTTP/1.1, with HSTS, and plain HTTP leads there', async () => {
    const said = ['-D', '-', '-w', ' %{http_version} %{http_code}'];
    await until('the Ingress to know the name', async () => !(await curl(said, '/')).endsWith(' 421'));
    const answer = await curl([...said, '--http2'], '/');
    assert.match(answer, /<title>https<\/title> 2 200$/);
    assert.match(answer, /^strict-transport-security: max-age=31536000\r$/m);
    assert.match(await curl([...said, '--http1.1'], '/'), /<title>https<\/title> 1\.1 200$/);
    assert.match(await curl(said, '/other'), /^strict-transport-security: max-age=31536000\r$[\s\S]* 2 404$/m);
    const plain = await curl(said, '/?a=b', { scheme: 'http', port: plainPort });
    assert.match(plain, / 1\.1 308$/);
    assert.ok(plain.toLowerCase().includes(`location: https://${hostname}:${place.ingressPort}/?a=b\r\n`), plain);
  });

  test('Chromium loads the page over HTTP/2, its WebSocket works, and it never uses plain HTTP again', async () => {
    const page = await openPage(place.ingressPort);
    assert.equal(await page.title(), 'https');
    assert.equal(await protocolOf(page), 'h2');
    await openSocket(page);
    assert.equal(await echoes(page, 'hello'), 'hello');
    // Nothing there answers plain HTTP: by HSTS the browser asks for https itself.
    await page.goto(`http://${hostname}:${place.ingressPort}/`);
    assert.equal(await page.evaluate(() => location.protocol), 'https:');
    await page.close();
  });

  test('a new certificate ends neither a download nor a WebSocket', async () => {
    const page = await openPage(place.ingressPort);
    await openSocket(page);
    await page.evaluate(async () => {
      const { body } = await fetch('/download');
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      if (reader === undefined) throw new Error('no body');
      let text = (await reader.read()).value ?? '';
      const whole = async (): Promise<string> => {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
        return text;
      };
      Reflect.set(globalThis, 'download', whole());
    });
    const download = run('curl', curlArguments(['-N', '--http1.1'], '/download'));
    assert.ok(download.child.stdout !== null);
    await once(download.child.stdout, 'data');
    const former = await fingerprint();
    await writePair(certificates, `_.${DOMAIN}`, await authority.issue([`*.${DOMAIN}`]));
    await until('the new certificate', async () => (await fingerprint()) !== former, 200_000);
    assert.equal(await echoes(page, 'still there'), 'still there');
    await curl(['-X', 'POST'], '/go-on');
    assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'download') as Promise<string>), 'first last');
    assert.equal((await download).stdout, 'first last');
    assert.equal(await echoes(page, 'and after'), 'and after');
    await page.close();
  });

  /** Of the certificate that new clients get. */
  async function fingerprint(): Promise<string> {
    const connect = ['s_client', '-connect', `127.0.0.1:${place.ingressPort}`, '-servername', hostname];
    const shown = await run('sh', [
      '-c',
      '"$@" </dev/null | openssl x509 -noout -fingerprint',
      'sh',
      'openssl',
      ...connect,
    ]);
    return shown.stdout;
  }
});

describe('with certificates by ACME', { skip }, () => {
  let ingress: LongCommand | undefined;
  let port: number;
  before(async () => {
    const ca = path.join(folder, 'pebble.pem');
    await writeFile(ca, pebble.ca);
    port = await freePort();
    const said = await runCommand(['ingress', 'token'], place.environment);
    const args = ['ingress', 'join', `https://${link}`, /pie_\S+/.exec(said)?.[0] ?? '', '--name', 'edge'];
    const environment = {
      ...inherited,
      PLATFORM_DATA_DIR: path.join(folder, 'ingress'),
      PLATFORM_INGRESS_DOMAIN: DOMAIN,
      PLATFORM_INGRESS_LISTEN: `127.0.0.1:${port}`,
      PLATFORM_INGRESS_HTTP_LISTEN: `127.0.0.1:${pebble.httpPort}`,
      PLATFORM_INGRESS_TLS: 'acme',
      PLATFORM_ACME_DIRECTORY: pebble.directory,
      PLATFORM_OUTBOUND_CA_FILE: ca,
    };
    ingress = await startCommand(args, environment, 'It knows the public names of this platform.');
  });
  after(() => ingress?.stop());

  test('the first client gets a certificate and its answer, over HTTP/2 and with HSTS', async () => {
    const answer = await curl(['--http2', '-D', '-', '-w', ' %{http_version}'], '/', { port, root: 'acme' });
    assert.match(answer, /<title>https<\/title> 2$/);
    assert.match(answer, /^strict-transport-security: max-age=31536000\r$/m);
  });

  test('Chromium loads the page over HTTP/2, and its WebSocket works', async () => {
    const page = await openPage(port);
    assert.equal(await page.title(), 'https');
    assert.equal(await protocolOf(page), 'h2');
    await openSocket(page);
    assert.equal(await echoes(page, 'hello'), 'hello');
    await page.close();
  });
});
