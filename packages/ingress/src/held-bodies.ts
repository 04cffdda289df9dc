// Short bodies are read before a request takes its place among those of its installation: a client that sends one slowly
// waits alone. This bounds what such clients make the Ingress hold.

/** Bytes of a body that is held; a longer one passes as it arrives. */
export const HELD_BYTES = 64 * 1024;

const MOST_BYTES = 64 * 1024 * 1024;
/** Of one client network. */
const MOST_OF_NETWORK = MOST_BYTES / 16;

export class HeldBodies {
  #bytes = 0;
  readonly #ofNetwork = new Map<string, number>();

  /** @returns what gives the bytes back; `null` where there are too many */
  take(network: string, bytes: number): (() => void) | null {
    const own = (this.#ofNetwork.get(network) ?? 0) + bytes;
    if (this.#bytes + bytes > MOST_BYTES || own > MOST_OF_NETWORK) return null;
    this.#bytes += bytes;
    this.#ofNetwork.set(network, own);
    return () => {
      this.#bytes -= bytes;
      const left = (this.#ofNetwork.get(network) ?? bytes) - bytes;
      if (left === 0) this.#ofNetwork.delete(network);
      else this.#ofNetwork.set(network, left);
    };
  }
}
