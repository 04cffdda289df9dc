// The encryption of one device: the OlmMachine of matrix-rust-sdk, whose requests are sent in the account's name. What
// `encrypt` returns is all that a room is ever sent.
import {
  CollectStrategy,
  DecryptionSettings,
  DeviceId,
  DeviceLists,
  EncryptionSettings,
  HistoryVisibility,
  initAsync,
  LoggerLevel,
  MegolmDecryptionError,
  OlmMachine,
  OtherUserIdentity,
  RequestType,
  RoomId,
  ShieldStateCode,
  Tracing,
  TrustRequirement,
  UserId,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { type As, type Homeserver, serverOf } from './homeserver.ts';
import { anything, type Decrypted, decryptedEvent, keysAnswer, type RoomEvent, type SyncAnswer } from './shapes.ts';

export interface Machine {
  /** Takes in what a sync had for this device. */
  receive(sync: SyncAnswer): Promise<void>;
  /** Sends what the machine has to say: keys to publish, keys to ask for. */
  talk(): Promise<void>;
  /** Publishes cross-signing keys, which are made where there are none. */
  crossSign(): Promise<void>;
  /**
   * Gives the key of what will be encrypted to all devices of these people, where nothing is in the way. A person who left makes
   * it another key.
   */
  share(roomId: string, userIds: readonly string[]): Promise<Obstacles>;
  /** @returns the content of an `m.room.encrypted` */
  encrypt(roomId: string, type: string, content: object): Promise<object>;
  decrypt(roomId: string, event: RoomEvent): Promise<Decrypted | Undecryptable>;
  /** Whether somebody's identity is another one than when it was first seen. It is the known one after `acceptIdentity`. */
  hasNewIdentity(userId: string): Promise<boolean>;
  acceptIdentity(userId: string): Promise<void>;
  /** Devices of somebody with an identity that it has not signed. */
  unconfirmedDevices(userId: string): Promise<string[]>;
  /** Whose identity a server has said something new of, since this was last asked. */
  identitiesToLookAt(): string[];
  close(): void;
}

/** Why a key is given to nobody: each list names people, and is empty where it is no obstacle. */
export interface Obstacles {
  /** Have no device that encrypts. */
  readonly without: readonly string[];
  /** Their server does not say. */
  readonly unreached: readonly string[];
  /** Have more devices than anybody. */
  readonly crowded: readonly string[];
}

/** What cannot be decrypted, for now or ever. */
export interface Undecryptable {
  readonly type: null;
  /** The reason for which a device says that it gives no key, "m.unverified" and such; `null` where none was given. */
  readonly withheld: string | null;
}

interface Request {
  readonly id?: string | undefined;
  readonly type: RequestType;
  readonly body: string;
}

const UNDECRYPTABLE: Undecryptable = { type: null, withheld: null };

/** Of one person. Each costs time at every new key, and people have a few. */
const MOST_DEVICES = 200;

/** Requests of one person to compare keys that a sync has answered. */
const MOST_DECLINED = 5;
/** Milliseconds for which the homeserver waits for keys of another one: all of the account waits for it. */
const OF_OTHERS = { timeout: '5000' };

let prepared: Promise<void> | null = null;

/** Loads the library, once. Its log would name people. */
function prepare(): Promise<void> {
  prepared ??= initAsync().then(() => {
    if (Tracing.isAvailable()) new Tracing(LoggerLevel.Error).turnOff();
  });
  return prepared;
}

/**
 * @param storeName the databases' names begin with it
 * @param onDropped called for a message to this device that the library does not take
 */
export async function openMachine(
  homeserver: Homeserver,
  as: Required<As>,
  storeName: string,
  onDropped: () => void,
): Promise<Machine> {
  await prepare();
  const olm = await OlmMachine.initialize(new UserId(as.userId), new DeviceId(as.deviceId), storeName);
  olm.roomKeyForwardingEnabled = false;
  olm.roomKeyRequestsEnabled = false;
  /** Anew each time: the library takes what it is given. */
  const settings = () => new DecryptionSettings(TrustRequirement.Untrusted);
  /** People with more devices than are taken in, of which none is. */
  const crowds = new Set<string>();
  const identities = new Set<string>();
  await olm.registerUserIdentityUpdatedCallback(async (userId: UserId) => void identities.add(userId.toString()));
  /** Servers that did not answer a query of keys since they last did. */
  const silent = new Set<string>();

  async function send(request: Request): Promise<void> {
    const answer = await deliver(request);
    if (request.id !== undefined) await olm.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
  }

  async function deliver(request: Request): Promise<unknown> {
    const post = (...path: string[]) =>
      homeserver.request(as, {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', ...path],
        query: OF_OTHERS,
        body: request.body,
        answer: anything,
      });
    switch (request.type) {
      case RequestType.KeysUpload:
        return post('keys', 'upload');
      case RequestType.KeysQuery:
        return query(request.body);
      case RequestType.KeysClaim:
        return post('keys', 'claim');
      case RequestType.SignatureUpload:
        return post('keys', 'signatures', 'upload');
      case RequestType.ToDevice: {
        const { event_type, txn_id } = request as unknown as { event_type: string; txn_id: string };
        return homeserver.request(as, {
          method: 'PUT',
          path: ['_matrix', 'client', 'v3', 'sendToDevice', event_type, txn_id],
          body: request.body,
          answer: anything,
        });
      }
      default:
        // The machine asks for nothing else while its backup is off; sending it would be a message of its choice.
        throw new Error(`The machine asks for a request of kind ${request.type}.`);
    }
  }

  async function query(body: string): Promise<unknown> {
    const answer = await homeserver.request(as, {
      method: 'POST',
      path: ['_matrix', 'client', 'v3', 'keys', 'query'],
      query: OF_OTHERS,
      body,
      answer: keysAnswer,
    });
    const asked = Object.keys((JSON.parse(body) as { device_keys: object }).device_keys);
    for (const userId of asked) {
      silent.delete(serverOf(userId));
      crowds.delete(userId);
    }
    for (const server of Object.keys(answer.failures)) silent.add(server);
    for (const [userId, devices] of Object.entries(answer.device_keys)) {
      if (Object.keys(devices).length <= MOST_DEVICES) continue;
      crowds.add(userId);
      answer.device_keys[userId] = {};
    }
    return answer;
  }

  async function identityOf(userId: string): Promise<unknown> {
    const [id] = userIdOf(userId);
    return id && olm.getIdentity(id);
  }

  /** Nobody is there who could compare keys. */
  async function decline(userId: string): Promise<void> {
    const [id] = userIdOf(userId);
    let declined = 0;
    for (const asked of id === undefined ? [] : olm.getVerificationRequests(id)) {
      if (asked.isCancelled() || asked.isDone()) continue;
      // Further ones end by their time.
      if (declined === MOST_DECLINED) return;
      declined += 1;
      const answer = asked.cancel();
      if (answer?.type === RequestType.ToDevice) await send(answer as Request);
    }
  }

  const talk = async (): Promise<void> => {
    for (const request of await olm.outgoingRequests()) await send(request as Request);
  };

  return {
    async receive({ to_device, device_lists, device_one_time_keys_count, device_unused_fallback_key_types }) {
      const lists = () => new DeviceLists(device_lists.changed.flatMap(userIdOf), device_lists.left.flatMap(userIdOf));
      const counts = () => new Map(Object.entries(device_one_time_keys_count));
      const unused = () => device_unused_fallback_key_types && new Set(device_unused_fallback_key_types);
      const take = (events: readonly object[]) =>
        olm.receiveSyncChanges(JSON.stringify(events), lists(), counts(), unused(), settings());
      try {
        await take(to_device.events);
      } catch {
        // One of them is such that the machine takes none: that one is lost, and no more.
        await take([]);
        for (const event of to_device.events) await take([event]).catch(onDropped);
      }
      const askers = to_device.events.filter(({ type }) => type === 'm.key.verification.request');
      for (const userId of new Set(askers.map(({ sender }) => sender))) await decline(userId);
    },
    talk,
    async crossSign() {
      const { hasMaster, hasSelfSigning, hasUserSigning } = await olm.crossSigningStatus();
      const { uploadKeysRequest, uploadSigningKeysRequest, uploadSignaturesRequest } = await olm.bootstrapCrossSigning(
        !(hasMaster && hasSelfSigning && hasUserSigning),
      );
      if (uploadKeysRequest !== undefined) await send(uploadKeysRequest as Request);
      await homeserver.request(as, {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', 'keys', 'device_signing', 'upload'],
        body: uploadSigningKeysRequest.body,
        answer: anything,
      });
      await send(uploadSignaturesRequest);
    },
    async share(roomId, userIds) {
      const people = userIds.flatMap(userIdOf);
      await olm.updateTrackedUsers(people.map((one) => one.clone()));
      await talk();
      const crowded = userIds.filter((userId) => crowds.has(userId));
      if (crowded.length > 0) return { without: [], unreached: [], crowded };
      const missing = await olm.getMissingSessions(people.map((one) => one.clone()));
      if (missing !== undefined && missing !== null) await send(missing);
      const unreached = userIds.filter((userId) => silent.has(serverOf(userId)));
      const without: string[] = [];
      for (const person of people) {
        const devices = await olm.getUserDevices(person.clone());
        if (devices.keys().length === 0 && !unreached.includes(person.toString())) without.push(person.toString());
      }
      if (without.length > 0 || unreached.length > 0) return { without, unreached, crowded };
      const encryption = new EncryptionSettings();
      encryption.sharingStrategy = CollectStrategy.allDevices();
      encryption.historyVisibility = HistoryVisibility.Invited;
      for (const request of await olm.shareRoomKey(new RoomId(roomId), people, encryption)) await send(request);
      return { without, unreached, crowded };
    },
    encrypt: async (roomId, type, content) =>
      JSON.parse(await olm.encryptRoomEvent(new RoomId(roomId), type, JSON.stringify(content))) as object,
    async decrypt(roomId, event) {
      try {
        const opened = await olm.decryptRoomEvent(JSON.stringify(event), new RoomId(roomId), settings());
        // A homeserver that puts one person's message into another one's mouth.
        if (opened.shieldState(false).code === ShieldStateCode.MismatchedSender) return UNDECRYPTABLE;
        return decryptedEvent.parse(JSON.parse(opened.event));
      } catch (error) {
        const withheld = error instanceof MegolmDecryptionError ? (error.withheldCode ?? null) : null;
        return { type: null, withheld };
      }
    },
    async hasNewIdentity(userId) {
      const identity = await identityOf(userId);
      return identity instanceof OtherUserIdentity && identity.identityNeedsUserApproval();
    },
    async acceptIdentity(userId) {
      const identity = await identityOf(userId);
      if (identity instanceof OtherUserIdentity) await identity.pinCurrentMasterKey();
    },
    async unconfirmedDevices(userId) {
      const [id] = userIdOf(userId);
      if (id === undefined || !((await identityOf(userId)) instanceof OtherUserIdentity)) return [];
      const devices = (await olm.getUserDevices(id)).devices();
      return devices.filter((one) => !one.isCrossSignedByOwner()).map((one) => one.deviceId.toString());
    },
    identitiesToLookAt() {
      const all = [...identities];
      identities.clear();
      return all;
    },
    close: () => olm.close(),
  };
}

/** None for what is no user id. */
function userIdOf(text: string): UserId[] {
  try {
    return [new UserId(text)];
  } catch {
    return [];
  }
}
