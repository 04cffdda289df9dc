// A homeserver that does what no honest one does: it keeps keys and rooms as far as the bridge needs them, and a test has it
// answer a sync, or anything else, as it likes.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const { createServer } = process.getBuiltinModule('node:http');

export interface Call {
  readonly method: string;
  /** Below `/_matrix/client/v3`, unescaped. */
  readonly path: string;
  readonly userId: string;
  readonly body: Record<string, unknown>;
  readonly query: URLSearchParams;
}

export interface FakeHomeserver {
  readonly origin: string;
  readonly serverName: string;
  /** Everything it was asked. */
  readonly calls: readonly Call[];
  /** What further syncs of somebody answer, one after the other; without `next_batch` they get one. */
  queue(userId: string, ...answers: object[]): void;
  /** Takes away what is queued for somebody. */
  unqueue(userId: string): object[];
  /** What is queued and not yet taken. */
  waiting(userId: string): number;
  /** Answers the next calls of a path in another way, also later, until it is taken back. @returns what takes it back */
  instead(path: RegExp, answer: (call: Call) => unknown): () => void;
  /** As a device would ask it. */
  ask(method: string, path: string, userId: string, body: object): unknown;
  close(): Promise<void>;
}

/** An answer that is no JSON, or has another status. */
export class Raw {
  readonly status: number;
  readonly bytes: string | Buffer;

  constructor(status: number, bytes: string | Buffer) {
    this.status = status;
    this.bytes = bytes;
  }
}

interface Signed {
  signatures?: Record<string, Record<string, string>>;
}

interface Device {
  readonly keys: Record<string, unknown>;
  readonly oneTime: Map<string, unknown>;
}

