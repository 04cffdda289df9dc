// What the rest of core may use of drafts.
export { type AppKit, NO_KIT } from './app-kit.ts';
export { type Previewed, Previews } from './preview.ts';
