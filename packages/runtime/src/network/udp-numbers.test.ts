// Which number of the range an installation gets, how long it keeps it, and what is said when none is left.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type Assignment, mostPublicPorts } from '@platform/contract';
import { makeAssignment } from '../../test-support/core-double.ts';
import { makePlace, type Place } from '../../test-support/place.ts';
import { openUdpPorts } from './udp-ports.ts';

let place: Place;
/** Installations that are assigned to this machine. */
let here: Set<string>;

beforeEach(() => {
  place = makePlace();
  here = new Set();
});
afterEach(() => place.remove());

function open(first: number, last: number) {
  return openUdpPorts({
    file: join(place.folder, 'udp-ports.json'),
    options: { host: 'play.example', range: { first, last } },
    isHere: (id) => here.has(id),
  });
}

function app(...names: string[]): Assignment {
  const assignment = makeAssignment('0'.repeat(64), {
    udpPorts: names.map((name) => ({ name, containerPort: 7777 })),
  });
  here.add(assignment.installationId);
  return assignment;
}

const numbers = (ports: readonly { readonly hostPort: number }[]) => ports.map(({ hostPort }) => hostPort);

test('an app keeps its numbers, however often the node starts', () => {
  const [one, other] = [app('play', 'voice'), app('play')];
  assert.deepEqual(numbers(open(40_000, 40_002).of(one)), [40_000, 40_001]);
  assert.deepEqual(numbers(open(40_000, 40_002).of(other)), [40_002]);
  assert.deepEqual(open(40_000, 40_002).of(app('play')), [], 'what is kept is given to nobody');
  assert.deepEqual(numbers(open(40_000, 40_002).of(one)), [40_000, 40_001]);
});

test('a removed app frees its numbers, which are the last to be given again', () => {
  const ports = open(40_000, 40_002);
  const [gone, another, third] = [app('play'), app('play'), app('play', 'voice')];
  assert.deepEqual(numbers(ports.of(gone)), [40_000]);
  here.delete(gone.installationId);
  assert.deepEqual(numbers(ports.of(another)), [40_001], 'nobody had this one');
  assert.deepEqual(numbers(ports.of(third)), [40_002, 40_000]);
  here.add(gone.installationId);
  assert.deepEqual(ports.of(gone), [], 'it comes back too late');
  assert.deepEqual(numbers(open(40_000, 40_002).of(third)), [40_002, 40_000]);
});

test('an app from another machine gets the number that clients know, if it is free here', () => {
  const ports = open(40_000, 40_005);
  const moved = { ...app(), udpPorts: [{ name: 'play', containerPort: 7777, hostPort: 40_003 }] };
  assert.deepEqual(numbers(ports.of(moved)), [40_003]);
  const late = { ...app(), udpPorts: [{ name: 'play', containerPort: 7777, hostPort: 40_003 }] };
  assert.deepEqual(numbers(ports.of(late)), [40_000]);
  const outside = { ...app(), udpPorts: [{ name: 'play', containerPort: 7777, hostPort: 39_999 }] };
  assert.deepEqual(numbers(ports.of(outside)), [40_001]);
  here.delete(moved.installationId);
  const next = { ...app(), udpPorts: [{ name: 'play', containerPort: 7777, hostPort: 40_003 }] };
  assert.deepEqual(numbers(ports.of(next)), [40_003]);
});

test('a range that is used up is named, with the ports that go without and who can do what', () => {
  const ports = open(40_000, 40_000);
  assert.deepEqual(ports.missing(app('play')), []);
  const [sentence, ...more] = ports.missing(app('play', 'voice'));
  assert.equal(
    sentence,
    'UDP ports are granted, but no port of PLATFORM_UDP_PORT_RANGE (40000-40000) is left for play, voice: other apps ' +
      'have them all. The operator can set a wider range; removing an app frees its ports.',
  );
  assert.deepEqual(more, []);
});

test('a backend at rest shows the number that is kept for it, and one that never ran has none', () => {
  const ports = open(40_000, 40_009);
  const assignment = app('play');
  assert.deepEqual(ports.kept(assignment), []);
  assert.deepEqual(ports.kept(assignment), [], 'asking gives none');
  ports.of(assignment);
  assert.deepEqual(ports.kept(assignment), [
    {
      name: 'play',
      protocol: 'udp',
      containerPort: 7777,
      host: 'play.example',
      hostPort: 40_000,
      closed: 'It opens when the backend runs.',
    },
  ]);
});

test('a revoked port keeps its number; versions with ever new names of ports do not use up the range', () => {
  const ports = open(40_000, 40_099);
  const { installationId } = app();
  const grant = (...names: string[]) =>
    numbers(
      ports.of({ ...app(...names), installationId, udpPorts: names.map((name) => ({ name, containerPort: 1 })) }),
    );
  assert.deepEqual(grant('play', 'voice'), [40_000, 40_001]);
  assert.deepEqual(grant('voice'), [40_001]);
  assert.deepEqual(grant('play', 'voice'), [40_000, 40_001]);
  for (let version = 0; version < 50; version += 1) grant(`port-${version}`);
  const stranger = app('play');
  assert.ok((numbers(ports.of(stranger))[0] ?? 0) <= 40_000 + mostPublicPorts + 1);
});
