// The list of publicly routable addresses against IANA's table and the vectors of the egress guard.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { test } from 'node:test';
import { addressNumber, addressText, isPubliclyRoutable, publicRanges, refusedBlocks } from './public-addresses.ts';

interface Block {
  readonly cidr: string;
  readonly family: number;
  readonly name: string;
  readonly egress: string;
}

const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../test-vectors/${name}.json`, import.meta.url), 'utf8')).cases;
const blocks = (vectors('ip-special-purpose') as Block[]).filter(({ family }) => family === 4);

function bounds(cidr: string): { first: number; last: number } {
  const [address = '', bits = ''] = cidr.split('/');
  const first = addressNumber(address) ?? assert.fail(cidr);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
}

/** What the table says: every row refuses, so an address is public when no row holds it. */
function inTable(address: number): boolean {
  return blocks.some(({ cidr }) => address >= bounds(cidr).first && address <= bounds(cidr).last);
}

test('every block of the table is refused, at its first, its last and a middle address', () => {
  assert.ok(blocks.length >= 27);
  for (const { cidr, name, egress } of blocks) {
    assert.match(egress, /^refuse/);
    const { first, last } = bounds(cidr);
    for (const address of [first, last, Math.floor((first + last) / 2)])
      assert.equal(isPubliclyRoutable(addressText(address)), false, `${addressText(address)} of ${name}`);
  }
});

test('the neighbours of every block are what the table says', () => {
  let allowed = 0;
  for (const { cidr } of blocks) {
    const { first, last } = bounds(cidr);
    for (const address of [first - 1, last + 1].filter((one) => one >= 0 && one < 2 ** 32)) {
      assert.equal(isPubliclyRoutable(addressText(address)), !inTable(address), addressText(address));
      allowed += inTable(address) ? 0 : 1;
    }
  }
  assert.ok(allowed > 20);
});

test('nothing beyond the table is refused but the service address of one cloud', () => {
  const extra = refusedBlocks.filter((block) => !blocks.some(({ cidr }) => cidr === block));
  assert.deepEqual(extra, ['168.63.129.16/32']);
  assert.equal(isPubliclyRoutable('168.63.129.16'), false);
  assert.equal(isPubliclyRoutable('168.63.129.17'), true);
});

test('the ranges for the packet filter hold exactly the public addresses', () => {
  let size = 0;
  for (const { first, last } of publicRanges) {
    const [from, to] = [addressNumber(first) ?? assert.fail(), addressNumber(last) ?? assert.fail()];
    assert.ok(from <= to);
    size += to - from + 1;
    for (const address of [from, to]) assert.equal(isPubliclyRoutable(addressText(address)), true);
    for (const address of [from - 1, to + 1].filter((one) => one >= 0 && one < 2 ** 32))
      assert.equal(isPubliclyRoutable(addressText(address)), false, 'ranges end where refused blocks begin');
  }
  const refused = refusedBlocks.reduce((sum, block) => sum + bounds(block).last - bounds(block).first + 1, 0);
  assert.equal(size + refused, 2 ** 32);
});

test('addresses of the egress guard’s vectors are judged as they say', () => {
  interface Case {
    readonly input: unknown;
    readonly class: string;
    readonly expected: string;
  }
  let judged = 0;
  for (const { input, expected } of vectors('ssrf') as Case[]) {
    const address = typeof input === 'string' ? /^https?:\/\/([\d.]+)(?:[:/]|$)/.exec(input)?.[1] : undefined;
    if (address === undefined || !isIPv4(address) || (expected !== 'refuse' && expected !== 'allow')) continue;
    assert.equal(isPubliclyRoutable(address), expected === 'allow', address);
    judged += 1;
  }
  assert.ok(judged > 40, String(judged));
});

test('what is not plainly an IPv4 address is not publicly routable', () => {
  for (const text of ['', '1.1.1', '1.1.1.1.1', '01.1.1.1', '1.1.1.256', '0x1.1.1.1', '16843009', '::1', '1.1.1.1 '])
    assert.equal(isPubliclyRoutable(text), false, text);
  assert.equal(isPubliclyRoutable('1.1.1.1'), true);
});
