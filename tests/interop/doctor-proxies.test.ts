// `platform doctor` behind nginx, HAProxy and Caddy, configured as docs/operations/proxies says: it finds nothing to change,
// and what a well-kept proxy does to headers misleads it no more than one of a test.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { walkPublicPath } from '../../packages/cli/test-support/internals.ts';
import { key, startUnderTest, type UnderTest } from '../../packages/ingress/test-support/ingress-under-test.ts';
import { frontProxies, startFrontProxy } from '../support/front-proxy.ts';
import { lacksProgram } from '../support/lacks-program.ts';

const DOMAIN = 'apps.example.org';

let tested: UnderTest;
before(async () => {
  tested = await startUnderTest({ trustedProxies: ['127.0.0.1'] });
});
after(() => tested.close());

for (const name of frontProxies)
  test(`the doctor finds the whole way in order behind ${name}`, { skip: lacksProgram(name) }, async (t) => {
    const proxy = await startFrontProxy(name, { ingress: tested.port, domain: DOMAIN });
    t.after(() => proxy.stop());
    const ingress = { host: '127.0.0.1', port: tested.port, tls: null, key } as const;
    const findings = await walkPublicPath(
      { domain: DOMAIN, scheme: 'http', port: proxy.port, ingress },
      { lookup: async () => '127.0.0.1', now: new Date() },
    );
    assert.deepEqual(
      findings.map(({ check, verdict }) => `${check} ${verdict}`),
      // A name that leads to loopback is not reached by others.
      ['Ingress good', 'public name warning', ...['public host', 'client', 'buffering', 'WebSocket'].map(good)],
      JSON.stringify(findings),
    );
  });

function good(check: string): string {
  return `${check} good`;
}
