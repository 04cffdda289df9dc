// What a part under test would tell the operator belongs to the output of the test.
import type { Log } from '../src/clock.ts';

const tell = (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);

/** Only warnings and errors. */
export const toldLog: Log = { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
