// A workload with a network tunnel is root over its own network, and over no other: on a dockerd in a network namespace
// whose internet no packet leaves, it tries to undo what confines it there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../../../../../tests/support/wait.ts';
import { type ConformanceBench, openBench, type Started } from '../../../../test-support/conformance/bench.ts';
import { networkPolicyBehaviour } from '../../../../test-support/conformance/network-policy.ts';
import { perlFile, runPerl } from '../../../../test-support/conformance/tunnel.ts';
import type { DriverUnderTest } from '../../../../test-support/conformance/under-test.ts';
import { engineMissing, prepareEngine } from '../../../../test-support/docker-engine.ts';
import { FORBIDDEN, inInternet, NAME_SERVER, OWN, PUBLIC, visitors } from '../../../../test-support/in-internet.ts';
import { programFiles, programsMissing } from '../../../../test-support/programs.ts';
import { noTunnel } from './tunnel-files.ts';

const missing = engineMissing() || programsMissing('perl', 'ip', 'nft', 'ldd') || (noTunnel() ?? false);
const shut = { public: false, tunnel: true };
const open = { public: true, tunnel: true };
const ATTACK = 'neighbour-network.pl';
const FORGED = '02:00:00:00:00:99';
/** Error numbers: EPERM, EACCES and EINVAL, which says that there is no network of this number. */
const REFUSED = /^(see|delete) \d: (1|13|22)$/;

if (missing !== false) test('the network of tunnels', { skip: missing }, () => undefined);
else {
  inInternet(import.meta.url, () => {
    describe('the network of tunnels', () => {
      const engine = prepareEngine('ours');
      const under: DriverUnderTest = {
        name: 'docker',
        module: new URL('../../../../test-support/conformance/docker.ts', import.meta.url),
        options: { socketPath: engine.socketPath, networkNamespace: engine.networkNamespace, dns: NAME_SERVER },
        timeFactor: 3,
        can: { runtimeKilled: 'adopted', cpuTimeSeenInside: true, tunnels: true },
      };
      before(() => engine.start());
      after(() => engine.remove());

      networkPolicyBehaviour(under, true);
      hostileBehaviour(under);
    });
  });
}

