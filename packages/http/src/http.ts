// The public API of this package: reading requests, refusing them, carrying them to an upstream, and dialing out.

export {
  type AcceptedRequest,
  type AcceptOptions,
  acceptRequest,
  OFFERED_METHODS,
  UNKNOWN_EXPECTATION,
} from './accept-request.ts';
export {
  type Carried,
  type Carrying,
  carry,
  type ExchangeEnd,
  type Rewrite,
  type Tap,
  type Upstream,
  type UpstreamFailure,
} from './carry.ts';
export { type CarriedUpgrade, type CarryingUpgrade, carryUpgrade } from './carry-upgrade.ts';
export { isClaim } from './claims.ts';
export { countPerAddress } from './connection-count.ts';
export { type DialServer, type DialServerOptions, dialerAt, serveDials } from './dial-socket.ts';
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
export { CONNECTION_AGE_MS, type DialingPoolOptions, openDialingPool } from './dialing-pool.ts';
export { isElsewhere, lookupElsewhere, mayBeElsewhere } from './elsewhere.ts';
export { endResponse } from './end-response.ts';
export { openGatewayDialer } from './fair-dialer.ts';
export { endFaulty, type Fault, faultOf } from './fault.ts';
export { gatherPieces, gatherWrites } from './gather.ts';
export { type Abandonable, hold } from './hold.ts';
export { type JoinOptions, joinSockets } from './join-sockets.ts';
export { type BoundSocket, bindSockets, receiveSocket } from './kept-sockets.ts';
export { listenFast, placeToListen, SOCKETS } from './listen-fast.ts';
export { openPace, openPaces, type Pace, type Paces } from './pace.ts';
export { plainName } from './plain-name.ts';
export { type Connect, openPool, type PoolOptions } from './pool.ts';
export { endWithProblem, type ProblemOptions, sendProblem } from './problem.ts';
export { isPublicAddress, isPublicHost } from './public-host.ts';
export { type BodyLimits, endUpload, hasBody, readBody, receiveBody, requireUploadRate } from './read-body.ts';
export {
  isPlatformField,
  MAX_HEADER_FIELDS,
  mayTravel,
  type RequestHead,
  readRequestHead,
  withPlatformFields,
} from './request-head.ts';
export { ensuringRequestId, type ResponseFilter, responseFilter } from './response-head.ts';
export type { OutboundNetwork, RunningGateway, Traffic } from './running-gateway.ts';
export {
  createStrictServer,
  defaultServerLimits,
  handOver,
  type IncomingRequest,
  type IncomingUpgrade,
  type ServerLimits,
  type StrictServerOptions,
} from './server.ts';
export { openShares, type Share, type Shares } from './shares.ts';
export {
  type ReadingProgress,
  type ReadingRate,
  type ReadingWatch,
  requireReading,
  watchReading,
} from './slow-reader.ts';
export { openThreadShare, type ThreadShare } from './thread-share.ts';
export { isTraceparent, isTracestate } from './trace-context.ts';
export { requireTransportSecurity, setTransportFields } from './transport-security.ts';
export { trimField } from './trim-field.ts';
export { mergeVary } from './vary.ts';
export { acceptOf } from './web-socket.ts';
