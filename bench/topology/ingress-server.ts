// The real Ingress in a process of its own: prints how long it took to know the topology, and what it takes of memory then.
import { startIngress } from '@platform/ingress';
import { keyFromSeed } from '@platform/link';
import { collectGarbage } from '../../packages/cli/test-support/internals.ts';

export interface InformedIngress {
  readonly milliseconds: number;
  readonly residentMiB: number;
  readonly heapMiB: number;
}

const [coreOrigin = '', coreHost = '', seed = ''] = process.argv.slice(2);
const quiet = () => undefined;

const begun = performance.now();
const ingress = await startIngress({
  coreOrigin,
  coreHost,
  key: keyFromSeed(Buffer.from(seed, 'base64')),
  listen: { host: '127.0.0.1', port: 0 },
  trustedProxies: [],
  accessLog: 'off',
  log: {
    debug: quiet,
    info: quiet,
    warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
    error: quiet,
  },
  clock: () => new Date(),
});
await ingress.informed;
const milliseconds = performance.now() - begun;
// As every process of the platform does ten seconds after its start.
collectGarbage();
const { rss, heapUsed } = process.memoryUsage();
const line: InformedIngress = { milliseconds, residentMiB: rss / 2 ** 20, heapMiB: heapUsed / 2 ** 20 };
process.stdout.write(`${JSON.stringify(line)}\n`);
process.once('SIGTERM', () => void ingress.stop());
