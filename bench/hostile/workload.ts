// The backend of the hostile app: everything a workload can do to its neighbours, all at once, until it is stopped.
import { testManifest } from '../../tests/support/packages.ts';

export const HOSTILE_APP = 'bench-hostile';

/** Small limits of its own; what it takes beyond them is what the platform has to refuse. */
export const hostileManifest = testManifest(HOSTILE_APP, {
  workload: { runtime: 'node', entry: 'main.mjs', mode: 'automatic' },
  permissions: [
    { id: 'apps.catalog.read', resources: ['*'] },
    { id: 'notifications.publish', resources: ['*'] },
    { id: 'search.index', resources: ['self'] },
  ],
});

/**
 * Begins with the first request, `/?seconds=n`, which answers at once: 64 connections to its Gateway at full speed, whole
 * indexes of 10,000 entries four at a time, bodies that never end, notifications, and lines of 4 KiB into its log.
 */
export const hostileWorkload = `const http = process.getBuiltinModule('node:http');
const target = new URL(process.env.PLATFORM_API_URL);
const authorization = 'Bearer ' + process.env.PLATFORM_GATEWAY_TOKEN;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
let until = 0;

const call = (method, path, body, how = { agent }) => new Promise((resolve) => {
  const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const request = http.request({ host: target.hostname, port: target.port, method, path, headers, ...how }, (answer) =>
    answer.resume().on('end', () => resolve(answer.statusCode)).on('error', () => resolve(0)));
  request.on('error', () => resolve(0));
  request.end(body);
});
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const repeatedly = (times, act) => {
  for (let one = 0; one < times; one += 1)
    void (async () => { while (performance.now() < until) if ((await act()) === 0) await pause(50); })();
};
const entries = JSON.stringify({ entries: Array.from({ length: 10000 }, (_, at) =>
  ({ id: 'e' + at, title: 'Entry ' + at, url: '/e/' + at, text: 'word '.repeat(200) + at })) });

/** A body of which one byte comes a second. */
const unfinished = () => new Promise((resolve) => {
  const request = http.request({ host: target.hostname, port: target.port, method: 'POST', path: '/v1/services/search/index',
    headers: { authorization, 'content-type': 'application/json', 'content-length': '30000000' }, agent: false });
  const drip = setInterval(() => request.write(' '), 1000);
  const ended = (status) => { clearInterval(drip); request.destroy(); resolve(status); };
  request.on('response', (answer) => ended(answer.statusCode)).on('error', () => ended(0)).on('close', () => ended(0));
});

function begin() {
  repeatedly(64, () => call('GET', '/v1/services/apps'));
  repeatedly(4, () => call('PUT', '/v1/services/search/index', entries, { agent: false }));
  repeatedly(16, unfinished);
  repeatedly(4, () => call('POST', '/v1/services/notifications', JSON.stringify({ topic: 'noise', title: 'Noise' })));
  repeatedly(1, async () => { process.stdout.write('x'.repeat(4096) + '\\n'); await pause(1); return 1; });
}

http.createServer((request, response) => {
  const seconds = Number(new URL(request.url, 'http://x').searchParams.get('seconds'));
  if (until === 0 && seconds > 0) { until = performance.now() + 1000 * seconds; begin(); }
  response.end('{}');
}).listen(process.env.SOCKET ?? Number(process.env.PORT));`;
