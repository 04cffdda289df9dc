// How the shell is built: one small bundle, nothing inline, so that the strictest content security policy holds.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // These browsers know light-dark() and popover themselves; older ones lack passkeys in JSON form anyway.
    cssTarget: ['chrome129', 'firefox129', 'safari18'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // The contract's schemas build themselves at import; the page uses its tables and types only.
      treeshake: { moduleSideEffects: (id) => !id.includes('/contract/src/') },
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            // Each page is an import of its own, and all are fetched together: one file, not thirty.
            // At each sign-in, and in Settings: with HPKE, which nothing else here needs.
            {
              name: 'recipient',
              test: /\/(?:desk\/recipient\/(?!.*\.tsx)|bridge\/methods\/recipient|@hpke\/|__vite-browser-external)/,
            },
            { name: 'settings', test: /\/src\/desk\/(?!wallet\/|recipient\/.*\.ts$|prompts\/operator-)/ },
          ],
        },
      },
    },
  },
});