export async function startFakeHomeserver(): Promise<FakeHomeserver> {
  const serverName = 'fake.test';
  const calls: Call[] = [];
  const syncs = new Map<string, object[]>();
  const overrides = new Set<{ readonly path: RegExp; readonly answer: (call: Call) => unknown }>();
  const devices = new Map<string, Map<string, Device>>();
  const data = new Map<string, object>();
  /** Cross-signing keys, by person and kind. */
  const identities = new Map<string, Record<string, Signed>>();
  const deviceOf = (userId: string, deviceId: string): Device => {
    const own = devices.get(userId) ?? new Map<string, Device>();
    devices.set(userId, own);
    const device = own.get(deviceId) ?? { keys: {}, oneTime: new Map() };
    own.set(deviceId, device);
    return device;
  };
  const queueOf = (userId: string): object[] => {
    const queue = syncs.get(userId) ?? [];
    syncs.set(userId, queue);
    return queue;
  };

  function respond(call: Call): unknown {
    const { path, userId, body } = call;
    if (path === '/account/whoami') return { user_id: userId || `@platform-messaging:${serverName}` };
    if (path === '/devices') return { devices: [] };
    if (path === '/sync') return sync(userId);
    if (path === '/keys/upload') return upload(userId, body);
    if (path === '/keys/query') return query(body);
    if (path === '/keys/device_signing/upload') {
      identities.set(userId, body as Record<string, Signed>);
      return {};
    }
    if (path === '/keys/signatures/upload') return sign(userId, body as Record<string, Record<string, Signed>>);
    if (path === '/keys/claim') return claim(body);
    if (path.includes('/account_data/')) return accountData(call);
    if (path.startsWith('/sendToDevice/')) return deliver(call);
    if (path === '/createRoom') return createRoom(userId, body);
    if (/^\/rooms\/.*\/send\//.test(path)) return { event_id: `$${randomBytes(16).toString('base64url')}` };
    if (path.endsWith('/messages')) return { chunk: [] };
    return {};
  }

  function sync(userId: string): object {
    let left = 0;
    for (const { oneTime } of devices.get(userId)?.values() ?? []) left += oneTime.size;
    const counts = {
      device_one_time_keys_count: { signed_curve25519: left },
      device_unused_fallback_key_types: ['signed_curve25519'],
    };
    return { next_batch: randomBytes(4).toString('hex'), ...counts, ...queueOf(userId).shift() };
  }

  function accountData({ method, path, body }: Call): unknown {
    if (method === 'PUT') data.set(path, body);
    return data.get(path) ?? new Raw(404, '{"errcode":"M_NOT_FOUND","error":"none"}');
  }

  function upload(userId: string, body: Record<string, unknown>): unknown {
    const keys = body.device_keys as { device_id: string } | undefined;
    const deviceId = keys?.device_id ?? [...(devices.get(userId)?.keys() ?? [])][0] ?? '';
    const device = deviceOf(userId, deviceId);
    if (keys !== undefined) Object.assign(device.keys, keys);
    for (const [name, value] of Object.entries((body.one_time_keys ?? {}) as object)) device.oneTime.set(name, value);
    return { one_time_key_counts: { signed_curve25519: device.oneTime.size } };
  }

  function query(body: Record<string, unknown>): unknown {
    const asked = Object.keys(body.device_keys as object);
    const known = asked.map((userId) => [
      userId,
      Object.fromEntries([...(devices.get(userId) ?? [])].map(([deviceId, { keys }]) => [deviceId, keys])),
    ]);
    const keysOf = (kind: string) =>
      Object.fromEntries(
        asked.flatMap((userId) => {
          const key = identities.get(userId)?.[kind];
          return key === undefined ? [] : [[userId, key]];
        }),
      );
    return {
      device_keys: Object.fromEntries(known),
      master_keys: keysOf('master_key'),
      self_signing_keys: keysOf('self_signing_key'),
      failures: {},
    };
  }

  /** Of their own devices and keys, which are all that tests sign. */
  function sign(userId: string, body: Record<string, Record<string, Signed>>): unknown {
    for (const [name, signed] of Object.entries(body[userId] ?? {})) {
      const device = devices.get(userId)?.get(name);
      const target = (device?.keys ?? identities.get(userId)?.master_key) as Signed | undefined;
      if (target === undefined) continue;
      const own = { ...target.signatures?.[userId], ...signed.signatures?.[userId] };
      target.signatures = { ...target.signatures, [userId]: own };
    }
    return { failures: {} };
  }

  function claim(body: Record<string, unknown>): unknown {
    const claimed: Record<string, Record<string, object>> = {};
    for (const [userId, own] of Object.entries(body.one_time_keys as Record<string, object>)) {
      claimed[userId] = {};
      for (const deviceId of Object.keys(own)) {
        const { oneTime } = deviceOf(userId, deviceId);
        const [first] = oneTime;
        if (first === undefined) continue;
        oneTime.delete(first[0]);
        claimed[userId][deviceId] = { [first[0]]: first[1] };
      }
    }
    return { one_time_keys: claimed, failures: {} };
  }

  function deliver({ path, userId, body }: Call): unknown {
    const type = path.split('/')[2] ?? '';
    for (const [to, contents] of Object.entries(body.messages as Record<string, Record<string, object>>))
      for (const content of Object.values(contents))
        queueOf(to).push({ to_device: { events: [{ type, sender: userId, content }] } });
    return {};
  }

  function createRoom(userId: string, body: Record<string, unknown>): unknown {
    const roomId = `!${randomBytes(16).toString('base64url')}`;
    const [other = ''] = body.invite as string[];
    queueOf(userId).push(joinedRoom(roomId, userId, other, { theirs: 'invite' }));
    return { room_id: roomId };
  }

  function answer(call: Call): unknown {
    calls.push(call);
    for (const { path, answer: other } of overrides) if (path.test(call.path)) return other(call);
    return respond(call);
  }

  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', async () => {
      const url = new URL(req.url ?? '', 'http://fake');
      const path = decodeURIComponent(url.pathname.replace(/^\/_matrix\/client\/v[0-9]+/, ''));
      const text = Buffer.concat(pieces).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      const given = await answer({
        method: req.method ?? '',
        path,
        userId: url.searchParams.get('user_id') ?? '',
        body,
        query: url.searchParams,
      });
      const raw = given instanceof Raw ? given : new Raw(200, JSON.stringify(given));
      res.writeHead(raw.status, { 'content-type': 'application/json' });
      res.end(raw.bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serverName,
    calls,
    queue: (userId, ...answers) => void queueOf(userId).push(...answers),
    unqueue: (userId) => queueOf(userId).splice(0),
    waiting: (userId) => queueOf(userId).length,
    instead(path, other) {
      const override = { path, answer: other };
      overrides.add(override);
      return () => void overrides.delete(override);
    },
    ask: (method, path, userId, body) =>
      answer({ method, path, userId, body: body as Record<string, unknown>, query: new URLSearchParams() }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface RoomMembers {
  readonly theirs?: 'join' | 'invite' | 'leave';
  readonly encrypted?: boolean;
}

let events = 0;
/** An event of a room's state or timeline, with what is given in the place of what an honest one has. */
export function event(type: string, sender: string, content: object, more: object = {}): object {
  events += 1;
  return { event_id: `$event${events}`, type, sender, origin_server_ts: 1_700_000_000_000 + events, content, ...more };
}

/** A sync that shows somebody in a room with another one. */
export function joinedRoom(
  roomId: string,
  self: string,
  other: string,
  { theirs = 'join', encrypted = true }: RoomMembers = {},
  timeline: readonly object[] = [],
): object {
  const member = (userId: string, membership: string) =>
    event('m.room.member', userId, { membership }, { state_key: userId });
  const state = [member(self, 'join'), member(other, theirs)];
  const encryption = event('m.room.encryption', self, { algorithm: 'm.megolm.v1.aes-sha2' }, { state_key: '' });
  return {
    rooms: {
      join: {
        [roomId]: { state: { events: encrypted ? [...state, encryption] : state }, timeline: { events: timeline } },
      },
    },
  };
}

/** A sync with invitations of somebody. */
export function invitation(roomId: string, self: string, from: string, encrypted = true): object {
  const member = { type: 'm.room.member', sender: from, state_key: self, content: { membership: 'invite' } };
  const encryption = { type: 'm.room.encryption', sender: from, state_key: '', content: {} };
  const shown = encrypted ? [member, encryption] : [member];
  return { rooms: { invite: { [roomId]: { invite_state: { events: shown } } } } };
}
