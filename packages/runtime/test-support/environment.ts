// What a workload finds in its environment, for tests that stand in for one.
export { gatewayUrls, workloadEnvironment } from '../src/environment.ts';
