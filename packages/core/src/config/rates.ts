// How often each kind of route may be called: token buckets, as the contract's limits say unless the operator says else.
import { limits, type RateLimitName } from '@platform/contract';

export interface Rate {
  readonly perMinute: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** Of routes, of exchanges that fail (no other is counted), of searches that reach the engine, and of what a Gateway bounds by itself. */
export type Rates = Readonly<
  Record<Exclude<RateLimitName, 'none'> | 'exchange' | 'webSearch' | 'webSearchDay' | 'objectStorage', Rate>
>;

const DAY_MINUTES = 1_440;

function steady(perMinute: number): Rate {
  return { perMinute, burst: perMinute };
}

export const defaultRates: Rates = {
  authentication: steady(limits.authenticationRate.value),
  passkey: steady(limits.passkeyRate.value),
  exchange: steady(limits.exchangeRate.value),
  join: steady(limits.joinRate.value),
  authorRequest: steady(limits.authorRequestRate.value),
  authorCode: steady(limits.authorCodeRate.value),
  connectionRequest: steady(limits.connectionRequestRate.value),
  connectionToken: steady(limits.connectionTokenRate.value),
  clientRegistration: steady(limits.clientRegistrationRate.value),
  session: steady(limits.sessionRate.value),
  notification: { perMinute: limits.notificationRate.value, burst: limits.notificationBurst.value },
  searchWrite: steady(limits.searchWriteRate.value),
  workflow: steady(limits.workflowRate.value),
  makeApp: steady(limits.makeAppRate.value),
  webSearch: steady(limits.webSearchRate.value),
  webSearchDay: { perMinute: limits.webSearchDayRate.value / DAY_MINUTES, burst: limits.webSearchDayRate.value },
  messagingSend: steady(limits.messagingSendRate.value),
  messagingDirect: steady(limits.messagingDirectRate.value),
  tool: steady(limits.toolCallRate.value),
  service: steady(limits.serviceRate.value),
  objectStorage: steady(limits.objectStorageRate.value),
};
