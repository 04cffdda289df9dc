// A messaging bridge over a real homeserver, with another one that it federates with: what passes between the bridge and its
// homeserver is recorded, and the bridge is asked as core asks it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import {
  MESSAGING_BRIDGE_PATH,
  type MessagingBridgeErrorCode,
  type MessagingBridgeInput,
  type MessagingBridgeOperation,
  type MessagingBridgeResult,
  messagingBridgeAnswer,
  messagingBridgeFailure,
  messagingBridgeOperations,
} from '@platform/contract';
import { type Bridge, type BridgeOptions, startBridge } from '@platform/messaging-bridge';
import { freePort } from './free-port.ts';
import { type MatrixClient, startJsClient, startMatrixClient } from './matrix-client.ts';
import { type RecordedRelay, startRecordedRelay } from './recorded-relay.ts';
import { bridgeRegistration, newToken, type Synapse, type Synapses, startSynapses } from './synapse.ts';
import { until } from './wait.ts';

/** A failure that the bridge answered with. */
export class BridgeFailure extends Error {
  readonly code: MessagingBridgeErrorCode;

  constructor(code: MessagingBridgeErrorCode, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** An account of the platform, as core asks for it. */
export interface Person {
  readonly accountId: string;
  readonly userId: string;
  ask<Operation extends MessagingBridgeOperation>(
    operation: Operation,
    input: MessagingBridgeInput<Operation>,
  ): Promise<MessagingBridgeResult<Operation>>;
  /** The conversation with somebody, once it has this state. */
  conversationWith(userId: string, state?: string): Promise<MessagingBridgeResult<'direct'>['conversation']>;
  /** Waits for a message of this text, by `sync`. */
  receives(body: string | RegExp): Promise<MessagingBridgeResult<'sync'>['messages'][number]>;
}

export interface BridgeWorld {
  readonly home: Synapse;
  readonly away: Synapse;
  readonly folder: string;
  /** Between the bridge and its homeserver, in both directions of asking. */
  readonly wire: readonly RecordedRelay[];
  bridge(): Bridge;
  /** For a bridge in a process of its own, once this one has stopped. */
  readonly options: Omit<BridgeOptions, 'log'>;
  person(name: string): Person;
  /** A Matrix account on the other server, with matrix-nio. */
  stranger(name: string): Promise<MatrixClient>;
  /** A device there of matrix-js-sdk: of a new account, or a further one of an account. @param tools of `jsSdkTools` */
  elementOf(tools: string, name: string, isFurther?: boolean): Promise<MatrixClient>;
  stopBridge(): Promise<void>;
  startBridge(settings?: { readonly idle?: number }): Promise<void>;
  close(): Promise<void>;
}

/** @param database of the bridge's homeserver */
export async function startBridgeWorld(
  packages: string,
  database: 'sqlite' | 'postgres' = 'sqlite',
): Promise<BridgeWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bridge-'));
  const bridgePort = await freePort();
  const tokens = { asToken: newToken(), hsToken: newToken() };
  const token = newToken();
  const clients: MatrixClient[] = [];
  const fromHomeserver = await startRecordedRelay(() => bridgePort);
  const registration = bridgeRegistration(`http://127.0.0.1:${fromHomeserver.port}`, tokens);
  const synapses: Synapses<'home' | 'away'> = await startSynapses(packages, {
    home: { registration, database },
    away: {},
  });
  const { home, away } = synapses.servers;
  const toHomeserver = await startRecordedRelay(() => Number(new URL(home.origin).port));
  const options = {
    folder,
    listen: { host: '127.0.0.1', port: bridgePort },
    token,
    serverName: home.serverName,
    homeserver: { origin: `http://127.0.0.1:${toHomeserver.port}` },
    registration: { id: 'platform-messaging', ...tokens },
  };
  let bridge: Bridge | null = null;

  const world: BridgeWorld = {
    home,
    away,
    folder,
    options,
    wire: [toHomeserver, fromHomeserver],
    bridge() {
      if (bridge === null) throw new Error('the bridge does not run');
      return bridge;
    },
    person: (name) => personAt(`http://127.0.0.1:${bridgePort}`, token, name, home.serverName),
    async stranger(name) {
      const client = await startMatrixClient(packages, away, name);
      clients.push(client);
      return client;
    },
    async elementOf(tools, name, isFurther = false) {
      const client = await startJsClient(tools, { server: away, name, isFurther });
      clients.push(client);
      return client;
    },
    async stopBridge() {
      const ending = bridge;
      bridge = null;
      await ending?.close();
    },
    async startBridge({ idle } = {}) {
      bridge = await startBridge({ ...options, log: QUIET, ...(idle === undefined ? {} : { idle }) });
      await bridge.ready;
    },
    async close() {
      await world.stopBridge();
      await Promise.all(clients.map((client) => client.close()));
      await synapses.close();
      await Promise.all(world.wire.map((relay) => relay.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
  await world.startBridge();
  return world;
}

const show = (fields: object, message: string) => {
  if (process.env.BRIDGE_LOG !== undefined) console.error(message, fields);
};
const QUIET = { info: show, warn: show, error: show };

/** @param origin of the bridge @param token of core */
export function personAt(
  origin: string,
  token: string,
  name: string,
  serverName: string,
  accountId = `acc-${name}`,
): Person {
  const userId = `@${name}:${serverName}`;
  const subject = {
    accountId,
    platformName: name,
    platformAddress: `${name}@${serverName}`,
    transportUserId: userId,
  };
  const person: Person = {
    accountId: subject.accountId,
    userId,
    async ask(operation, input) {
      const response = await fetch(`${origin}${MESSAGING_BRIDGE_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ version: 1, operation, subject, input }),
      });
      const body: unknown = await response.json();
      if (!response.ok) {
        const { error } = messagingBridgeFailure.parse(body);
        throw new BridgeFailure(error.code, error.message);
      }
      const answer = messagingBridgeAnswer.parse(body);
      if (answer.userId !== userId) throw new Error(`the answer is of ${answer.userId}`);
      return messagingBridgeOperations[operation].result.parse(answer.result) as never;
    },
    conversationWith: (other, state) =>
      until(
        `${name}'s conversation with ${other}${state === undefined ? '' : ` as ${state}`}`,
        async () => {
          const { conversations } = await person.ask('conversations', { limit: 100 });
          return conversations.find(
            (one) => one.participants[0]?.transportUserId === other && (state === undefined || one.state === state),
          );
        },
        60_000,
      ),
    async receives(body) {
      const matches = (text: string) => (typeof body === 'string' ? text === body : body.test(text));
      return until(
        `${name} to receive ${body}`,
        async () => {
          const { conversations } = await person.ask('conversations', { limit: 100 });
          for (const { id } of conversations) {
            const { messages } = await person.ask('messages', { conversationId: id, limit: 100 });
            const found = messages.find((message) => matches(message.body));
            if (found !== undefined) return found;
          }
          return null;
        },
        60_000,
      );
    },
  };
  return person;
}
