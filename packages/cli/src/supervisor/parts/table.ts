// The parts of the platform, in the order in which they start; they end in the reverse order. docs/decisions/processes.md
// says why there are these; the bridge is there when core first asks it. Reading this file reads nothing large: a start loads the parts' programs before the rest of it.
import type { Part } from '../part.ts';
import { core } from './core.ts';
import { ingress } from './ingress.ts';
import { messagingBridge } from './messaging-bridge.ts';
import { node } from './node.ts';
import { postgres } from './postgres.ts';

export const parts = [postgres, messagingBridge, core, node, ingress] as const satisfies readonly Part[];

export type PartName = (typeof parts)[number]['name'];
