// Makes one file of the worker and all it imports: `node bundle.ts <file>`. The packages of Pi bring clients for providers
// that no agent speaks to; of the 110 MB the worker needs two and a half.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file to write.');

const bundle = await rolldown({
  input: fileURLToPath(new URL('../main.ts', import.meta.url)),
  platform: 'node',
  onLog: () => undefined,
});
await bundle.write({ file, format: 'esm', codeSplitting: false });
await bundle.close();
