// The connections that all Gateways of a process make at a time. A name or address that never answers holds its attempt
// for seconds, so each Gateway has a share of the attempts.
import { createDialer, type Dialer, TooManyDialsError } from './dialer.ts';
import { openShares, type Shares } from './shares.ts';

const MOST_PENDING = 1_024;
/** However many Gateways are greedy. */
const ALWAYS = 4;

export interface FairDialers {
  /** The one of a Gateway. */
  open(): Dialer;
}

/** Dialers of one node, one for each app: connections that are being made count against the share of their app. */
export function openFairDialers(dialer: Dialer, shares: Shares): FairDialers {
  return {
    open() {
      const share = shares.open();
      return {
        async connect(to, signal) {
          if (!share.take(1)) throw new TooManyDialsError('This app makes too many connections at one time.');
          try {
            return await dialer.connect(to, signal);
          } finally {
            share.remove(1);
          }
        },
      };
    },
  };
}

const ofProcess = openFairDialers(createDialer({ mostPending: MOST_PENDING }), openShares(MOST_PENDING, ALWAYS));

/** The dialer of one Gateway among all of this process. */
export function openGatewayDialer(): Dialer {
  return ofProcess.open();
}
