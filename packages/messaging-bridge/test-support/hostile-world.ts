// A bridge over a fake homeserver, with an account of the platform and a device of somebody elsewhere.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { BridgeFailure, type Person, personAt } from '../../../tests/support/bridge-world.ts';
import { until } from '../../../tests/support/wait.ts';
import { type Bridge, type BridgeOptions, startBridge } from '../src/bridge.ts';
import { type Call, type FakeHomeserver, joinedRoom, startFakeHomeserver } from './fake-homeserver.ts';
import { type ForeignDevice, openForeignDevice } from './foreign-device.ts';

/** What core presents, and the homeserver. */
export const TOKEN = 'core'.repeat(10);
export const HS_TOKEN = 'homeserver'.repeat(5);
/** Of the open conversation. */
export const ROOM = '!room';

export interface HostileWorld {
  readonly homeserver: FakeHomeserver;
  readonly bridge: Bridge;
  readonly options: BridgeOptions;
  /** On the platform. */
  readonly ada: Person;
  /** Elsewhere. */
  readonly zoe: ForeignDevice;
  /** Somebody else on the platform. @param accountId default: one for the name */
  person(name: string, accountId?: string): Person;
  /** Rings as the homeserver does. @returns the status */
  ring(body?: unknown, token?: string): Promise<number>;
  /** Has syncs of Ada answer so, one after the other, and waits until all were taken in. */
  deliver(...answers: object[]): Promise<void>;
  /** An open conversation with Zoe, with the key of her side of the room. @returns its id */
  openConversation(): Promise<string>;
  /** What was said in a conversation of Ada, in order. */
  bodies(conversationId: string): Promise<string[]>;
  /** What was sent to rooms. */
  sendsTo(): Call[];
  /** Of accounts that the bridge keeps. */
  folders(): Promise<string[]>;
  /** What all of them take on the disk. */
  storeBytes(): Promise<number>;
  /** Ends the bridge, and starts one on the same store and port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const quiet = () => undefined;

/** @param settings of the bridge */
export async function startHostileWorld(settings: Partial<BridgeOptions> = {}): Promise<HostileWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hostile-'));
  const homeserver = await startFakeHomeserver();
  const options: BridgeOptions = {
    folder,
    listen: { host: '127.0.0.1', port: 0 },
    token: TOKEN,
    serverName: homeserver.serverName,
    homeserver: { origin: homeserver.origin },
    registration: { id: 'bridge', asToken: 'a', hsToken: HS_TOKEN },
    log: { info: quiet, warn: quiet, error: quiet },
    ...settings,
  };
  let bridge = await startBridge(options);
  await bridge.ready;
  const { port } = bridge;
  const person = (name: string, accountId?: string) =>
    personAt(`http://127.0.0.1:${port}`, TOKEN, name, homeserver.serverName, accountId);
  const ada = person('ada');
  await ada.ask('identity', {});
  const zoe = await openForeignDevice(homeserver, 'zoe');
  const world: HostileWorld = {
    homeserver,
    get bridge() {
      return bridge;
    },
    options,
    ada,
    zoe,
    person,
    async ring(body = { events: [{ state_key: ada.userId }] }, token = HS_TOKEN) {
      const response = await fetch(`http://127.0.0.1:${bridge.port}/_matrix/app/v1/transactions/1`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      return response.status;
    },
    async deliver(...answers) {
      homeserver.queue(ada.userId, ...answers);
      await until('all to be taken', async () => {
        await world.ring();
        return homeserver.waiting(ada.userId) === 0;
      });
      // In its turn: behind what was taken.
      await ada.ask('conversations', { limit: 1 });
    },
    async openConversation() {
      await world.deliver(joinedRoom(ROOM, ada.userId, zoe.userId));
      await zoe.share(ROOM, ada.userId);
      await world.deliver({});
      return (await ada.conversationWith(zoe.userId, 'open')).id;
    },
    async bodies(conversationId) {
      const { messages } = await ada.ask('messages', { conversationId, limit: 100 });
      return messages.map(({ body }) => body).reverse();
    },
    sendsTo: () => homeserver.calls.filter(({ path: called }) => /\/send\//.test(called)),
    folders: () => readdir(path.join(folder, 'accounts')),
    async storeBytes() {
      let bytes = 0;
      for (const name of await world.folders()) bytes += (await stat(path.join(folder, 'accounts', name, 'log'))).size;
      return bytes;
    },
    async restart() {
      await bridge.close();
      bridge = await startBridge({ ...options, listen: { ...options.listen, port } });
      await bridge.ready;
    },
    async close() {
      await bridge.close();
      await homeserver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}

export const failsWith = (code: string) => (error: unknown) => error instanceof BridgeFailure && error.code === code;

/** A sync with events of the room's timeline. */
export const says = (...events: object[]) => ({ rooms: { join: { [ROOM]: { timeline: { events } } } } });
export const text = (body: string) => ({ msgtype: 'm.text', body });
