// What packages do wrong stays with them, on a node of process sandboxes.
import { badWorkloads } from '../conformance/bad-workloads.ts';

badWorkloads({ name: 'process sandboxes', node: {} });
