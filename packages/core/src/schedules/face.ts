// What the rest of core may use of schedules.
export type { DeliveryOptions } from './deliver-runs.ts';
