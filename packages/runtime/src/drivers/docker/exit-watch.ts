// Waits for the end of a container, over deaths of the engine itself.
import { setTimeout as delay } from 'node:timers/promises';
import { type Container, type ContainerInspectInfo, isGone } from './engine.ts';

export interface ContainerExit {
  readonly code: number | null;
  readonly outOfMemory: boolean;
}

const ASK_AGAIN_MS = 200;
/** Removed by someone else, with all that it could have told. */
const VANISHED: ContainerExit = { code: null, outOfMemory: false };

/**
 * Resolves when the container runs no more. While the engine is away, its containers may run on, so that nothing is
 * decided before it is back.
 * @param onReturn Called when the engine is back and the container still runs.
 */
export async function awaitExit(container: Container, onReturn?: () => Promise<void>): Promise<ContainerExit> {
  for (let answered = true; ; ) {
    try {
      if (answered) await container.wait();
      const { State } = await container.inspect();
      if (!isUp(State)) return { code: State.ExitCode, outOfMemory: State.OOMKilled };
      if (!answered) await onReturn?.();
      answered = true;
    } catch (error) {
      if (isGone(error)) return VANISHED;
      answered = false;
      await delay(ASK_AGAIN_MS, undefined, { ref: false });
    }
  }
}

export function isUp({ Running, Dead, Status }: ContainerInspectInfo['State']): boolean {
  return Running && !Dead && Status !== 'removing';
}
