// What holds for the calls of a backend, service by service, and for calls that go wrong.
import { PlatformError, PlatformServicesClient } from '@platform/sdk';
import { equal, fails, failureOf, point } from './checks.ts';
import type { Cases, SuiteTools } from './tools.ts';

/** A client whose platform is one of the misbehaving places. */
function clientAt({ misbehaving }: SuiteTools, place: string): PlatformServicesClient {
  return new PlatformServicesClient({ apiUrl: `${misbehaving}/${place}`, gatewayToken: 'pgw_test' });
}

export const callCases: Cases = {
  async 'a client is made from the variables of the platform, and not without them'({ environment, client }) {
    const again = PlatformServicesClient.fromEnv(environment);
    equal((await again.listApps()).items, (await client.listApps()).items);
    equal(again.objectStorage(), null);
    try {
      PlatformServicesClient.fromEnv({});
    } catch (error) {
      return equal([error instanceof PlatformError, (error as PlatformError).code], [true, 'not_launched']);
    }
    throw new Error('there is a client');
  },

  async 'the apps that the grant covers are listed'({ client }) {
    const { items, nextCursor } = await client.listApps({ limit: 5 });
    equal([items.map(({ appId, installed }) => [appId, installed]), nextCursor], [[['sdk-suite', true]], null]);
  },

  async 'an app that it makes waits for its person, and one that is none is refused'({ client }) {
    const manifest = { schemaVersion: 9, id: 'made-by-suite', version: '1.0.0', name: 'Made', summary: 'Made here.' };
    const files = { 'manifest.json': JSON.stringify({ ...manifest, frontend: {} }), 'frontend/index.html': '<p>Made' };
    const { id, appId, version, hash } = await client.makeApp({ appId: 'made-by-suite', files });
    equal([id.startsWith('drf-'), appId, version, hash.length], [true, 'made-by-suite', '1.0.0', 64]);
    const refused = { name: 'PlatformError', code: 'invalid_request', status: 400 };
    await fails(client.makeApp({ appId: 'another-id', files }), refused);
    await fails(client.makeApp({ appId: 'made-by-suite', files: { ...files, 'frontend/../evil': '' } }), refused);
  },

  async 'the inventory of the platform and its accounts are refused without the grant'({ client }) {
    await fails(client.system(), { name: 'PlatformError', code: 'grant_missing', status: 403 });
    await fails(client.systemAccounts(), { name: 'PlatformError', code: 'grant_missing', status: 403 });
  },

  async 'a capability of this workload is valid, and nothing else is'({ client }) {
    const { capability, expiresAt } = await client.renewAppCapability();
    equal([Number.isNaN(Date.parse(expiresAt)), await client.verifyCapability(capability)], [false, true]);
    for (const wrong of [`${capability.slice(0, -1)}~`, `pdc_${'A'.repeat(43)}`, '', 'x'.repeat(1_000)])
      equal(await client.verifyCapability(wrong), false);
  },

  async 'the index takes entries, changes and removals'({ client: { search } }) {
    const entries = [
      { id: 'a', title: 'Ärger', url: '/a' },
      { id: 'b-c d', title: '日本語', url: '?b', kind: 'note', text: 'hidden' },
    ];
    equal(await search.replace(entries), 2);
    equal(await search.upsert([{ id: 'a', title: 'Again', url: '/a' }]), 1);
    await search.remove('b-c d');
    await search.remove('b-c d');
    await fails(search.remove('..'), { name: 'PlatformError', code: 'invalid_request' });
    await fails(search.upsert([{ id: 'a', title: '', url: '/a' }]), { code: 'invalid_request', status: 400 });
    await search.clear();
  },

  async 'a work lease is renewed, released, and over'({ client }) {
    const lease = await client.acquireWorkLease({ durationSeconds: 30, reason: 'a case' });
    equal((await client.renewWorkLease(lease.id, { durationSeconds: 300 })) > lease.expiresAt, true);
    await lease.release();
    equal([lease.ended.aborted, (lease.ended.reason as Error).name], [true, 'AbortError']);
    await lease.release();
    await fails(client.renewWorkLease(lease.id), { code: 'not_found', status: 404 });
    await fails(client.releaseWorkLease(lease.id), { code: 'not_found' });
    await fails(client.acquireWorkLease({ durationSeconds: 14 }), { code: 'invalid_request' });
  },

  async 'a work lease ends with its signal'({ client }) {
    const work = new AbortController();
    const lease = await client.acquireWorkLease({ signal: work.signal });
    work.abort();
    equal(lease.ended.aborted, true);
    await fails(client.acquireWorkLease({ signal: work.signal }), { name: 'AbortError' });
  },

  async 'a slot and a provider that are not there are refused, as errors with a code'({ client }) {
    await fails(client.outbound('nowhere').request('/x'), { name: 'PlatformError', code: 'not_found', status: 404 });
    await fails(client.intelligence('nobody').request('models'), { name: 'PlatformError' });
    await fails(client.outbound('nowhere').request('../x'), { code: 'invalid_request' });
  },

  async 'another credential is refused'({ environment }) {
    const other = new PlatformServicesClient({ apiUrl: environment.PLATFORM_API_URL, gatewayToken: 'pgw_wrong' });
    await fails(other.listApps(), { name: 'PlatformError', code: 'unauthenticated', status: 401 });
    await fails(
      other.runWorkflow({ definition: 'd', version: 1, idempotencyKey: 'k', durationSeconds: 60 }, () => 1),
      {
        code: 'unauthenticated',
      },
    );
    await fails(other.notifications.stream().next(), { code: 'unauthenticated' });
  },

  async 'a call without an answer ends at its time limit'(tools) {
    const silent = clientAt(tools, 'silent');
    const limit = { timeoutMilliseconds: 30 };
    await Promise.all([
      fails(silent.notifications.list(limit), { name: 'PlatformError', code: 'timed_out', status: 0 }),
      fails(silent.search.clear(limit), { code: 'timed_out' }),
      fails(silent.workflows.get('wf-1', limit), { code: 'timed_out' }),
      fails(silent.intelligence('p').request('x', limit), { code: 'timed_out' }),
      fails(silent.outbound('s').request('x', limit), { code: 'timed_out' }),
      fails(clientAt(tools, 'dribbling').listApps({ timeoutMilliseconds: 100 }), { code: 'timed_out' }),
    ]);
  },

  async 'every call rejects with the reason of its signal'(tools) {
    const silent = clientAt(tools, 'silent');
    const reason = new Error('changed my mind');
    const ending = new AbortController();
    const { signal } = ending;
    const run = { definition: 'd', version: 1, idempotencyKey: 'k', durationSeconds: 60, signal };
    const calls = [
      silent.listApps({ signal }),
      silent.system({ signal }),
      silent.notifications.publish({ topic: 't', title: 'T' }, { signal }),
      silent.notifications.list({ signal }),
      silent.notifications.read('ntf-1', { signal }),
      silent.notifications.readAll({ signal }),
      silent.search.replace([], { signal }),
      silent.search.upsert([], { signal }),
      silent.search.remove('a', { signal }),
      silent.search.clear({ signal }),
      silent.acquireWorkLease({ signal }),
      silent.renewWorkLease('lease-1', { signal }),
      silent.releaseWorkLease('lease-1', { signal }),
      silent.workflows.list({ signal }),
      silent.workflows.get('wf-1', { signal }),
      silent.workflows.history('wf-1', { signal }),
      silent.workflows.cancel('wf-1', { signal }),
      silent.runWorkflow(run, () => 1),
      silent.resumeWorkflows([{ definition: 'd', version: 1, run: () => 1 }], { signal }),
      silent.intelligence('p').request('x', { signal }),
      silent.outbound('s').request('x', { signal }),
    ].map(failureOf);
    ending.abort(reason);
    for (const failure of await Promise.all(calls)) equal(failure === (reason as unknown), true);
    equal((await silent.notifications.stream({ signal }).next()).done, true);
  },

  async 'a call whose connection breaks is a failed network, with its cause'(tools) {
    const failure = await failureOf(clientAt(tools, 'broken').search.clear());
    equal([failure.name, failure.code, failure.cause instanceof Error], ['PlatformError', 'network_failed', true]);
  },

  async 'an answer that is none of the platform is said to be invalid'(tools) {
    await fails(clientAt(tools, 'html').listApps(), { name: 'PlatformError', code: 'invalid_answer' });
    await fails(clientAt(tools, 'moved').listApps(), { name: 'PlatformError', code: 'invalid_answer' });
    await fails(clientAt(tools, 'teapot').listApps(), { name: 'PlatformError', code: 'invalid_answer', status: 418 });
  },

  async 'a read outlasts a restart, and a publication is sent once'(tools) {
    const { items } = await clientAt(tools, 'restarting/read').listApps();
    equal(items, []);
    const once = clientAt(tools, 'restarting/publish').notifications;
    await fails(once.publish({ topic: 't', title: 'T' }), { code: 'unavailable', status: 503 });
  },

  async 'news outlast a platform that is away, and say so'(tools) {
    const { messaging } = clientAt(tools, 'away');
    const said: (string | null)[] = [];
    const waitsOut = (failure: { readonly code: string } | null) => void said.push(failure?.code ?? null);
    for await (const { cursor } of messaging.news({ waitsOut })) {
      equal([cursor, said], ['there', ['unavailable', null]]);
      break;
    }
  },

  async 'leaving the loop of a stream closes its connection'(tools) {
    const { notifications } = clientAt(tools, 'streaming');
    for await (const { event, id } of notifications.stream()) {
      equal([event, id], ['apps', '1']);
      break;
    }
    await fetch(`${tools.misbehaving}/streaming/closed`);
  },

  async 'a stream that breaks goes on behind its last event'(tools) {
    const ids: unknown[] = [];
    for await (const { id } of clientAt(tools, 'breaking').notifications.stream()) {
      ids.push(id);
      if (ids.length === 3) break;
    }
    equal(ids, ['1', '2', '3']);
  },

  async 'many calls at once each get their own answer'({ client: { notifications } }) {
    const titles = Array.from({ length: 20 }, (_, index) => `Title ${index}`);
    const topic = 'suite.many';
    const records = await Promise.all(titles.map((title) => notifications.publish({ topic, title, dedupeKey: title })));
    equal(
      records.map(({ title }) => title),
      titles,
    );
  },

  async 'an executor that never ends is left when the signal of the run aborts'({ client }) {
    const entered = point();
    const ending = new AbortController();
    const options = {
      definition: 'left',
      version: 1,
      idempotencyKey: 'left',
      durationSeconds: 60,
      signal: ending.signal,
    };
    const running = client.runWorkflow(options, (flow) =>
      flow.activity('wait', 'wait', null, (_input, { signal }) => {
        entered.reach();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }),
    );
    await entered.reached;
    const reason = new Error('the process ends');
    ending.abort(reason);
    equal((await failureOf(running)) === (reason as unknown), true);
    const [run] = (await client.workflows.list({ definition: 'left' })).items;
    equal(run?.status, 'running');
    if (run !== undefined) await client.workflows.cancel(run.id);
  },
};
