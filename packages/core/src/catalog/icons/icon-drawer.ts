// Draws icons that are SVGs to PNGs, which is what people see of them: browsers draw an SVG again wherever it is shown, and
// 30 KB of it can stop every page. Each is drawn once, in a thread of its own that is ended after its time; a loop of
// WebAssembly cannot be ended otherwise. Its memory ends by itself (bounded-module.ts).
import { limits } from '@platform/contract';
import { OverBudgetError, ThreadPool } from '../../background/thread-pool.ts';
import type { Worker } from '../../domain.ts';
import type { Drawing } from './draw-svg.ts';

/** Of JavaScript objects: the text, and the renderer's own code. */
const HEAP_MIB = 32;

/** Draws icons that are SVGs, in a thread. */
export class IconDrawer implements Worker {
  readonly #pool: ThreadPool<string, Drawing>;

  constructor({ milliseconds = limits.iconDrawing.value * 1_000 } = {}) {
    this.#pool = new ThreadPool({
      program: new URL('./draw-thread.ts', import.meta.url),
      memoryMiB: HEAP_MIB,
      milliseconds,
      // Nothing that one picture left in the renderer's memory is there for the next.
      once: true,
    });
  }

  /** Threads begin with the first icon. */
  start(): void {}

  stop(): Promise<void> {
    return this.#pool.close();
  }

  /** As `drawSvg`, within `limits.iconDrawing` and `limits.iconDrawingMemory`. */
  async draw(text: string): Promise<Drawing> {
    try {
      return await this.#pool.run(text);
    } catch (error) {
      if (!(error instanceof OverBudgetError)) throw error;
      return { fault: `is an SVG that cannot be drawn: ${error.message}. Make it simpler, or save it as PNG` };
    }
  }
}
