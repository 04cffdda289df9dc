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
  OlmMachine,
  RequestType,
  RoomId,
  ShieldStateCode,
  Tracing,
  TrustRequirement,
  UserId,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import type { As, Homeserver } from './homeserver.ts';
import { anything, type Decrypted, decryptedEvent, keysAnswer, type RoomEvent, type SyncAnswer } from './shapes.ts';

export interface Machine {
  /** Takes in what a sync had for this device. */
  receive(sync: SyncAnswer): Promise<void>;
  /** Sends what the machine has to say: keys to publish, keys to ask for. */
  talk(): Promise<void>;
  /** Publishes cross-signing keys, which are made where there are none. */
  crossSign(): Promise<void>;
  /**
   * Gives the key of what will be encrypted to all devices of these people. A person who left makes it another key.
   *
   * @returns those without any device that encrypts, and those whose server did not say
   */
  share(
    roomId: string,
    userIds: readonly string[],
  ): Promise<{ readonly without: string[]; readonly unreached: string[] }>;
  /** @returns the content of an `m.room.encrypted` */
  encrypt(roomId: string, type: string, content: object): Promise<object>;
  /** `null` for what cannot be decrypted, for now or ever. */
  decrypt(roomId: string, event: RoomEvent): Promise<Decrypted | null>;
  close(): void;
}

interface Request {
  readonly id?: string | undefined;
  readonly type: RequestType;
  readonly body: string;
}

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
      body,
      answer: keysAnswer,
    });
    const asked = Object.keys((JSON.parse(body) as { device_keys: object }).device_keys).map(serverOf);
    for (const server of asked) silent.delete(server);
    for (const server of Object.keys(answer.failures)) silent.add(server);
    return answer;
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
      const missing = await olm.getMissingSessions(people.map((one) => one.clone()));
      if (missing !== undefined && missing !== null) await send(missing);
      const unreached = userIds.filter((userId) => silent.has(serverOf(userId)));
      const without: string[] = [];
      for (const person of people) {
        const devices = await olm.getUserDevices(person.clone());
        if (devices.keys().length === 0 && !unreached.includes(person.toString())) without.push(person.toString());
      }
      if (without.length > 0 || unreached.length > 0) return { without, unreached };
      const encryption = new EncryptionSettings();
      encryption.sharingStrategy = CollectStrategy.allDevices();
      encryption.historyVisibility = HistoryVisibility.Invited;
      for (const request of await olm.shareRoomKey(new RoomId(roomId), people, encryption)) await send(request);
      return { without, unreached };
    },
    encrypt: async (roomId, type, content) =>
      JSON.parse(await olm.encryptRoomEvent(new RoomId(roomId), type, JSON.stringify(content))) as object,
    async decrypt(roomId, event) {
      try {
        const opened = await olm.decryptRoomEvent(JSON.stringify(event), new RoomId(roomId), settings());
        // A homeserver that puts one person's message into another one's mouth.
        if (opened.shieldState(false).code === ShieldStateCode.MismatchedSender) return null;
        return decryptedEvent.parse(JSON.parse(opened.event));
      } catch {
        return null;
      }
    },
    close: () => olm.close(),
  };
}

const serverOf = (userId: string) => userId.slice(userId.indexOf(':') + 1);

/** None for what is no user id. */
function userIdOf(text: string): UserId[] {
  try {
    return [new UserId(text)];
  } catch {
    return [];
  }
}
