// How the service worker of the shell is built: one classic script, since not every browser takes modules there, at a name
// that stays, since its name and scope are what a browser knows it by.
import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: 'dist',
    // Beside the page, which is built first.
    emptyOutDir: false,
    target: 'es2023',
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(import.meta.dirname, 'src/worker/service-worker.ts'),
      output: { format: 'iife', entryFileNames: 'service-worker.js' },
      // Of the contract's schemas only the one that is used: making one has no effect beside it.
      treeshake: {
        moduleSideEffects: (id) => !id.includes('/contract/src/'),
        manualPureFunctions: ['z', 'json', 'page', 'items'],
      },
    },
  },
});
