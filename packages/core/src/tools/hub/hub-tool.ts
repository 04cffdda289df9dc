// A tool as the hub lists it to one caller, and which ones that are.
import { limits, type RouteSpec, routes, sufficientGrants, type ToolUse } from '@platform/contract';
import * as z from 'zod';
import { answerSchema, type BuiltInTool } from '../../built-in-tool.ts';
import type { CoreContext } from '../../context.ts';
import { allows, resourcesOf } from '../../grants/grant-coverage.ts';
import type { ValueChecks } from '../check-values.ts';
import type { OfferedTool } from '../served/offer.ts';
import type { ServedTools, Serving } from '../served/served-tools.ts';
import { type ToolCaller, useOf } from '../tool-caller.ts';

/** The context with what the calls of one process share. */
export interface Hub extends CoreContext {
  readonly served: ServedTools;
  readonly checks: ValueChecks;
}

interface Listed {
  /** By which it is called here, and which grants name: `<app-id>.<tool>` for one of an app. */
  readonly name: string;
  /** By which it is listed here. */
  readonly shown: string;
  /** What the caller may do with it. */
  readonly use: ToolUse;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: OfferedTool['inputSchema'];
  readonly outputSchema?: OfferedTool['outputSchema'];
  readonly annotations: OfferedTool['annotations'];
}

export type HubTool = Listed &
  (
    | { readonly of: 'platform'; readonly builtIn: BuiltInTool }
    | { readonly of: 'app'; readonly serving: Serving; readonly tool: OfferedTool }
  );

const builtInSchemas = new WeakMap<BuiltInTool, Pick<Listed, 'inputSchema' | 'outputSchema'>>();

/**
 * The tools that the caller may call or propose, by name: of the platform and of its other apps, or of one app under their own
 * names.
 */
export async function toolsFor(hub: Hub, caller: ToolCaller, appId?: string): Promise<HubTool[]> {
  const patterns = Object.values(caller.patterns).flat();
  if (patterns.length === 0) return [];
  const builtIn = appId === undefined ? hub.builtInTools.all : ofProposals(hub);
  const taken = new Set<string>(ofProposals(hub).map(({ name }) => name));
  const serving = patterns.some((pattern) => !pattern.startsWith('platform-'))
    ? await hub.served.of(caller.accountKey, appId)
    : [];
  return [
    ...builtIn.flatMap((tool) => listedBuiltIn(tool, useOfBuiltIn(caller, tool))),
    ...serving
      // An app has its own tools at hand.
      .filter((one) => one.id !== caller.id)
      .flatMap((one) =>
        one.offer.tools.flatMap((tool) => listedOffered(one, { tool, caller, alone: appId !== undefined })),
      )
      .filter(({ shown }) => !taken.has(shown))
      .slice(0, limits.toolsPerAccount.value),
  ].sort((one, other) => (one.shown < other.shown ? -1 : 1));
}

/** By which a proposer learns what became of it, also at the address of one app. Nothing of an app has their names there. */
function ofProposals({ builtInTools }: Hub): readonly BuiltInTool[] {
  return builtInTools.all.filter((tool) => tool.for === 'proposers');
}

/** By the name by which the caller knows it. @returns `undefined` for one that it may not use */
export async function findTool(
  hub: Hub,
  caller: ToolCaller,
  { name, appId }: { readonly name: string; readonly appId?: string | undefined },
): Promise<HubTool | undefined> {
  const builtIn = hub.builtInTools.find(name);
  if (builtIn?.for === 'proposers') return listedBuiltIn(builtIn, mayCallRoute(caller, builtIn) ? 'call' : null)[0];
  if (builtIn !== undefined && appId === undefined) return listedBuiltIn(builtIn, useOfBuiltIn(caller, builtIn))[0];
  // No app id has a dot.
  const [owner = '', ...rest] = appId === undefined ? name.split('.') : [appId, name];
  if (useOf(caller, `${owner}.${rest.join('.')}`) === null) return undefined;
  const [serving] = await hub.served.of(caller.accountKey, owner);
  if (serving === undefined || serving.id === caller.id) return undefined;
  const tool = serving.offer.tools.find((one) => one.name === rest.join('.'));
  return tool === undefined ? undefined : listedOffered(serving, { tool, caller, alone: appId !== undefined })[0];
}

/** It was granted the tool, and an app has the grant of the route itself. */
function useOfBuiltIn(caller: ToolCaller, tool: BuiltInTool): ToolUse | null {
  // Who may propose also asks what became of it.
  const use = tool.for !== 'proposers' ? useOf(caller, tool.name) : caller.patterns.propose.length > 0 ? 'call' : null;
  return use !== null && mayCallRoute(caller, tool) ? use : null;
}

function mayCallRoute({ credential }: ToolCaller, { route, for: whom }: BuiltInTool): boolean {
  if (credential.kind === 'connection') return whom !== 'apps';
  if (whom === 'own-clients') return false;
  const { kind, grants } = credential;
  const spec: (typeof routes)[typeof route] = routes[route];
  if (!(spec.callers as readonly string[]).includes(kind)) return false;
  if (!('grant' in spec)) return true;
  const grant = spec.grant as NonNullable<RouteSpec['grant']>;
  const { resource } = grant;
  return sufficientGrants(grant).some((id) =>
    typeof resource !== 'string' || resource === 'any'
      ? resourcesOf(grants, id).length > 0
      : allows(grants, id, resource),
  );
}

function listedBuiltIn(builtIn: BuiltInTool, use: ToolUse | null): HubTool[] {
  if (use === null) return [];
  const { name, title, description, effect } = builtIn;
  let schemas = builtInSchemas.get(builtIn);
  if (schemas === undefined) {
    const inputSchema = z.toJSONSchema(builtIn.arguments, { io: 'input', unrepresentable: 'any' });
    schemas = {
      inputSchema: inputSchema as OfferedTool['inputSchema'],
      outputSchema: answerSchema(builtIn) as OfferedTool['inputSchema'],
    };
    builtInSchemas.set(builtIn, schemas);
  }
  return [
    {
      ...{ of: 'platform', builtIn, name, shown: name, use, title, description, ...schemas },
      annotations: { readOnlyHint: effect === 'reads', destructiveHint: false, openWorldHint: effect === 'speaks' },
    },
  ];
}

function listedOffered(
  serving: Serving,
  { tool, caller, alone }: { readonly tool: OfferedTool; readonly caller: ToolCaller; readonly alone: boolean },
): HubTool[] {
  const name = `${serving.app_id}.${tool.name}`;
  const use = useOf(caller, name);
  return use === null ? [] : [{ ...tool, of: 'app', serving, tool, name, use, shown: alone ? tool.name : name }];
}
