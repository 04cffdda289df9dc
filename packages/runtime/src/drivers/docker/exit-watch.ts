// Waits for the exit of a container, even if the engine dies meanwhile.

import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type Container, type ContainerInspectInfo, isGone } from './engine.ts';

/** How a container ended, or in one sentence why that is unknown. */
export type ContainerExit = { readonly code: number; readonly outOfMemory: boolean } | { readonly unknown: string };

export interface ExitWatch {
  /** Aborted when requests to the engine are given up. */
  readonly cut: AbortSignal;
  /** Called when the engine is back and the container still runs. */
  onReturn?(): Promise<void>;
}

const ASK_AGAIN_MS = 200;
/** Removed before its exit code was read. */
const VANISHED: ContainerExit = { unknown: 'Its container was removed by someone else.' };
const LEFT: ContainerExit = { unknown: 'The container engine did not answer when the platform ended.' };

/**
 * Resolves when the container runs no more. While the engine is away, its containers may run on, so that nothing is
 * decided before it is back, or before the line to it is cut: then they may run on for good.
 */
export async function awaitExit(container: Container, { cut, onReturn }: ExitWatch): Promise<ContainerExit> {
  for (let answered = true; ; ) {
    try {
      if (answered) await ended(container);
      const { State } = await container.inspect();
      if (!isUp(State)) return { code: State.ExitCode, outOfMemory: State.OOMKilled };
      if (!answered) await onReturn?.();
      answered = true;
    } catch (error) {
      if (isGone(error)) return VANISHED;
      if (cut.aborted) return LEFT;
      answered = false;
      await delay(ASK_AGAIN_MS, undefined, { ref: false });
    }
  }
}

interface Modem {
  dial(options: object, callback: (error: Error | null, answer: Readable | undefined) => void): void;
}

/**
 * Resolves when the container has ended, and rejects when the engine has. The client's own `wait` does not settle then:
 * the engine's answer has begun, and it listens for nothing but its end.
 */
export async function ended(container: Container): Promise<void> {
  const modem: Modem = container.modem;
  const statusCodes = { 200: true, 404: 'no such container', 500: 'server error' };
  const path = `/containers/${container.id}/wait?`;
  const answer = await new Promise<Readable | undefined>((resolve, reject) => {
    modem.dial({ path, method: 'POST', isStream: true, statusCodes }, (error, stream) =>
      error === null ? resolve(stream) : reject(error),
    );
  });
  for await (const _ of answer ?? []);
}

export function isUp({ Running, Dead, Status }: ContainerInspectInfo['State']): boolean {
  return Running && !Dead && Status !== 'removing';
}
