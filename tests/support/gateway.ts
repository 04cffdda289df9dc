// The Gateway as the platform injects it into a Runtime, which imports none: here alone the tests of a Runtime get it.
export { startGateway } from '@platform/gateway';
export { gatewaySidecar } from '@platform/gateway/sidecar';
