// Who opens the server under another name learns its address, and who asks for what is not there learns that: people from a page,
// programs from a problem document.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';

let constellation: Constellation;
before(async () => {
  constellation = await startConstellation();
});
after(() => constellation.close());

function get(headers: Record<string, string>, path = '/'): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port: constellation.core.port, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
    });
    request.on('error', reject);
  });
}

test('a browser at another name is shown the address to open, and nothing of what it sent', async () => {
  const { config } = constellation.core.context;
  const answer = await get({ host: 'localhost.evil.example', accept: 'text/html,*/*;q=0.8' });
  assert.equal(answer.status, 421);
  assert.match(answer.type, /^text\/html/);
  assert.ok(answer.text.includes(`<a href="${config.origin}/">`), answer.text);
  assert.ok(!answer.text.includes('evil'));
});

test('a program at another name gets unknown_host with the address in its detail', async () => {
  const answer = await get({ host: 'localhost', accept: 'application/json' });
  assert.equal(answer.status, 421);
  const problem: unknown = JSON.parse(answer.text);
  assert.ok(typeof problem === 'object' && problem !== null && 'code' in problem && 'detail' in problem);
  assert.equal(problem.code, 'unknown_host');
  assert.ok(String(problem.detail).includes(constellation.core.context.config.origin));
});

test('a browser at an address with nothing behind it is shown the way home, and nothing of what it sent', async () => {
  const { host } = new URL(constellation.origin);
  const page = await get({ host, accept: 'text/html,*/*;q=0.8' }, '/nope-evil?evil');
  assert.equal(page.status, 404);
  assert.match(page.type, /^text\/html/);
  assert.ok(page.text.includes('<a href="/">Home screen</a>') && !page.text.includes('evil'), page.text);
  const program = await get({ host, accept: '*/*' }, '/nope');
  assert.deepEqual([program.status, JSON.parse(program.text).code], [404, 'not_found']);
});
