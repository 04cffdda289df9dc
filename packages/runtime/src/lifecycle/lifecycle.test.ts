// A workload's life as its owner and its users meet it: on first use, after crashes, when idle, when replaced.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Assignment, InstallationStatus } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode, type TestNode } from '../../test-support/node.ts';

const SERVER = `
  import fs from 'node:fs';
  const http = process.getBuiltinModule('node:http');
  console.log('started with pid', process.pid);
  http.createServer(async (req, res) => {
    if (req.url === '/env') return res.end(JSON.stringify(process.env));
    if (req.url === '/crash') { res.end('soon'); setImmediate(() => process.exit(9)); return; }
    if (req.url === '/leave') { res.end('soon'); setImmediate(() => process.exit(0)); return; }
    if (req.url === '/service') {
      const answer = await fetch(process.env.PLATFORM_API_URL + '/v1/services/apps', { headers: { authorization: 'Bearer ' + process.env.PLATFORM_GATEWAY_TOKEN } });
      return res.end(answer.status + ' ' + await answer.text());
    }
    if (req.url === '/hold') { res.write('holding '); globalThis.held = res; return; }
    if (req.url === '/release') { globalThis.held.end('released'); return res.end(); }
    if (req.url === '/count') {
      const file = process.env.PLATFORM_VOLUME_DIR + '/count';
      const count = fs.existsSync(file) ? Number(fs.readFileSync(file)) + 1 : 1;
      fs.writeFileSync(file, String(count));
      return res.end(String(count));
    }
    res.end('hello from ' + process.pid);
  }).listen(Number(process.env.PORT));
`;
const CRASHES = `console.error('cannot work'); process.exit(1);`;

