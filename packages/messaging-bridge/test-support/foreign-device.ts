// A device of somebody else at a fake homeserver: what it encrypts is real.
import {
  CollectStrategy,
  DeviceId,
  EncryptionSettings,
  initAsync,
  OlmMachine,
  RequestType,
  RoomId,
  UserId,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import type { FakeHomeserver } from './fake-homeserver.ts';

export interface ForeignDevice {
  readonly userId: string;
  /** Gives the room's key to somebody. */
  share(roomId: string, userId: string): Promise<void>;
  encrypt(roomId: string, content: object, type?: string): Promise<object>;
  /** Publishes cross-signing keys, which are others each time, and confirms the device by them. */
  crossSign(): Promise<void>;
}

interface Request {
  readonly id?: string | undefined;
  readonly type: RequestType;
  readonly body: string;
  readonly event_type?: string;
  readonly txn_id?: string;
}

export async function openForeignDevice(
  homeserver: FakeHomeserver,
  name: string,
  deviceId = name.toUpperCase(),
): Promise<ForeignDevice> {
  await initAsync();
  const userId = `@${name}:elsewhere.test`;
  const olm = await OlmMachine.initialize(new UserId(userId), new DeviceId(deviceId));
  const send = async (request: Request) => {
    const paths: Partial<Record<RequestType, string>> = {
      [RequestType.KeysUpload]: '/keys/upload',
      [RequestType.KeysQuery]: '/keys/query',
      [RequestType.KeysClaim]: '/keys/claim',
      [RequestType.SignatureUpload]: '/keys/signatures/upload',
      [RequestType.ToDevice]: `/sendToDevice/${request.event_type}/${request.txn_id}`,
    };
    const answer = homeserver.ask('POST', paths[request.type] ?? '', userId, JSON.parse(request.body));
    if (request.id !== undefined) await olm.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
  };
  const talk = async () => {
    for (const request of await olm.outgoingRequests()) await send(request as Request);
  };
  await talk();
  return {
    userId,
    async share(roomId, to) {
      await olm.updateTrackedUsers([new UserId(to)]);
      await talk();
      const missing = await olm.getMissingSessions([new UserId(to)]);
      if (missing !== undefined && missing !== null) await send(missing);
      const settings = new EncryptionSettings();
      settings.sharingStrategy = CollectStrategy.allDevices();
      const requests = await olm.shareRoomKey(new RoomId(roomId), [new UserId(to)], settings);
      for (const request of requests) await send(request as Request);
    },
    async crossSign() {
      const { uploadSigningKeysRequest, uploadSignaturesRequest } = await olm.bootstrapCrossSigning(true);
      const body = JSON.parse(uploadSigningKeysRequest.body) as object;
      homeserver.ask('POST', '/keys/device_signing/upload', userId, body);
      await send(uploadSignaturesRequest as Request);
    },
    encrypt: async (roomId, content, type = 'm.room.message') =>
      JSON.parse(await olm.encryptRoomEvent(new RoomId(roomId), type, JSON.stringify(content))) as object,
  };
}