function hostileBehaviour(under: DriverUnderTest): void {
  describe('a hostile workload with a tunnel', () => {
    let bench: ConformanceBench;
    /** A service of this machine, on all its addresses. */
    const service = net.createServer((socket) => socket.end());
    before(async () => {
      bench = await openBench(under);
      service.listen(0);
      await once(service, 'listening');
    });
    after(async () => {
      service.close();
      await bench?.close();
      bench?.place.remove();
    });

    async function hostile(t: { after(end: () => unknown): void }, network = shut): Promise<Started> {
      const started = await bench.start({
        network,
        files: { ...programFiles('perl', 'ip', 'nft'), ...perlFile(ATTACK) },
      });
      t.after(() => started.stop(0));
      await started.listens();
      return started;
    }

    /** Runs command lines inside, one after the other: `done`, or what each complained of. */
    const does = (started: Started, ...lines: readonly string[]) =>
      started.run(({ childProcess }, all) => {
        const folder = (process.argv[1] ?? '').replace(/\/[^/]*$/, '');
        return all.map((line) => {
          const [program, ...args] = line.split(' ');
          const options = { env: { LD_LIBRARY_PATH: folder }, encoding: 'utf8' } as const;
          const { status, stderr, error } = childProcess.spawnSync(`${folder}/${program}`, args, options);
          return status === 0 ? 'done' : `${error?.message ?? ''}${stderr}`;
        });
      }, lines);

    const connects = (started: Started, targets: readonly net.TcpNetConnectOpts[]) =>
      started.run(
        ({ connect }, all) => Promise.all(all.map((target) => connect(target, 1_500).catch(({ code }) => code))),
        targets,
      );

    /** Its interface to the internet. */
    const defaultWay = (started: Started) =>
      started.run(({ fs }) => /^(\w+)\t0{8}\t/m.exec(fs.readFileSync('/proc/net/route', 'latin1'))?.[1] ?? '');

    /** Bridges of cells on this machine, with their addresses. */
    const bridges = () => Object.entries(networkInterfaces()).filter(([name]) => /^p[rp][0-9a-f]{12}$/.test(name));

    /** Every way in which this machine and what lies behind it could be reached. */
    function everywhere(): net.TcpNetConnectOpts[] {
      const { port } = service.address() as AddressInfo;
      const own = bridges().flatMap(([, all]) => (all ?? []).filter(({ family }) => family === 'IPv4'));
      return [
        ...[OWN, ...own.map(({ address }) => address)].map((host) => ({ host, port })),
        ...[PUBLIC, NAME_SERVER, ...FORBIDDEN].map((host) => ({ host, port: 7_000 })),
      ];
    }

    /** Of the platform, without the names of cells. */
    function rulesOfMachine(): string {
      const tables = execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).matchAll(/inet platform_docker\w+/g);
      const list = ([table]: RegExpMatchArray) =>
        execFileSync('nft', ['--stateless', '--terse', 'list', 'table', ...(table?.split(' ') ?? [])], {
          encoding: 'utf8',
        });
      return [...tables].map(list).join('');
    }

    async function reachesNothing(started: Started): Promise<void> {
      const before = await visitors();
      const outcomes = await connects(started, everywhere());
      assert.ok(!outcomes.includes('connected'), outcomes.join(' '));
      assert.deepEqual(await visitors(), before);
    }

    test('sees and deletes no link of the machine, which a capability of the container could', async (t) => {
      const started = await hostile(t, open);
      const names = bridges().map(([name]) => name);
      assert.ok(names.some((name) => name.startsWith('pr')) && names.some((name) => name.startsWith('pp')));
      for (const name of [...names, 'up0']) {
        const lines = (await runPerl(started, ATTACK, name)).trim().split('\n');
        assert.equal(lines.length, 6);
        for (const line of lines) assert.match(line, REFUSED, `${name}: ${line}`);
        assert.ok(lines.includes('see 0: 13'), 'the kernel knows the network and refuses it');
      }
      assert.deepEqual(
        bridges().map(([name]) => name),
        names,
      );
    });

    test('the same attempts succeed with a capability that is not of an own user namespace', (t) => {
      const [machine, container] = [`ptm-${process.pid}`, `ptc-${process.pid}`];
      const ip = (words: string) => execFileSync('ip', words.split(' '));
      t.after(() => {
        for (const name of [machine, container]) execFileSync('ip', ['netns', 'delete', name]);
      });
      for (const name of [machine, container]) ip(`netns add ${name}`);
      ip(`-n ${machine} link add outside type veth peer name inside netns ${container}`);
      ip(`-n ${machine} link add bridge type bridge`);
      const script = fileURLToPath(new URL(`../../../../test-support/workloads/${ATTACK}`, import.meta.url));
      const said = execFileSync(
        'ip',
        [
          ...['netns', 'exec', container, 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
          ...['--inh-caps=-all,+net_admin', '--ambient-caps=+net_admin', '--bounding-set=-all,+net_admin'],
          ...['--no-new-privs', 'perl', script, 'bridge'],
        ],
        { encoding: 'utf8' },
      );
      assert.match(said, /^see 0: done\ndelete 0: done\n/);
    });

    test('without network.public, reaches nothing by routes, addresses, bridges and rules of its own', async (t) => {
      const started = await hostile(t);
      const own = await started.run(({ os }) => os.networkInterfaces().eth0?.[0]?.address ?? '');
      const bridge = own.replace(/\d+$/, (last) => `${Number(last) - 2}`);
      const rules = rulesOfMachine();
      assert.match(rules, /chain from_workload/);
      const route = `ip route replace default via ${bridge}`;
      const addresses = ['198.18.200.1/15', '10.1.2.4/24', '5.6.7.9/24', '169.254.169.1/16'];
      const forged = ['nft flush ruleset', ...addresses.map((one) => `ip address add ${one} dev eth0`), route];
      for (const outcome of await does(started, ...forged)) assert.equal(outcome, 'done');
      await reachesNothing(started);
      // The Runtime has switched IPv6 off on the interface; a bridge over it is the workload's own.
      const bridged = await does(
        started,
        ...['link add br0 type bridge', 'address flush dev eth0', 'link set eth0 master br0', 'link set br0 up'].map(
          (one) => `ip ${one}`,
        ),
        ...[`ip address add ${own}/29 dev br0`, route],
      );
      for (const outcome of bridged) assert.equal(outcome, 'done');
      const isUsable = async () =>
        started.run(({ os }) => os.networkInterfaces().br0?.some(({ family }) => family === 'IPv6') ?? false);
      await until('its bridge to have an address of version 6', isUsable);
      await reachesNothing(started);
      const { port } = service.address() as AddressInfo;
      const local = bridges().flatMap(([, all]) => (all ?? []).filter(({ family }) => family === 'IPv6'));
      const targets = local.map(({ address }) => ({ host: `${address}%br0`, port }));
      t.diagnostic(`${targets.length} addresses of version 6 on bridges of this machine`);
      const outcomes = await connects(started, targets);
      assert.ok(!outcomes.includes('connected'), outcomes.join(' '));
      assert.equal(rulesOfMachine(), rules);
    });

    test('gives its interface to no other network, and makes no namespace', async (t) => {
      const started = await hostile(t);
      const [moved] = await does(started, 'ip link set eth0 netns 1');
      assert.match(moved ?? '', /not permitted|Permission denied|Invalid|No such/i);
      const seen = await started.run(({ childProcess, fs, code }) => ({
        entered: code(() => fs.openSync('/proc/1/ns/net', 'r')),
        memory: code(() => fs.openSync('/proc/1/mem', 'r+')),
        again: childProcess.spawnSync('/run/platform/tunnel/enter', ['/bin/true']).status,
        sysctl: code(() => fs.writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')),
        devices: fs.readdirSync('/dev/net'),
      }));
      assert.match(seen.entered, /^E(ACCES|PERM)$/);
      assert.match(seen.memory, /^E(ACCES|PERM)$/);
      assert.equal(seen.again, 1, 'the first step of the program in front of it is refused');
      assert.match(seen.sysctl, /^E(ROFS|ACCES|PERM)$/);
      assert.deepEqual(seen.devices, ['tun']);
    });

    test('with network.public, forges no sender, reaches nothing forbidden, and is cut off whatever it keeps', async (t) => {
      const started = await hostile(t, open);
      assert.deepEqual(await connects(started, [{ host: PUBLIC, port: 7_000 }]), ['connected']);
      const way = await defaultWay(started);
      assert.deepEqual(
        await does(
          started,
          'nft flush ruleset',
          `ip address add 198.18.200.9/32 dev ${way}`,
          `ip link set ${way} name wan up`,
        ),
        ['done', 'done', 'done'],
      );
      const forged = await connects(started, [{ host: PUBLIC, port: 7_000, localAddress: '198.18.200.9' }]);
      assert.notEqual(forged[0], 'connected');
      const outcomes = await connects(
        started,
        FORBIDDEN.map((host) => ({ host, port: 7_000 })),
      );
      assert.ok(!outcomes.includes('connected'), outcomes.join(' '));
      assert.deepEqual(await connects(started, [{ host: PUBLIC, port: 7_000 }]), ['connected'], 'under another name');
      await started.instance.applyNetworkPolicy(shut);
      await reachesNothing(started);
      assert.deepEqual(
        bridges().filter(([name]) => name.startsWith('pp')),
        [],
      );
      await started.instance.applyNetworkPolicy(open);
      assert.deepEqual(started.instance.shortfalls(), []);
      assert.deepEqual(await connects(started, [{ host: PUBLIC, port: 7_000 }]), ['connected'], 'granted again');
    });

    test('teaches the bridges of this machine no hardware addresses', async (t) => {
      const started = await hostile(t, open);
      const learned = () => execFileSync('bridge', ['fdb', 'show'], { encoding: 'utf8' });
      const way = await defaultWay(started);
      const former = await started.run(({ os }, name) => os.networkInterfaces()[name]?.[0]?.mac ?? '', way);
      assert.match(learned(), new RegExp(`^${former} dev veth\\w+ master pp\\w+ static`, 'm'));
      // Forged on the way out of its cell, since the other interface carries its answers.
      assert.deepEqual(await does(started, `ip link set ${way} address ${FORGED}`), ['done']);
      await connects(started, [{ host: PUBLIC, port: 7_000 }]);
      assert.ok(!learned().includes(FORGED), learned());
      assert.deepEqual(await does(started, `ip link set ${way} address ${former}`), ['done']);
    });

    test('a tunnel that is revoked ends with its container, and one that is granted comes with the next start', async (t) => {
      const started = await hostile(t);
      await assert.rejects(started.instance.applyNetworkPolicy({ public: false, tunnel: false }), /cannot be revoked/);
      const other = await bench.start();
      t.after(() => other.stop(0));
      await other.instance.applyNetworkPolicy(shut);
      assert.deepEqual(other.instance.shortfalls(), [
        'A network tunnel is granted, and available from the next start.',
      ]);
    });
  });
}
