// The real core with 100,000 public names, an account with one app of its own, and keys of three Ingresses that have joined;
// prints where, as whom and the seeds of the keys.
import { randomBytes } from 'node:crypto';
import { joinProofText, readEnrolmentToken } from '@platform/contract';
import { createIngressToken } from '@platform/core/operator';
import { keyFromSeed, publicKeyText, signText } from '@platform/link';
import { publish } from '../../packages/core/test-support/apps.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { rawRequest } from '../../tests/support/raw-http.ts';

export interface TopologyServer {
  readonly port: number;
  readonly origin: string;
  readonly cookie: string;
  /** Base64. */
  readonly seeds: readonly string[];
}

const [names = '0', ingresses = '0'] = process.argv.slice(2);

const constellation = await startConstellation();
const { port, origin, core } = constellation;
const account = await registerAccount(constellation, 'bench');
await publish(account, 'changing', {
  workload: { runtime: 'node', entry: 'main.js' },
  publicEndpoints: ['GET:/*', 'POST:/hooks/*'],
  permissions: [{ id: 'endpoints.public', resources: ['GET:/*', 'POST:/hooks/*'] }],
});
await account.browser.take('/v1/apps', { body: { appId: 'changing' } });
await core.context.pool.query(
  `WITH raised AS (UPDATE topology_state SET revision = revision + 1 RETURNING revision)
   INSERT INTO topology_routes (label, app_id, installation_id, node_id, routes, revision, changed_at)
   SELECT lpad(n::text, 20, 'abcdefghijklmnopqrst'), 'app-' || n % 997, 'inst-01890000-0000-7000-8000-' || lpad(n::text, 12, '0'),
          $2, ARRAY['GET:/status', 'POST:/hooks/*', 'WS:/live'], revision, now()
     FROM raised, generate_series(1, $1::integer) AS n`,
  [Number(names), core.localNode.nodeId],
);
await core.context.pool.query('ANALYZE topology_routes');

const seeds: string[] = [];
for (let index = 0; index < Number(ingresses); index += 1) {
  const seed = randomBytes(32);
  const key = keyFromSeed(seed);
  const { token } = await createIngressToken(core.context);
  const secret = readEnrolmentToken(token, 'ingress')?.secret ?? '';
  const host = new URL(origin).host;
  const signature = signText(key, joinProofText(host, secret, 'ingress'));
  const body = { token: secret, publicKey: publicKeyText(key.publicKey), name: `ingress-${index}`, signature };
  const headers = { host, 'content-type': 'application/json' };
  const joined = await rawRequest({
    port,
    method: 'POST',
    path: '/v1/ingress/join',
    headers,
    body: JSON.stringify(body),
  });
  if (joined.status !== 201) throw new Error(joined.text);
  seeds.push(seed.toString('base64'));
}
const line: TopologyServer = { port, origin, cookie: account.cookie, seeds };
process.stdout.write(`${JSON.stringify(line)}\n`);
process.once('SIGTERM', () => void constellation.close());
