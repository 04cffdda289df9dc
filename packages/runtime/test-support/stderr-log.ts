// The log of a part under test, in the output of the test.
import type { Log } from '../src/clock.ts';

const write = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);

/** Only warnings and errors. */
export const stderrLog: Log = { debug: () => undefined, info: () => undefined, warn: write, error: write };
