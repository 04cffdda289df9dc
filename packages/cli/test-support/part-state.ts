// What a running platform writes down of its parts, for tests that stop them.
export type { PartState } from '../src/supervisor/kept-part.ts';
