// The whole platform with virtual machines, in an internet that no packet leaves: what a guest reaches with the grants of
// its owner, what it does not, also as root of its machine, and how soon a revocation is true.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { addressNumber, addressText } from '@platform/contract';
import {
  FORBIDDEN,
  inInternet,
  NAME_SERVER,
  OWN,
  PUBLIC,
  visitors,
} from '../../packages/runtime/test-support/in-internet.ts';
import { lacksEquipment, settingsForTests } from '../../packages/runtime/test-support/microvm/equipment.ts';
import { lendImages, ROOT_DOOR } from '../../packages/runtime/test-support/microvm/lend-images.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { installTraveller, internet, type TravellerApp } from '../support/traveller.ts';
import { until } from '../support/wait.ts';

const storage = { id: 'object-storage.raw', resources: ['self'] };
const ROUNDS = 5;
/** Milliseconds from the request to the last packet. */
const MOST_TO_LAST_PACKET = 250;
/** For an emulated guest on a busy machine to boot. */
const BOOT_LIMIT = 120_000;
/** Where the internet of the test tells who came; nobody's address otherwise. */
const TELLER = '5.6.7.2';

interface Block {
  readonly cidr: string;
  readonly family: number;
  readonly name: string;
}

/** One address in each block of IANA's table that a packet could be sent to. */
const special = (
  JSON.parse(
    readFileSync(new URL('../../packages/contract/test-vectors/ip-special-purpose.json', import.meta.url), 'utf8'),
  ).cases as Block[]
).flatMap(({ cidr, family, name }) => {
  if (family !== 4) return [];
  const [first = '', bits = ''] = cidr.split('/');
  return [{ name, address: addressText((addressNumber(first) ?? 0) + Math.floor(2 ** (32 - Number(bits)) / 2)) }];
});

const lack = lacksEquipment();
if (lack !== false) test('network.public of virtual machines', { skip: lack }, () => undefined);
else inInternet(import.meta.url, declare);

