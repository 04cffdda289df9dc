// A platform whose public port is not one that it listens on: nginx has the one port of shell, apps, backends and public
// names, and the platform listens elsewhere. A newcomer notices nothing, and every address that is shown leads to nginx.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { registerAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { type NginxFront, startNginxFront } from '../support/nginx-front.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { installPublicApp } from '../support/real-ingress.ts';
import { FRONT_ADDRESS } from '../support/tls-front.ts';
import { until } from '../support/wait.ts';
import { launchProfile, type Person, personIn } from './browser.ts';
import { Newcomer } from './newcomer.ts';

const SHELL = 'shell.example-a.test';
const APPS = 'apps-b.test';
const NODE = 'backends.nodes-c.test';
const PUBLIC = 'public-d.test';

const WORKLOAD = `
  import http from 'node:http';
  http.createServer((req, res) => res.end('hello ' + req.headers.host)).listen(Number(process.env.PORT));
`;

describe('behind nginx on another port', { skip: lacksProgram('nginx') }, () => {
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let front: NginxFront;
  let folder: string;
  let person: Person;
  let publicPort: number;

  before(async () => {
    const local = await platformPlace();
    publicPort = await freePort();
    const origin = `https://${SHELL}:${publicPort}`;
    place = {
      ...local,
      origin,
      environment: {
        ...local.environment,
        PLATFORM_OS_ORIGIN: origin,
        PLATFORM_APPS_DOMAIN: APPS,
        PLATFORM_NODE_ORIGIN: `https://${NODE}:${publicPort}`,
        PLATFORM_INGRESS_DOMAIN: PUBLIC,
        PLATFORM_LISTEN_PORT: String(local.port),
        PLATFORM_NODE_LISTEN_PORT: String(local.nodePort),
        PLATFORM_INGRESS_PUBLIC_PORT: String(publicPort),
        PLATFORM_TRUSTED_PROXIES: '127.0.0.1',
      },
    };
    front = await startNginxFront(publicPort, {
      [SHELL]: local.port,
      [`*.${APPS}`]: local.port,
      [NODE]: local.nodePort,
      [`*.${PUBLIC}`]: local.ingressPort,
    });
    platform = await startPlatform(place);
    folder = await mkdtemp(path.join(tmpdir(), 'behind-nginx-'));
    const context = await launchProfile(folder, {}, [
      `--host-resolver-rules=MAP *.test ${FRONT_ADDRESS}, MAP * ~NOTFOUND, EXCLUDE ${FRONT_ADDRESS}`,
      `--ignore-certificate-errors-spki-list=${front.keyHash}`,
    ]);
    person = await personIn(context);
  });
  after(async () => {
    await person?.context.close();
    await platform?.stop();
    await front?.stop();
    await place?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test('a newcomer registers, installs Notes and keeps a note', async () => {
    const someone = new Newcomer(person, {
      origin: place.origin,
      device: 'desktop',
      account: 'ada',
      pictures: 'behind-nginx',
    });
    await someone.registers();
    await someone.findsNotesInTheStore();
    await someone.installsNotes();
    await someone.addsANote('Buy oat milk');
    const frames = person.page.frames().map((frame) => new URL(frame.url()));
    const notes = frames.find(({ hostname }) => hostname.startsWith('notes--'));
    assert.equal(notes?.port, String(publicPort), 'the frontend comes from the port of nginx');
    // Frames of another site have no storage in this browser, which says so.
    const others = someone.complaints().filter((said) => !said.startsWith('This browser blocks localStorage'));
    assert.deepEqual(others, []);
  });

  test('the internet address of an app leads to nginx, and its backend answers there', async () => {
    const owner = await registerAccount(place, 'publisher');
    const { url, hostname } = await installPublicApp(owner, 'greeter', { workload: WORKLOAD, routes: ['GET:/*'] });
    assert.equal(url, `https://${hostname}:${publicPort}`);
    const answer = await until('the Ingress knows the name', async () => {
      const got = await askFront(hostname);
      return got.status === 200 ? got : undefined;
    });
    assert.match(answer.body, new RegExp(`^hello ${hostname.replaceAll('.', '\\.')}`));
  });

  test('the start names the address that people open, and where it listens for the proxy', () => {
    const said = platform.output();
    assert.ok(said.includes(place.origin), said);
    assert.match(said, new RegExp(`127\\.0\\.0\\.1:${place.port} .*the shell`), said);
  });

  function askFront(hostname: string): Promise<{ status: number | undefined; body: string }> {
    return new Promise((resolve, reject) => {
      const request = https.get({
        host: FRONT_ADDRESS,
        port: publicPort,
        servername: hostname,
        headers: { host: `${hostname}:${publicPort}` },
        ca: front.certificate,
        agent: false,
      });
      request.once('error', reject);
      request.once('response', (response) => {
        void text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
      });
    });
  }
});
