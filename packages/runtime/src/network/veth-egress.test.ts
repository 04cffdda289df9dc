// As root: a workload with network.public reaches the internet and nothing else; without it, nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { openProcessDriver, type ProcessDriver } from '../drivers/process/process-driver.ts';
import { FORBIDDEN, inInternet, NAME_SERVER, OWN, PUBLIC, visitors } from '../testing/in-internet.ts';
import { makePlace, type Place } from '../testing/place.ts';
import { makeTravellers, type Travellers } from '../testing/travellers.ts';
import { until } from '../testing/wait.ts';

const open = { public: true, tunnel: false };
const shut = { public: false, tunnel: false };

inInternet(import.meta.url, () => {
  let place: Place;
  let driver: ProcessDriver;
  let travellers: Travellers;
  const logged: string[] = [];

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
    const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
    const log = { debug: write, info: write, warn: write, error: write };
    return openProcessDriver({ dataDirectory: place.folder, allowUnsandboxed: false, dns: [NAME_SERVER], log });
  }

  const nft = (...words: string[]) => execFileSync('nft', words, { encoding: 'utf8' });
  const links = () => execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' });

  test('without the grant there is neither an interface, nor an address, nor a name', async () => {
    const traveller = await travellers.start(shut);
    assert.deepEqual(await traveller.ask('/interfaces'), ['lo']);
    for (const address of [PUBLIC, NAME_SERVER, OWN, ...FORBIDDEN])
      assert.equal(await traveller.ask(`/tcp/${address}/7000`), 'ENETUNREACH', address);
    assert.notEqual(await traveller.ask('/dns/example.org'), PUBLIC);
    assert.doesNotMatch(await traveller.ask('/resolver'), /nameserver/);
    assert.deepEqual(traveller.instance.shortfalls(), []);
    await travellers.end(traveller);
    assert.doesNotMatch(nft('list', 'tables'), /platform_/, 'the packet filter is as it was');
  });

  test('with the grant it reaches publicly routable addresses and names, and no other address', async () => {
    const traveller = await travellers.start(open);
    assert.deepEqual(traveller.instance.shortfalls(), [], logged.join('\n'));
    assert.equal(await traveller.ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
    assert.equal(await traveller.ask(`/udp/${PUBLIC}/7000`), 'answered ping');
    assert.equal(await traveller.ask('/dns/example.org'), PUBLIC);
    for (const address of FORBIDDEN) {
      assert.equal(await traveller.ask(`/tcp/${address}/7000`), 'ECONNREFUSED', address);
      assert.equal(await traveller.ask(`/udp/${address}/7000`), 'EHOSTUNREACH', address);
    }
    const came = await visitors();
    assert.deepEqual(
      FORBIDDEN.filter((address) => came[address] !== undefined),
      [],
    );
    assert.equal(await traveller.ask('/if6').then((text: string) => /eth0/.test(text)), false, 'no IPv6 inside');
    await travellers.end(traveller);
  });

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

  test('a revoked grant freezes open connections at once, and a new grant opens new ones', async () => {
    const traveller = await travellers.start(shut);
    await traveller.instance.applyNetworkPolicy(open);
    assert.equal(await traveller.ask(`/hold/${PUBLIC}/7000`), 'held');
    const before = await traveller.ask<{ answers: number }>('/held');
    await until(
      'the connection to be busy',
      async () => (await traveller.ask<{ answers: number }>('/held')).answers > before.answers + 10,
    );
    await traveller.instance.applyNetworkPolicy(shut);
    const frozen = await traveller.ask<{ answers: number }>('/held');
    assert.equal(await traveller.ask(`/udp/${PUBLIC}/7000`), 'ENETUNREACH');
    assert.equal(await traveller.ask(`/tcp/${PUBLIC}/7000`), 'ENETUNREACH');
    assert.equal((await traveller.ask<{ answers: number }>('/held')).answers, frozen.answers);
    assert.deepEqual(await traveller.ask('/interfaces'), ['lo']);
    assert.notEqual(await traveller.ask('/dns/example.org'), PUBLIC);
    await traveller.instance.applyNetworkPolicy(open);
    assert.equal(await traveller.ask(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
    assert.equal(await traveller.ask('/dns/example.org'), PUBLIC);
    await travellers.end(traveller);
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

  test('forwarding is on for the way out alone, and nothing is left after the end', async () => {
    const forwarding = (name: string) => readFileSync(`/proc/sys/net/ipv4/conf/${name}/forwarding`, 'utf8').trim();
    const traveller = await travellers.start(open);
    assert.deepEqual([forwarding('up0'), forwarding('all'), forwarding('lo')], ['1', '0', '0']);
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
