// The one way to read a request, refuse it, carry it and dial out: what the parts import of this package.
export {
  BlockedAddressError,
  createDialer,
  type Dialer,
  type DialerOptions,
  type DialTarget,
  type Resolve,
  TooManyDialsError,
} from './dialer.ts';
export { type DialingConnectorOptions, dialingConnector } from './dialing-connector.ts';
export { endResponse } from './end-response.ts';
export { type AfterRefusal, endWithProblem, sendProblem } from './problem.ts';
export { isPublicAddress, isPublicHost } from './public-host.ts';
