// What root's own way to the internet, a pair of devices and a packet filter, does beside what every way does
// (drivers/process/network-policy.test.ts): to other workloads, to forged sources, and to what it leaves on the
// machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { inInternet, NAME_SERVER, OWN, PUBLIC, visitors } from '../../test-support/in-internet.ts';
import { makePlace, type Place } from '../../test-support/place.ts';
import { stderrLog } from '../../test-support/stderr-log.ts';
import { makeTravellers, type Travellers } from '../../test-support/travellers.ts';
import { openProcessDriver, type ProcessDriver } from '../drivers/process/process-driver.ts';

const open = { public: true, tunnel: false };
const shut = { public: false, tunnel: false };

inInternet(import.meta.url, () => {
  let place: Place;
  let driver: ProcessDriver;
  let travellers: Travellers;

  before(async () => {
    place = makePlace();
    driver = await openDriver();
    travellers = makeTravellers(place, () => driver);
  });

  after(async () => {
    await travellers.endAll();
    await driver.close();
    place.remove();
  });

  function openDriver(): Promise<ProcessDriver> {
    return openProcessDriver({
      dataDirectory: place.folder,
      allowUnsandboxed: false,
      dns: [NAME_SERVER],
      log: stderrLog,
    });
  }

  const nft = (...words: string[]) => execFileSync('nft', words, { encoding: 'utf8' });
  const links = () => execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' });

  test('this machine’s own addresses and other workloads stay out of reach', async () => {
    const server = net.createServer((socket) => socket.end('host'));
    server.listen(7002, '0.0.0.0');
    await once(server, 'listening');
    const [one, other] = [await travellers.start(open), await travellers.start(open)];
    for (const address of [OWN, '198.18.0.1', '127.0.0.1'])
      assert.equal(await one.ask(`/tcp/${address}/7002`), 'ECONNREFUSED', address);
    const addresses = [...nft('list', 'ruleset').matchAll(/"p\w+-\w+" \. ([\d.]+)/g)].map(([, address]) => address);
    assert.equal(addresses.length, 2);
    // Each has a server on 8080; only its own answers, on its own address.
    const answers = [];
    for (const address of addresses) answers.push(await one.ask(`/connect/${address}/8080`));
    assert.deepEqual(answers.toSorted(), ['ECONNREFUSED', 'connected']);
    await Promise.all([travellers.end(one), travellers.end(other)]);
    server.close();
  });

  test('a source that is not its own is dropped', async () => {
    const traveller = await travellers.start(open);
    assert.equal(await traveller.ask(`/udp/${PUBLIC}/7000`), 'answered ping');
    const came = (await visitors())[PUBLIC];
    // The workload cannot give itself an address; root does it for it, in its namespace.
    const [, name = '', address = ''] = /"(p\w+-\w+)" \. ([\d.]+)/.exec(nft('list', 'ruleset')) ?? [];
    const pid = execFileSync('pgrep', ['-n', '-u', String(traveller.uid)], { encoding: 'utf8' }).trim();
    const inside = (...words: string[]) => execFileSync('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', ...words]);
    inside('address', 'add', '198.18.77.77/32', 'dev', 'eth0');
    inside('route', 'change', 'default', 'via', '198.18.0.1', 'dev', 'eth0', 'src', '198.18.77.77');
    execFileSync('ip', ['route', 'add', '198.18.77.77/32', 'dev', name]);
    assert.equal(await traveller.ask(`/udp/${PUBLIC}/7000`), 'EHOSTUNREACH');
    assert.equal((await visitors())[PUBLIC], came);
    inside('route', 'change', 'default', 'via', '198.18.0.1', 'dev', 'eth0', 'src', address);
    assert.equal(await traveller.ask(`/udp/${PUBLIC}/7000`), 'answered ping');
    await travellers.end(traveller);
  });

  test('forwarding is on for the way out alone, and nothing is left after a revocation or the end', async () => {
    const forwarding = (name: string) => readFileSync(`/proc/sys/net/ipv4/conf/${name}/forwarding`, 'utf8').trim();
    const untouched = await travellers.start(shut);
    assert.deepEqual(await untouched.ask('/interfaces'), ['lo']);
    await travellers.end(untouched);
    const traveller = await travellers.start(open);
    assert.deepEqual([forwarding('up0'), forwarding('all'), forwarding('lo')], ['1', '0', '0']);
    await traveller.instance.applyNetworkPolicy(shut);
    assert.deepEqual(await traveller.ask('/interfaces'), ['lo']);
    assert.doesNotMatch(links(), /p\w{6}-/);
    await traveller.instance.applyNetworkPolicy(open);
    await travellers.end(traveller);
    assert.doesNotMatch(links(), /p\w{6}-/);
    await driver.close();
    assert.equal(forwarding('up0'), '0');
    assert.equal(nft('list', 'ruleset'), '');
    driver = await openDriver();
  });

  test('what a killed Runtime left is removed by the next start', async () => {
    const traveller = await travellers.start(open);
    const table = nft('list', 'ruleset');
    await traveller.instance.stop(1_000);
    // As if this process had been killed: everything that the end removed is there again.
    execFileSync('nft', ['-f', '-'], { input: table });
    execFileSync('ip', ['link', 'add', /"(p\w+-)\*"/.exec(table)?.[1]?.concat('old') ?? '', 'type', 'veth']);
    assert.match(links(), /p\w{6}-old/);
    driver = await openDriver();
    assert.equal(nft('list', 'ruleset'), '');
    assert.doesNotMatch(links(), /p\w{6}-/);
    assert.equal(readFileSync('/proc/sys/net/ipv4/conf/up0/forwarding', 'utf8').trim(), '0');
  });
});
