// Makes the context whole: what several domains use, each built on the rest of it.
import { BuiltInTools } from './built-in-tool.ts';
import { VerifiedFrontends } from './catalog/face.ts';
import type { CoreContext } from './context.ts';
import { LiveStreams } from './events/live-streams.ts';
import { Callers } from './http/callers/callers.ts';
import { RouteCalls } from './http/server/in-process.ts';
import { Followers } from './members/followers.ts';
import { Backends, Intake, Nodes } from './nodes/face.ts';
import { Opens } from './opened.ts';
import { Policies } from './policy.ts';

type Built =
  | ('policies' | 'opens' | 'callers' | 'followers' | 'nodes' | 'backends' | 'streams' | 'frontends')
  | ('builtInTools' | 'routeCalls');

/** @param localNodeId the node on this very machine, `null` without one; read at each use, as it is found after this */
export function openContext(given: Omit<CoreContext, Built>, localNodeId: () => string | null): CoreContext {
  // Each part keeps the context and reads the others from it later.
  const context = { ...given } as { -readonly [Member in keyof CoreContext]: CoreContext[Member] };
  context.policies = new Policies();
  context.opens = new Opens();
  context.callers = new Callers(context.signals);
  context.followers = new Followers(context);
  const intake = new Intake();
  context.nodes = new Nodes(context, localNodeId, intake);
  context.backends = new Backends(context, localNodeId, intake);
  context.streams = new LiveStreams(context);
  context.frontends = new VerifiedFrontends(context);
  context.builtInTools = new BuiltInTools();
  context.routeCalls = new RouteCalls();
  return context;
}
