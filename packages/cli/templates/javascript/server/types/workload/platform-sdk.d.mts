export * from '../sdk/workload.js';
