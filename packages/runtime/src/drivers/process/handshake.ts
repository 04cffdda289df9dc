// The few messages between the Runtime and the bootstrap, before any of the workload's code runs.
import type { ChildProcess } from 'node:child_process';
import net from 'node:net';
import type { InboundSocket } from './inbound-socket.ts';
import type { LaunchOptions } from './launch.ts';
import { inside } from './layout.ts';
import type { Way } from './mechanism.ts';
import { onlyChildChain, type ProcessIdentity } from './process-tree.ts';

/** Where the workload finds its Gateway and its object storage: the first ones that are not its own PORT. */
export const gatewayPorts = [7070, 7071, 7072] as const;

const DEFAULT_DEADLINE = 15_000;

/**
 * Order to the bootstrap, its listeners in return, the Gateway on them, leave to go, end of the channel. Every message is
 * taken as hostile: as many listeners as were ordered, before the deadline, or the launch fails.
 * @returns the processes from the launcher down to the workload.
 */
export async function shakeHands(
  way: Way,
  options: LaunchOptions,
  inbound: InboundSocket,
  child: ChildProcess,
  exit: Promise<unknown>,
): Promise<readonly ProcessIdentity[]> {
  const over = new AbortController();
  const answer = awaitListeners(child, hasStorage(options) ? 2 : 1);
  const work = talk(way, options, inbound, child, answer, over.signal);
  const failure = failureOf(child, exit, options, over.signal);
  // The losers of the race may still fail; their errors no longer matter.
  for (const loser of [answer, work, failure]) loser.catch(() => undefined);
  try {
    return await Promise.race([work, failure]);
  } catch (error) {
    // The listener may open, or the handshake succeed, after the launch has failed; the caller gets the failure.
    answer.then(closeAll).catch(() => undefined);
    throw error;
  } finally {
    over.abort();
  }
}

async function talk(
  way: Way,
  options: LaunchOptions,
  inbound: InboundSocket,
  child: ChildProcess,
  answer: Promise<readonly net.Server[]>,
  over: AbortSignal,
): Promise<readonly ProcessIdentity[]> {
  const sandboxed = way !== 'none';
  const free = gatewayPorts.filter((port) => port !== options.port);
  const order = {
    port: options.port,
    // On the machine's own network any free port; in a fresh one there is nothing to collide with but PORT.
    gatewayPort: sandboxed ? free[0] : 0,
    /** `null`: it has no object storage. */
    storagePort: hasStorage(options) ? (sandboxed ? free[1] : 0) : null,
    environment: options.environment,
    gatewayUrls: options.gatewayUrls,
    storageUrls: options.storageUrls ?? {},
    directory: sandboxed ? inside.app : options.app,
    ...options.keeper?.order,
  };
  await send(child, order, inbound.server);
  const [listener, storage] = await answer;
  if (listener === undefined) throw new Error('The sandbox has no listener.');
  over.throwIfAborted();
  const chain = onlyChildChain(child.pid ?? 0);
  await options.attachGateway(listener, inbound.path, chain.at(-1), chain[0], storage);
  over.throwIfAborted();
  await send(child, { kind: 'go' });
  // Launchers may still hold the other end, so the channel ends here and not there.
  child.disconnect();
  return chain;
}

function hasStorage({ storageUrls = {} }: Pick<LaunchOptions, 'storageUrls'>): boolean {
  return Object.keys(storageUrls).length > 0;
}

function awaitListeners(child: ChildProcess, count: number): Promise<readonly net.Server[]> {
  return new Promise((resolve, reject) => {
    const listeners: net.Server[] = [];
    let isOver = false;
    child.on('message', (message, handle) => {
      if (isOver) {
        discard(handle);
        child.kill('SIGKILL');
        return;
      }
      if (isListenerMessage(message) && handle instanceof net.Server) {
        listeners.push(handle);
        isOver = listeners.length === count;
        if (isOver) resolve(listeners);
        return;
      }
      isOver = true;
      discard(handle);
      closeAll(listeners);
      reject(new Error('The sandbox sent something other than its listener.'));
    });
  });
}

function closeAll(listeners: readonly net.Server[]): void {
  for (const listener of listeners) listener.close();
}

/** What arrives is open in this process, and would stay so. */
function discard(handle: unknown): void {
  if (handle instanceof net.Server) handle.close();
  else if (handle instanceof net.Socket) handle.destroy();
}

function isListenerMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'gateway-listener';
}

function send(child: ChildProcess, message: object, handle?: net.Server): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, handle, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Rejects at the first thing that ends the launch; never resolves. */
function failureOf(
  child: ChildProcess,
  exit: Promise<unknown>,
  { deadline = DEFAULT_DEADLINE, abort }: LaunchOptions,
  over: AbortSignal,
): Promise<never> {
  return new Promise<never>((_, reject) => {
    const fail = (message: string) => () => reject(new Error(message));
    const timer = setTimeout(fail('The sandbox was not ready in time.'), deadline);
    over.addEventListener('abort', () => clearTimeout(timer));
    const givenUp = fail('The start was cancelled.');
    if (abort?.aborted) givenUp();
    abort?.addEventListener('abort', givenUp, { signal: over });
    child.once('error', reject);
    void exit.then(fail('The launcher ended before the workload ran.'));
  });
}
