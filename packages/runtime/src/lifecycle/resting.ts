// Installations whose volumes are being copied. None of their workloads runs meanwhile: a copy of files that change is of no
// moment, and a database in one is broken.

export const BEING_COPIED = 'Its data is being downloaded by its owner. It can be used again afterwards.';

export class Resting {
  readonly #ids = new Map<string, number>();

  has(installationId: string): boolean {
    return this.#ids.has(installationId);
  }

  /** @returns ends the rest, and says whether it was the last one */
  begin(installationId: string): () => boolean {
    this.#ids.set(installationId, (this.#ids.get(installationId) ?? 0) + 1);
    return () => {
      const left = (this.#ids.get(installationId) ?? 1) - 1;
      if (left > 0) this.#ids.set(installationId, left);
      else this.#ids.delete(installationId);
      return left === 0;
    };
  }
}
