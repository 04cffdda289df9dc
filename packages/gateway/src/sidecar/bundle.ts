// Makes one file of the sidecar and all it imports: `node bundle.ts <file>`. It starts in a fifth of the time that the
// sources need, can be read by any user, and is the code that runs in this process too, for it is made at each start.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file to write.');

const bundle = await rolldown({
  input: fileURLToPath(new URL('main.ts', import.meta.url)),
  platform: 'node',
  // A native module. The Runtime leads to core here, over whichever carrier, so it is never loaded.
  external: [/^@number0\/iroh(?:\/|$)/],
  treeshake: {
    // Everything else only declares things: what the Gateway does not use of it stays behind, zod for one.
    moduleSideEffects: (id) => id.includes('/packages/gateway/') || id.includes('/undici/'),
  },
});
await bundle.write({ file, format: 'esm', codeSplitting: false });
await bundle.close();
