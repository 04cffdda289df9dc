// The parts of the platform and where they listen, for tests and for what starts the platform in tests.

export type { PlannedListener } from '../src/process/listeners.ts';
// What a running platform writes down of its parts, for tests that stop them.
export type { PartState } from '../src/supervisor/kept-part.ts';
export { plannedListeners } from '../src/supervisor/listeners.ts';
export type { PartName } from '../src/supervisor/parts/table.ts';
export { parts } from '../src/supervisor/parts/table.ts';
