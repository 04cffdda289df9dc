// A Matrix client with encryption that is not ours, matrix-js-sdk with its Rust crypto, on which Element is built. Driven by
// lines of JSON as nio_client.py is: a line in is a command, a line out an answer (with the command's id) or something that
// arrived.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

// The library writes its log to what a program says.
const { Console } = console;
globalThis.console = new Console(process.stderr, process.stderr);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const [tools, baseUrl, user, password] = process.argv.slice(2);
const { resolve } = createRequire(`${tools}/`);
const sdk = await import(pathToFileURL(resolve('matrix-js-sdk')).href);
const cryptoApi = await import(pathToFileURL(resolve('matrix-js-sdk/lib/crypto-api/index.js')).href);

const { access_token: accessToken, device_id: deviceId } = await sdk
  .createClient({ baseUrl })
  .loginRequest({ type: 'm.login.password', identifier: { type: 'm.id.user', user }, password });
const client = sdk.createClient({ baseUrl, userId: user, accessToken, deviceId });
await client.initRustCrypto({ useIndexedDB: false });
const crypto = client.getCrypto();

client.on('Room.myMembership', (room, membership) => {
  if (membership !== 'invite') return;
  const member = room.getMember(user);
  say({ event: 'invite', room: room.roomId, sender: member?.events.member?.getSender() ?? '' });
});
const show = (event) => {
  if (event.isState() || event.isRedacted()) return;
  const { body = '' } = event.getContent();
  say({
    event: event.isDecryptionFailure() ? 'undecrypted' : 'message',
    room: event.getRoomId(),
    sender: event.getSender(),
    id: event.getId(),
    type: event.getType(),
    body,
    content: event.getContent(),
    decrypted: event.isEncrypted(),
    failure: event.decryptionFailureReason ?? null,
  });
};
client.on('Room.timeline', (event, _room, toStart) => {
  // Its own come again once they are sent.
  if (toStart || event.status === 'sending') return;
  if (!event.isEncrypted() || event.getClearContent() !== null) show(event);
});
// Also one that cannot be, and again where its key came later.
client.on('Event.decrypted', show);

const until = async (condition) => {
  for (;;) {
    const value = await condition();
    if (value) return value;
    await delay(20);
  }
};
const untilThere = (room, users) =>
  until(() => users.every((one) => ['invite', 'join'].includes(client.getRoom(room)?.getMember(one)?.membership)));
const untilEncrypted = (room) => until(() => client.getRoom(room) !== null && crypto.isEncryptionEnabledInRoom(room));
const eventOf = (room, id) => until(() => client.getRoom(room)?.findEventById(id));
const requests = new Map();

const commands = {
  async create({ to, encrypted = true, visibility = 'shared' }) {
    const invite = [to].flat();
    // As Element makes a direct conversation.
    const initial_state = [
      { type: 'm.room.guest_access', state_key: '', content: { guest_access: 'can_join' } },
      { type: 'm.room.history_visibility', state_key: '', content: { history_visibility: visibility } },
    ];
    if (encrypted)
      initial_state.push({ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
    const preset = 'trusted_private_chat';
    const made = await client.createRoom({ preset, visibility: 'private', is_direct: true, invite, initial_state });
    await untilThere(made.room_id, invite);
    return { room: made.room_id };
  },
  async join({ room }) {
    await client.joinRoom(room, { acceptSharedHistory: true });
    return {};
  },
  async leave({ room }) {
    await client.leave(room);
    return {};
  },
  async invite({ room, user: other, history = false }) {
    await client.invite(room, other, { shareEncryptedHistory: history });
    await untilThere(room, [other]);
    return {};
  },
  async send({ room, body, content, type = 'm.room.message' }) {
    await untilEncrypted(room);
    const { event_id: sent } = await client.sendEvent(room, null, type, content ?? { msgtype: 'm.text', body });
    return { sent };
  },
  async state({ room, type, content, key = '' }) {
    const { event_id: sent } = await client.sendStateEvent(room, type, content, key);
    return { sent };
  },
  async redact({ room, event }) {
    await client.redactEvent(room, event);
    return {};
  },
  /** As this device knows it. */
  async membership({ room, of }) {
    return { membership: client.getRoom(room)?.getMember(of)?.membership ?? null };
  },
  device: async () => ({ device: deviceId }),
  upgrade: ({ room, version }) => client.upgradeRoom(room, version),
  async displayname({ name }) {
    await client.setDisplayName(name);
    return {};
  },
  async typing({ room }) {
    await client.sendTyping(room, true, 10_000);
    return {};
  },
  async read({ room, event }) {
    await client.sendReadReceipt(await eventOf(room, event));
    return {};
  },
  async history({ room }) {
    await untilEncrypted(room);
    await client.scrollback(client.getRoom(room), 100);
    const events = client.getRoom(room).getLiveTimeline().getEvents();
    for (const event of events) await client.decryptEventIfNeeded(event);
    const isMessage = (event) => event.getType() === 'm.room.message' && !event.isDecryptionFailure();
    return { bodies: events.filter(isMessage).map((event) => event.getContent().body) };
  },
  /** What is drawn beside a message. */
  async shield({ room, event }) {
    const info = await crypto.getEncryptionInfoForEvent(await eventOf(room, event));
    return { colour: cryptoApi.EventShieldColour[info.shieldColour], reason: info.shieldReason };
  },
  /** What is known of somebody's devices. */
  async devices({ of }) {
    const known = (await crypto.getUserDeviceInfo([of], true)).get(of) ?? new Map();
    const devices = await Promise.all(
      [...known.values()].map(async ({ deviceId: id }) => {
        const status = await crypto.getDeviceVerificationStatus(of, id);
        return { id, signedByOwner: status.signedByOwner, verified: status.isVerified() };
      }),
    );
    const { known: isKnown, needsUserApproval } = await crypto.getUserVerificationStatus(of);
    return { devices, known: isKnown, needsUserApproval };
  },
  async crossSign() {
    await crypto.bootstrapCrossSigning({ authUploadDeviceSigningKeys: (upload) => upload(null) });
    return {};
  },
  /** As Element where it excludes devices that their owner has not confirmed. */
  async onlySigned() {
    crypto.setDeviceIsolationMode(new cryptoApi.OnlySignedDevicesIsolationMode());
    return {};
  },
  /** As Element's "never send encrypted messages to unverified sessions". */
  async onlyVerified() {
    crypto.globalBlacklistUnverifiedDevices = true;
    return {};
  },
  async newKey({ room }) {
    await crypto.forceDiscardSession(room);
    return {};
  },
  async verify({ room, of }) {
    const request = await crypto.requestVerificationDM(of, room);
    requests.set('last', request);
    return {};
  },
  async verifyDevice({ of, device }) {
    requests.set('last', await crypto.requestDeviceVerification(of, device));
    return {};
  },
  async verification() {
    const { phase, cancellationCode } = requests.get('last');
    return { phase: cryptoApi.VerificationPhase[phase], code: cancellationCode };
  },
};

const synced = new Promise((done) => {
  client.on('sync', (state) => {
    if (state === 'PREPARED') done();
  });
});
await client.startClient({ initialSyncLimit: 20, lazyLoadMembers: true, threadSupport: true });
await synced;
say({ event: 'ready', user, device: deviceId });

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, command, ...args } = JSON.parse(line);
  try {
    say({ id, ...(await commands[command](args)) });
  } catch (error) {
    // The test that sent it fails by this line.
    say({ id, error: String(error) });
  }
});
lines.on('close', () => process.exit(0));
