// What an ordinary user's ways to the internet do beside what every way does (drivers/process/network-policy.test.ts):
// to this machine's services, to a workload that would change its network, and to a carrier that dies.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { FORBIDDEN, inInternet, NAME_SERVER, OWN, onMachine, PUBLIC } from '../../test-support/in-internet.ts';
import { makePlace, type Place } from '../../test-support/place.ts';
import { descendants, type SeenProcess } from '../../test-support/processes.ts';
import { stderrLog } from '../../test-support/stderr-log.ts';
import { makeTravellers, type Traveller, type Travellers } from '../../test-support/travellers.ts';
import { openProcessDriver, type ProcessDriver } from '../drivers/process/process-driver.ts';
import { findProgram } from '../find-program.ts';

const open = { public: true, tunnel: false };
const shut = { public: false, tunnel: false };
/** Either carrier with either way of making sandboxes, so that each is tried once. */
const kinds = [
  { carrier: 'pasta', way: 'bubblewrap' },
  { carrier: 'slirp4netns', way: 'unshare' },
] as const;

inInternet(
  import.meta.url,
  () => {
    for (const { carrier, way } of kinds) {
      const skip =
        findProgram(carrier) === undefined && `${carrier} is missing (Debian: apt-get install passt slirp4netns)`;
      describe(`with ${carrier}, in sandboxes made with ${way}`, { skip }, () => {
        let place: Place;
        let driver: ProcessDriver;
        let travellers: Travellers;

        before(async () => {
          place = makePlace();
          driver = await openProcessDriver({
            dataDirectory: place.folder,
            allowUnsandboxed: false,
            ways: [way],
            carriers: [carrier],
            dns: [NAME_SERVER],
            log: stderrLog,
          });
          assert.notEqual(process.getuid?.(), 0);
          assert.ok(driver.report.ok, driver.report.reasons.join(' '));
          travellers = makeTravellers(place, () => driver);
        });
        after(async () => {
          await travellers?.endAll();
          await driver?.close();
          place?.remove();
        });

        const carriers = (): SeenProcess[] =>
          descendants(process.pid).filter(({ pid }) => /^(pasta|passt|slirp4netns)/.test(commandOf(pid)));
        const program = (traveller: Traveller, script: string) =>
          traveller.ask<{ status: number | null; said: string }>(
            `/program/${Buffer.from(script).toString('base64url')}`,
          );

        test('this machine’s own services and other workloads stay out of reach, on new addresses too', async () => {
          // No waiting: the address through which a client came may be gone.
          const server = net.createServer((socket) => socket.end('host', () => socket.destroy()));
          server.listen(7002, '0.0.0.0');
          await once(server, 'listening');
          const [one, other] = [await travellers.start(open), await travellers.start(open)];
          for (const address of [OWN, '198.18.0.1', '198.18.0.2', '198.18.0.3', '127.0.0.1', '127.1.1.1', '0.0.0.0'])
            assert.equal(await one.ask(`/tcp/${address}/7002`), 'ECONNREFUSED', address);
          const added = '5.6.7.9';
          onMachine('address', 'add', `${added}/32`, 'dev', 'up0');
          await until(
            'the new address of this machine to be refused',
            async () => (await one.ask(`/tcp/${added}/7002`)) === 'ECONNREFUSED',
          );
          onMachine('address', 'delete', `${added}/32`, 'dev', 'up0');
          // Both have the same address, each in a network of its own: what one listens on there is not the other's.
          const listen = "require('net').createServer().listen(7003, () => console.log('up'))";
          const background = `/opt/platform/bin/node -e "${listen}" > /tmp/said 2>&1 < /dev/null & while ! grep -q up /tmp/said; do :; done`;
          assert.equal((await program(other, background)).status, 0);
          assert.equal(await other.ask('/connect/198.18.0.100/7003'), 'connected');
          assert.equal(await one.ask('/connect/198.18.0.100/7003'), 'ECONNREFUSED');
          await Promise.all([travellers.end(one), travellers.end(other)]);
          server.close();
        });

        test('it has no right over its network: filter, devices, settings and rights stay as they are', async () => {
          const traveller = await travellers.start(open);
          const attempts = [
            'nft flush ruleset',
            'nft delete table inet platform',
            'ip link set eth0 down',
            'ip address add 10.9.9.9/8 dev eth0',
            'ip link add name x0 type veth',
            'echo 1 > /proc/sys/net/ipv4/ip_forward',
            'echo 0 > /proc/sys/net/ipv6/conf/default/disable_ipv6',
            'unshare --user --map-root-user nft flush ruleset',
            'nsenter --user=/proc/1/ns/user nft flush ruleset',
          ];
          for (const attempt of attempts) {
            const { status, said } = await program(traveller, attempt);
            assert.notEqual(status, 0, `${attempt}: ${said}`);
            assert.doesNotMatch(said, /not found/, attempt);
          }
          assert.equal(await traveller.ask(`/tcp/${FORBIDDEN[0]}/7000`), 'ECONNREFUSED');
          assert.equal(await traveller.ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
          await travellers.end(traveller);
        });

        test('a carrier that is killed is started again, and the status says so meanwhile', async () => {
          const traveller = await travellers.start(open);
          const [former] = carriers();
          assert.ok(former !== undefined);
          process.kill(former.pid, 'SIGKILL');
          const said = await until('the status to say so', () => traveller.instance.shortfalls()[0]);
          assert.match(said, new RegExp(`^Internet access is granted, but not available: ${carrier}, which`));
          await until('the shortfall to be over', () => traveller.instance.shortfalls().length === 0);
          assert.equal(await traveller.ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
          assert.equal(await traveller.ask(`/tcp/${FORBIDDEN[0]}/7000`), 'ECONNREFUSED');
          await travellers.end(traveller);
        });

        test('nothing is left after a revocation or the end, and nothing comes back', async () => {
          const traveller = await travellers.start(shut);
          assert.deepEqual(await traveller.ask('/interfaces'), ['lo']);
          assert.deepEqual(carriers(), []);
          for (const end of [() => traveller.instance.applyNetworkPolicy(shut), () => travellers.end(traveller)]) {
            await traveller.instance.applyNetworkPolicy(open);
            const [carrying] = carriers();
            assert.equal(carrying?.alive(), true);
            await end();
            assert.equal(carrying?.alive(), false);
            assert.deepEqual(carriers(), []);
          }
        });
      });
    }
  },
  'ordinary user',
);

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}
