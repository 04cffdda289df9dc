// What the rest of core may use of nodes.
export { Backends } from './call-backend.ts';
export { opensControlCredentials } from './control-side.ts';
export { Intake } from './intake.ts';
export { createAdoptionToken, createNodeToken } from './join-node.ts';
export { listenForNodes } from './listen-for-nodes.ts';
export { ensureLocalNode, type LocalNode, type LocalNodeOptions, withoutLocalNode } from './local-node.ts';
export { cordonNode, drainNode, labelNode, listNodes, type NodeRow, removeNode, uncordonNode } from './manage-nodes.ts';
export type { NodeCaller } from './node-caller.ts';
export { nodeInventory } from './node-inventory.ts';
export { findNodeByKey } from './node-queries.ts';
export { Nodes } from './nodes.ts';
export type { ReadVolume } from './read-volume.ts';