function declare(): void {
  let place: PlatformPlace;
  let platform: PlatformProcess | undefined;
  let traveller: TravellerApp;
  let storeKey: string;

  before(async () => {
    spyOnTheWayOut();
    storeKey = join(await mkdtemp(join(tmpdir(), 'store-key-')), 'key.json');
    await writeFile(storeKey, '{"accessKeyId":"a","secretAccessKey":"b"}', { mode: 0o600 });
    place = await platformPlace({
      PLATFORM_RUNTIME_DRIVER: 'microvm',
      PLATFORM_WORKLOAD_DNS: NAME_SERVER,
      PLATFORM_MICROVM_KERNEL: settingsForTests().kernel,
      // What is granted counts only where there is a store and the plan for it. Nothing here speaks to it.
      PLATFORM_DEFAULT_PLAN: 'paid',
      PLATFORM_OBJECT_STORE_ENDPOINT: 'http://127.0.0.1:9',
      PLATFORM_OBJECT_STORE_BUCKET: 'objects',
      PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: storeKey,
    });
    await lendImages(join(place.dataDirectory, 'microvm'), 'rootDoor');
    platform = await startPlatform(place);
    traveller = await installTraveller(place, [internet, storage]);
    await put([]);
    await isUp();
  });

  after(async () => {
    await platform?.stop();
    await place.remove();
    await rm(dirname(storeKey), { recursive: true, force: true });
  });

  const put: TravellerApp['put'] = (permissions) => traveller.put(permissions);
  const answer: TravellerApp['answer'] = (path) => traveller.answer(path);
  /** A request waits for 15 s at most, an emulated guest may need longer. @returns what tells its boots apart */
  const isUp = () => until('the guest to be up', bootId, BOOT_LIMIT);
  const bootId = async () => {
    const { status, text } = await traveller.ask('/boot');
    return status === 200 && JSON.parse(text);
  };
  const asRoot = (script: string) => answer(`/shell/${ROOT_DOOR}/${Buffer.from(script).toString('base64url')}`);

  test('without the grant there is no way out, no name, and no IPv6', async () => {
    for (const address of [PUBLIC, NAME_SERVER, OWN, ...FORBIDDEN])
      assert.equal(await answer(`/tcp/${address}/7000`), 'ENETUNREACH', address);
    assert.notEqual(await answer('/dns/example.org'), PUBLIC);
    assert.doesNotMatch(await answer('/resolver'), /nameserver/);
    assert.equal(await answer('/if6'), '');
    assert.deepEqual(whereItWent(), []);
  });

  test('with the grant a packet reaches publicly routable addresses and names, and no other', async () => {
    await put([internet]);
    assert.equal(await answer(`/tcp/${PUBLIC}/7000`), `${PUBLIC} sees ${OWN}`);
    assert.equal(await answer(`/udp/${PUBLIC}/7000`), 'answered ping');
    await until('the guest to know its name server', async () => (await answer('/resolver')).includes(NAME_SERVER));
    assert.equal(await answer('/resolver'), `nameserver ${NAME_SERVER}\n`);
    assert.equal(await answer('/dns/example.org'), PUBLIC);
    for (const address of [OWN, ...FORBIDDEN]) {
      assert.equal(await answer(`/tcp/${address}/7000`), 'ECONNREFUSED', address);
      assert.equal(await answer(`/udp/${address}/7000`), 'EHOSTUNREACH', address);
    }
    assert.ok(special.length >= 27);
    for (const { name, address } of special)
      assert.match(await answer(`/connect/${address}/7000`), /^E/, `${address} of ${name}`);
    assert.deepEqual(whereItWent(), [NAME_SERVER, PUBLIC]);
    const came = await visitors();
    assert.deepEqual(
      FORBIDDEN.filter((address) => came[address] !== undefined),
      [],
    );
  });

  test('root of the guest forges no source, and finds nothing open beside the Gateway', async () => {
    assert.equal((await asRoot('id -u')).trim(), '0');
    const reach = `nc -w 1 ${PUBLIC} 7000 </dev/null`;
    assert.match(await asRoot(reach), /sees/, 'with its own address it does reach it');
    const before = (await visitors())[PUBLIC];
    for (const source of ['198.18.77.77', '10.181.0.1', OWN, '8.8.8.8']) {
      const said = await asRoot(
        [
          `ip addr add ${source}/32 dev eth0`,
          `ip route add ${PUBLIC}/32 via 10.181.0.1 src ${source}`,
          `${reach} && echo it came through`,
          `ip route del ${PUBLIC}/32`,
          `ip addr del ${source}/32 dev eth0`,
        ].join('\n'),
      );
      assert.doesNotMatch(said, /through|sees/, source);
    }
    assert.equal((await visitors())[PUBLIC], before);
    const open = await asRoot(
      'for port in 22 53 111 7000 7001 7002 7003 7070 7071 8787 8788; do nc -w 1 10.181.0.1 $port </dev/null && echo $port; done 2>/dev/null',
    );
    assert.equal(open.trim(), '7070');
    assert.deepEqual(whereItWent(), [NAME_SERVER, PUBLIC]);
  });

  test('nothing passes any more when a revocation is answered, and that is soon', async (context) => {
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await put([internet]);
      assert.equal(await answer(`/hold/${PUBLIC}/7000`), 'held');
      const begun = Date.now();
      await put([]);
      const { lastByte = 0 } = await visitors();
      // The host has cut it off; that its guest takes its route away as well may take a moment longer.
      assert.match(await answer(`/tcp/${PUBLIC}/7000`), /^(ENETUNREACH|silence)$/);
      assert.equal((await visitors()).lastByte, lastByte, 'nothing came after the answer');
      took.push(Math.max(0, lastByte - begun));
    }
    took.sort((one, other) => one - other);
    const median = took[Math.floor(ROUNDS / 2)] ?? 0;
    context.diagnostic(`revocation to last packet, ms: median ${median}, worst ${took.at(-1)}`);
    assert.ok(median <= MOST_TO_LAST_PACKET, `${took}`);
    await until('the guest to have no route', async () => (await answer(`/tcp/${PUBLIC}/7000`)) === 'ENETUNREACH');
    await until('the guest to have no name server', async () => !(await answer('/resolver')).includes('nameserver'));
    assert.notEqual(await answer('/dns/example.org'), PUBLIC);
  });

  test('a machine is rebuilt when object storage is granted or its package changes, and none is for the internet', async () => {
    const first = await isUp();
    await put([internet]);
    assert.equal(await bootId(), first);
    await put([internet, storage]);
    const second = await anotherMachine(first);
    // Granted before it ran its first code: there is nothing to wait for.
    assert.equal(await answer('/dns/example.org'), PUBLIC);
    assert.equal(await answer('/'), '1.0.0');

    await traveller.upgrade('2.0.0');
    await anotherMachine(second);
    assert.equal(await answer('/'), '2.0.0');
    assert.equal(await answer('/dns/example.org'), PUBLIC, 'its grants are those of before');
    const { items } = await traveller.account.browser.take<{ items: { line: string }[] }>('/v1/apps/traveller/logs');
    const lines = items.map(({ line }) => line);
    assert.ok(lines.includes('Restarting: it gets object storage.'), lines.join());
    assert.ok(lines.includes('Version 2.0.0 replaces 1.0.0.'), lines.join());
  });

  const anotherMachine = (former: string) =>
    until(
      'another machine',
      async () => {
        const id = await bootId();
        return id !== false && id !== former && id;
      },
      BOOT_LIMIT,
    );
}

/** Outside of every wall: which addresses packets that were not this machine's own have gone to. */
function spyOnTheWayOut(): void {
  const input = `
    table inet spy {
      set left { type ipv4_addr; flags dynamic; size 65535; }
      chain out {
        type filter hook forward priority 300; policy accept;
        oifname "up0" meta nfproto ipv4 add @left { ip daddr }
        oifname "up0" meta nfproto ipv6 add @left { 255.255.255.255 }
      }
    }`;
  execFileSync('nft', ['-f', '-'], { input });
}

function whereItWent(): string[] {
  const text = execFileSync('nft', ['list', 'set', 'inet', 'spy', 'left'], { encoding: 'utf8' });
  const elements = /elements = \{([^}]*)\}/.exec(text)?.[1] ?? '';
  return [...elements.matchAll(/[\d.]+/g)]
    .map(([address]) => address)
    .filter((one) => one !== TELLER)
    .sort();
}
