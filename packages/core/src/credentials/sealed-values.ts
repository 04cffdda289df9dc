// Whether the master key opens what is sealed with it, for the operator who looks: nothing of the values is kept or shown.
export interface SealedValues {
  readonly count: number;
  /** Those that the key does not open, or that were altered. */
  readonly closed: number;
}

/** @param open unseals the value of a row, or throws */
export async function trySealed<Row>(rows: AsyncIterable<Row>, open: (row: Row) => Buffer): Promise<SealedValues> {
  let [count, closed] = [0, 0];
  for await (const row of rows) {
    count += 1;
    try {
      open(row).fill(0);
    } catch {
      closed += 1;
    }
  }
  return { count, closed };
}
