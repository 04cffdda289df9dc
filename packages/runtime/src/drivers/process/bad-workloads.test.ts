// What packages do wrong stays with them, on a node of process sandboxes.
import { badWorkloads } from '../../../test-support/conformance/bad-workloads.ts';

badWorkloads({ name: 'process sandboxes', node: {} });
