// Builds the page into frontend/, from which the platform packs it.
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'page',
  build: {
    outDir: '../frontend',
    emptyOutDir: true,
    // Apps load scripts, styles and fonts from files of their own only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