describe('a workload', () => {
  let node: TestNode;
  let server: string;
  let crashing: string;
  const assigned: Assignment[] = [];

  const assign = (hash: string, more: Parameters<typeof makeAssignment>[1] = {}): Assignment => {
    const one = makeAssignment(hash, more);
    assigned.push(one);
    node.core.assign([...assigned]);
    return one;
  };
  const replace = (one: Assignment, next: Partial<Assignment>): Assignment => {
    const changed = { ...one, ...next };
    assigned.splice(assigned.indexOf(one), 1, changed);
    node.core.assign([...assigned]);
    return changed;
  };
  const known = (one: Assignment) =>
    until(
      'the assignment to arrive',
      async () => (await node.core.control('GET', `/installations/${one.installationId}/status`)).status === 200,
    );
  const state = async (one: Assignment, wanted: InstallationStatus['state']) => {
    let last: InstallationStatus | undefined;
    try {
      return await until(`the state ${wanted}`, async () => {
        last = await node.core.status(one.installationId);
        return last.state === wanted ? last : undefined;
      });
    } catch (error) {
      throw new Error(`still ${JSON.stringify(last)}; ${node.logged.slice(-5).join('; ')}`, { cause: error });
    }
  };
  const lines = async (one: Assignment) => (await node.core.logs(one.installationId)).items.map((item) => item.line);

  before(async () => {
    node = await startTestNode();
    server = await node.core.publish({ 'index.mjs': SERVER });
    crashing = await node.core.publish({ 'index.mjs': CRASHES });
  });
  after(() => node.close());

  test('that is not used does not run', async () => {
    const one = assign(server);
    await known(one);
    assert.equal((await node.core.status(one.installationId)).state, 'stopped');
    assert.equal(node.core.starts.get(one.installationId), undefined);
  });

  test('starts at its first use, once for all who come at the same time', async () => {
    const one = assign(server);
    await known(one);
    const answers = await Promise.all(Array.from({ length: 8 }, () => node.call(one)));
    assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
    assert.equal(node.core.starts.get(one.installationId)?.length, 1);
    await until('its status to reach core', () => node.core.statuses.get(one.installationId)?.state === 'running');
  });

  test('gets its environment and reaches services with the credential of this start', async () => {
    const one = assign(server, { workload: { environment: { COLOUR: 'blue', TZ: 'Europe/Berlin' }, volume: true } });
    await known(one);
    const environment = JSON.parse((await node.call(one, '/env')).text);
    assert.match(environment.PLATFORM_GATEWAY_TOKEN, /^pgw_[\w-]{43}$/);
    assert.match(environment.PLATFORM_APP_CAPABILITY, /^pdc_[\w-]{43}$/);
    assert.deepEqual(
      { ...environment, PLATFORM_GATEWAY_TOKEN: '', PLATFORM_APP_CAPABILITY: '' },
      {
        COLOUR: 'blue',
        HOME: '/volume',
        LANG: 'C.UTF-8',
        PATH: '/opt/platform/bin:/usr/local/bin:/usr/bin:/bin',
        PLATFORM_API_URL: 'http://127.0.0.1:7070',
        PLATFORM_APP_CAPABILITY: '',
        PLATFORM_APP_ORIGIN: one.appOrigin,
        PLATFORM_GATEWAY_TOKEN: '',
        PLATFORM_VOLUME_DIR: '/volume',
        PORT: '8080',
        TZ: 'Europe/Berlin',
      },
    );
    assert.equal((await node.call(one, '/service')).text, '200 {"served":"/v1/services/apps"}');
    assert.deepEqual(node.core.services.at(-1), {
      target: 'GET /v1/services/apps',
      authorization: `Bearer pcs_${one.installationId}_1`,
    });
  });

  test('with mode always starts without being used', async () => {
    const one = assign(server, { desired: 'always', workload: { mode: 'always' } });
    await known(one);
    await state(one, 'running');
  });

  test('stops after its idle time, not while a request is under way, and wakes again', async () => {
    const one = assign(server, { workload: { idleSeconds: 30 } });
    await known(one);
    const first = (await node.call(one)).text;
    const held = node.call(one, '/hold');
    await until('the request to arrive', async () => (await node.call(one)).status === 200);
    node.clock.advance(31_000);
    node.clock.advance(31_000);
    assert.equal((await node.core.status(one.installationId)).state, 'running');
    await node.call(one, '/release');
    assert.equal((await held).text, 'holding released');
    await until('it to stop', async () => {
      node.clock.advance(31_000);
      return (await node.core.status(one.installationId)).state === 'stopped';
    });
    await until('the reason in the log', async () => (await lines(one)).includes('Stopped after 30 s without use.'));
    assert.equal((await node.call(one)).status, 200);
    assert.equal(node.core.starts.get(one.installationId)?.length, 2);
    assert.match(first, /hello/);
  });

  test('that ends by itself with 0 is stopped, not failed', async () => {
    const one = assign(server);
    await known(one);
    await node.call(one, '/leave');
    const status = await state(one, 'stopped');
    assert.equal(status.lastExit?.reason, 'Exited with code 0.');
    assert.equal((await node.call(one)).status, 200);
  });

  test('that crashes is started again after a second', async () => {
    const one = assign(server);
    await known(one);
    await node.call(one, '/crash');
    const status = await until('the crash to be seen', async () => {
      const now = await node.core.status(one.installationId);
      return now.state === 'starting' ? now : undefined;
    });
    assert.equal(status.reason, 'Exited with code 9. Next attempt in 1 s.');
    node.clock.advance(1_000);
    const again = await state(one, 'running');
    assert.equal(again.restarts, 1);
    assert.equal(again.lastExit?.reason, 'Exited with code 9.');
  });

  test('that crashes five times in a row fails with the reason, and callers get it at once', async () => {
    const one = assign(crashing);
    await known(one);
    const call = node.call(one);
    const delays: string[] = [];
    const failed = await until('it to fail', async () => {
      const status = await node.core.status(one.installationId);
      const delay = /Next attempt in (\d+) s/.exec(status.reason ?? '')?.[1];
      if (delay !== undefined) {
        if (delays.at(-1) !== delay) delays.push(delay);
        node.clock.advance(Number(delay) * 1_000);
      }
      return status.state === 'failed' ? status : undefined;
    });
    assert.deepEqual(delays, ['1', '2', '4', '8']);
    assert.equal(failed.reason, 'Exited with code 1. Gave up after 5 failed starts.');
    const refused = await call;
    assert.equal(refused.status, 503);
    assert.equal(JSON.parse((await node.call(one)).text).code, 'workload_unavailable');
    assert.ok((await lines(one)).includes('cannot work'));
  });

  test('that crashes at its start is named at once to who starts it, and with its second crash to who asks', async () => {
    const one = assign(crashing);
    await known(one);
    const started = await node.core.control('POST', `/installations/${one.installationId}/start`);
    const { state: now, reason } = started.body as InstallationStatus;
    assert.deepEqual([now, reason], ['starting', 'Exited with code 1. Next attempt in 1 s.']);

    const other = assign(crashing);
    await known(other);
    const waiting = () => node.clock.timers().filter((left) => left === 15_000).length;
    const others = waiting();
    const call = node.call(other);
    await until('the call to wait through the first crash', async () => {
      const status = await node.core.status(other.installationId);
      return status.reason === 'Exited with code 1. Next attempt in 1 s.' && waiting() > others;
    });
    node.clock.advance(1_000);
    const named = 'The backend of the app is not available. Exited with code 1. Next attempt in 2 s.';
    assert.equal(JSON.parse((await call).text).detail, named);
    assert.equal(JSON.parse((await node.call(other)).text).detail, named, 'nobody waits between two attempts');
  });

  test('that failed is tried again by an explicit start', async () => {
    const one = assign(crashing);
    await known(one);
    const starting = node.core.control('POST', `/installations/${one.installationId}/start`);
    await until('it to fail', async () => {
      node.clock.advance(8_000);
      return (await node.core.status(one.installationId)).state === 'failed';
    });
    await starting;
    const starts = node.core.starts.get(one.installationId)?.length ?? 0;
    void node.core.control('POST', `/installations/${one.installationId}/start`);
    await until('another start', () => (node.core.starts.get(one.installationId)?.length ?? 0) > starts);
  });

  test('that does not listen in time is said to be starting, once for all who ask', async () => {
    const hash = await node.core.publish({ 'index.mjs': `console.log('up'); setInterval(() => {}, 1000);` });
    const one = assign(hash);
    await known(one);
    const call = node.call(one);
    await until('it to be up', async () => (await lines(one)).includes('up'));
    node.clock.advance(15_000);
    const answer = await call;
    assert.equal(answer.status, 503);
    assert.equal(answer.headers['retry-after'], '5');
    const { code, detail } = JSON.parse(answer.text);
    assert.deepEqual(
      [code, detail],
      ['workload_unavailable', 'The app’s backend is still starting. Try again in 5 seconds.'],
    );
    const waiting = () => node.clock.timers().filter((left) => left === 15_000).length;
    const others = waiting();
    const again = node.call(one);
    await until('the second call to wait', () => waiting() > others);
    node.clock.advance(15_000);
    assert.equal(JSON.parse((await again).text).detail, detail);
    assert.equal(node.core.starts.get(one.installationId)?.length, 1, 'one start for both');
    node.clock.advance(30_000);
    await until('the limit to be seen', async () =>
      /^It did not listen on port 8080 within 60 s\. Next/.test(
        (await node.core.status(one.installationId)).reason ?? '',
      ),
    );
  });

  test('that listens on another port is said to within seconds, in its status, its log and to who asks, and once', async () => {
    const hash = await node.core.publish({
      'index.mjs': `
        const http = process.getBuiltinModule('node:http');
        http.createServer().listen(9999, () => console.log('up'));
        process.on('SIGTERM', () => process.exit());`,
    });
    const one = assign(hash);
    await known(one);
    const call = node.call(one);
    await until('it to be up', async () => (await lines(one)).includes('up'));
    const reason = 'It listens on port 9999, and not on port 8080, which is in its environment variable PORT.';
    const shown = async () => (await node.core.status(one.installationId)).reason;
    node.clock.advance(2_000);
    assert.equal(await shown(), undefined, 'the right one may follow');
    node.clock.advance(1_000);
    assert.deepEqual([(await node.core.status(one.installationId)).state, await shown()], ['starting', reason]);
    node.clock.advance(12_000);
    assert.equal(JSON.parse((await call).text).detail, `The backend of the app is not available. ${reason}`);
    assert.equal((await lines(one)).filter((line) => line === reason).length, 1);
    node.clock.advance(45_000);
    const status = await until('the limit to be seen', async () => {
      const now = await node.core.status(one.installationId);
      return now.reason?.includes('60 s') ? now : undefined;
    });
    assert.match(status.reason ?? '', /^It did not listen on port 8080 within 60 s\. It listens on 9999 instead\./);
  });

  test('that breaks off the question whether it listens still runs out of time', async () => {
    const hash = await node.core.publish({
      'index.mjs': `
        import fs from 'node:fs';
        const sockets = () => fs.readdirSync('/proc/self/fd').filter((name) => {
          try { return Number(name) > 2 && fs.readlinkSync('/proc/self/fd/' + name).startsWith('socket:'); } catch { return false; }
        });
        // One is the listener of the way in; the question is the second.
        const timer = setInterval(() => {
          const found = sockets();
          if (found.length < 2) return;
          clearInterval(timer);
          for (const name of found) fs.closeSync(Number(name));
          console.log('closed');
          setInterval(() => {}, 1000);
        }, 1);`,
    });
    const one = assign(hash);
    await known(one);
    const call = node.call(one);
    await until('it to have closed them', async () => (await lines(one)).includes('closed'));
    const status = await until('the limit to be seen', async () => {
      node.clock.advance(61_000);
      const now = await node.core.status(one.installationId);
      return /It did not listen on port 8080|Next attempt/.test(now.reason ?? '') && now;
    });
    assert.notEqual(status.state, 'running');
    assert.equal((await call).status, 503);
  });

  test('that its owner stopped stays down and refuses until it is started', async () => {
    const one = assign(server);
    await known(one);
    assert.equal((await node.call(one)).status, 200);
    const stopped = replace(one, { desired: 'stopped' });
    assert.equal((await node.core.control('POST', `/installations/${one.installationId}/stop`)).status, 200);
    await state(one, 'stopped');
    await until('the new assignment to arrive', async () => (await node.call(one)).status === 503);
    replace(stopped, { desired: 'automatic' });
    const started = await node.core.control('POST', `/installations/${one.installationId}/start`);
    assert.equal((started.body as InstallationStatus).state, 'running');
    assert.equal((await node.call(one)).status, 200);
  });

  test('of a paused account ends and refuses with the word of the pause, and the next use after it wakes it', async () => {
    const one = assign(server);
    await known(one);
    assert.equal((await node.call(one)).status, 200);
    const paused = replace(one, { desired: 'stopped', paused: true });
    await state(one, 'stopped');
    const refused = await node.call(one);
    assert.deepEqual([refused.status, JSON.parse(refused.text).code], [503, 'runtime_paused']);
    assert.equal(refused.headers['access-control-allow-origin'], one.appOrigin, 'its page may read why');
    replace(paused, { desired: 'automatic', paused: false });
    await until('the end of the pause', async () => (await node.call(one)).status === 200);
    assert.equal(node.core.starts.get(one.installationId)?.length, 2);
  });

  test('is replaced by its new version while it runs, and keeps its volume', async () => {
    const one = assign(server, { workload: { volume: true } });
    await known(one);
    assert.equal((await node.call(one, '/count')).text, '1');
    const next = await node.core.publish({ 'index.mjs': `// two\n${SERVER}` });
    const changed = replace(one, { packageHash: next, version: '2.0.0' });
    await until('the new version', () => node.core.starts.get(one.installationId)?.length === 2);
    await state(changed, 'running');
    assert.equal((await node.call(changed, '/count')).text, '2');
    assert.ok((await lines(one)).includes('Version 2.0.0 replaces 1.0.0.'));
  });

  test('that is uninstalled ends, loses its log, and finds its volume when it comes back', async () => {
    const one = assign(server, { workload: { volume: true } });
    await known(one);
    assert.equal((await node.call(one, '/count')).text, '1');
    assigned.splice(assigned.indexOf(one), 1);
    node.core.assign([...assigned]);
    assert.equal((await node.core.control('DELETE', `/installations/${one.installationId}`)).status, 204);
    assert.equal((await node.call(one)).status, 404);
    assert.deepEqual((await node.core.logs(one.installationId)).items, []);
    assigned.push(one);
    node.core.assign([...assigned]);
    await known(one);
    assert.equal((await node.call(one, '/count')).text, '2');
  });

  test('whose package is not what its hash says never runs', async () => {
    const hash = node.core.publishBlob(Buffer.from('not a package'), 'a'.repeat(64));
    const one = assign(hash);
    await known(one);
    const answer = await node.call(one);
    assert.equal(answer.status, 503);
    assert.match(JSON.parse(answer.text).detail, /does not match its content hash/);
    assert.equal((await node.core.status(one.installationId)).state, 'failed');
  });

  test('whose entry is missing fails with one sentence', async () => {
    const one = assign(server, { workload: { entry: 'other.mjs' } });
    await known(one);
    const answer = await node.call(one);
    assert.match(JSON.parse(answer.text).detail, /no file workload\/other\.mjs/);
  });

  test('that core gives no credential is tried again, and nothing runs meanwhile', async () => {
    const one = assign(server);
    await known(one);
    node.core.answerStarts(503);
    const call = node.call(one);
    await until('the failure', async () =>
      (await node.core.status(one.installationId)).reason?.includes('Next attempt'),
    );
    node.core.answerStarts(200);
    node.clock.advance(1_000);
    assert.equal((await call).status, 200);
  });

  test('shows nothing secret and no path of the host in logs and answers', () => {
    const text = node.logged.join('\n');
    for (const secret of ['pgw_', 'pcs_', 'pdc_', 'pnd_', 'pnc_']) assert.ok(!text.includes(secret), secret);
  });
});
