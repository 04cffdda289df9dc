// Foreign clients of HTTP/2 against the TLS front of an Ingress: curl, nghttp and h2load, and Python's h2.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { readBody } from '@platform/http';
import { HOST, openFrontUnderTest } from '../../packages/ingress/test-support/tls-front-under-test.ts';

const run = promisify(execFile);
const INSTALL_MS = 180_000;
let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ingress-http2-'));
});
after(() => rm(folder, { recursive: true }));

interface World {
  readonly port: number;
  readonly ca: string;
  readonly methods: string[];
}

/** Answers how many bytes of body came. */
async function opened(t: TestContext): Promise<World> {
  const methods: string[] = [];
  const under = await openFrontUnderTest(t, {
    onRequest: ({ req, res, head, expectsContinue }) => {
      methods.push(`${req.method} ${req.url}`);
      if (expectsContinue) res.writeContinue();
      const hasBody = head.chunked || (head.contentLength ?? 0) > 0;
      const body = hasBody
        ? readBody(req, { limit: 20_000_000, milliseconds: 20_000 })
        : Promise.resolve(Buffer.alloc(0));
      body.then(
        ({ length }) => res.end(`${length} bytes`),
        () => res.destroy(),
      );
      return null;
    },
  });
  const ca = path.join(folder, `ca-${under.front.port}.pem`);
  await writeFile(ca, under.authority.ca);
  return { port: under.front.port, ca, methods };
}

const needs = (program: string) => (existsSync(`/usr/bin/${program}`) ? false : `needs ${program}`);

test('curl agrees on HTTP/2, sends bodies of any kind, and falls back to HTTP/1.1', {
  skip: needs('curl'),
}, async (t) => {
  const { port, ca } = await opened(t);
  const file = path.join(folder, 'body');
  await writeFile(file, 'x'.repeat(3_000_000));
  const curl = async (...args: string[]) => {
    const common = [
      '-sS',
      '--cacert',
      ca,
      '--resolve',
      `${HOST}:${port}:127.0.0.1`,
      '-w',
      ' %{http_version} %{http_code}',
    ];
    return (await run('curl', [...common, ...args, `https://${HOST}:${port}/x?y`])).stdout;
  };
  assert.equal(await curl(), '0 bytes 2 200');
  assert.equal(await curl('--http1.1'), '0 bytes 1.1 200');
  assert.equal(await curl('--data-binary', `@${file}`), '3000000 bytes 2 200');
  assert.equal(await curl('--data-binary', `@${file}`, '-H', 'Expect: 100-continue'), '3000000 bytes 2 200');
  assert.match(await curl('-I'), /strict-transport-security: max-age=31536000[\s\S]* 2 200$/);
  assert.match(await curl('-H', 'Host: elsewhere.test'), /unknown_host.* 2 421$/);
  assert.equal(await curl('--tls-max', '1.2'), '0 bytes 2 200');
});

test('nghttp sends many requests over one connection', { skip: needs('nghttp') }, async (t) => {
  const { port, methods } = await opened(t);
  const uris = Array.from({ length: 20 }, (_, index) => `https://${HOST}:${port}/${index}`);
  // The name in :authority is also that of the handshake.
  const args = ['--no-verify-peer', '-s', '-H', `:authority: ${HOST}`];
  const { stdout } = await run('nghttp', [...args, ...uris.map((uri) => uri.replace(HOST, 'localhost'))]);
  assert.equal(stdout.match(/ 200 +7 \/\d+/g)?.length, 20, stdout);
  assert.equal(methods.length, 20);
});

test('h2load gets every answer at full load', { skip: needs('h2load') }, async (t) => {
  const { port } = await opened(t);
  const args = ['-n', '5000', '-c', '4', '-m', '20', '--connect-to', `127.0.0.1:${port}`, `https://${HOST}:${port}/`];
  const { stdout } = await run('h2load', args, { timeout: 60_000 });
  assert.match(stdout, /requests: 5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout/);
  assert.match(stdout, /Application protocol: h2/);
});

test('Python’s h2 speaks to it, and gets refusals as answers', { timeout: 3 * INSTALL_MS }, async (t) => {
  const python = path.join(folder, 'venv/bin/python');
  try {
    await run('python3', ['-m', 'venv', path.join(folder, 'venv')], { timeout: INSTALL_MS });
    await run(path.join(folder, 'venv/bin/pip'), ['install', '-q', 'httpx[http2]==0.28.1'], { timeout: INSTALL_MS });
  } catch {
    return t.skip('needs Python with venv, and a package index');
  }
  const { port, ca } = await opened(t);
  const program = path.join(folder, 'program.py');
  await writeFile(
    program,
    `
import socket, sys, httpx
port, ca, host = int(sys.argv[1]), sys.argv[2], sys.argv[3]
lookup = socket.getaddrinfo
socket.getaddrinfo = lambda name, *rest, **more: lookup("127.0.0.1", *rest, **more)
def parts():
    for _ in range(50):
        yield b"x" * 10_000
with httpx.Client(http2=True, verify=ca, trust_env=False) as client:
    url = f"https://{host}:{port}/a"
    for answer in [
        client.get(url),
        client.post(url, content=b"four"),
        client.post(url, content=parts()),
        client.get(url, headers={"Host": "elsewhere.test"}),
        client.get(f"https://{host}:{port}/%2e%2e/a"),
    ]:
        print(answer.http_version, answer.status_code, answer.text[:12])
`,
  );
  const { stdout } = await run(python, [program, String(port), ca, HOST], { timeout: 60_000 });
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/ \{.*/, '')),
    ['HTTP/2 200 0 bytes', 'HTTP/2 200 4 bytes', 'HTTP/2 200 500000 bytes', 'HTTP/2 421', 'HTTP/2 400'],
  );
});
