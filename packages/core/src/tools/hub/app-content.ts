// What one app has beside its tools, for a caller that may use the app as a whole: resources, prompts, completions, and what it says of
// its work.
import type { Server, ServerCapabilities } from '@modelcontextprotocol/server';
import { matchesResource } from '@platform/contract';
import type { Serving } from '../served/served-tools.ts';
import type { ToolCaller } from '../tool-caller.ts';
import type { RequestOf } from './ask-app.ts';
import type { Hub } from './hub-tool.ts';
import { serveCompletions, servePrompts } from './prompts.ts';
import { serveResources } from './resources.ts';

/**
 * Whether the caller may call all tools of the app, those too that it does not have yet: no pattern names resources and prompts one by
 * one, so they come with the app as a whole. An app asks nothing of itself.
 */
export function mayUseContent({ id, patterns }: Pick<ToolCaller, 'id' | 'patterns'>, serving: Serving): boolean {
  return serving.id !== id && patterns.call.some((pattern) => matchesResource(pattern, `${serving.app_id}.`));
}

/** As far as its server declares them. */
export function contentCapabilities({ offer }: Serving): ServerCapabilities {
  return {
    ...(offer.resources === undefined ? {} : { resources: { listChanged: true } }),
    ...(offer.prompts === undefined ? {} : { prompts: { listChanged: true } }),
    ...(offer.completions === undefined ? {} : { completions: {} }),
    ...(offer.logging === undefined ? {} : { logging: {} }),
  };
}

export function serveContent(server: Server, hub: Hub, serving: Serving, requestOf: RequestOf): void {
  const { resources, prompts, completions } = serving.offer;
  if (resources !== undefined) serveResources(server, hub, serving, requestOf);
  if (prompts !== undefined) servePrompts(server, hub, serving, requestOf);
  if (completions !== undefined) serveCompletions(server, hub, serving, requestOf);
}
