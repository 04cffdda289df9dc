// The words of a tool where they stand beside others: what an app calls itself and its tools turns no words around it.
import { appOf, type KnownTools, titleOf, WEB_SEARCH } from './words.ts';

interface OfTool {
  readonly tool: string;
  readonly tools: KnownTools;
}

export function ToolWords({ tool, tools }: OfTool) {
  const app = appOf(tool, tools);
  return (
    <>
      <bdi>{titleOf(tool, tools)}</bdi>
      {app !== undefined && (
        <>
          {' in '}
          <bdi>{app}</bdi>
        </>
      )}
    </>
  );
}

/** Whose words a result is. */
export function Speaker({ tool, tools }: OfTool) {
  if (tool === WEB_SEARCH) return <>What the web says. Others wrote it, not your agent.</>;
  const app = appOf(tool, tools);
  // Names, messages, logs and results, whichever tool of the platform it is.
  if (app === undefined)
    return <>The platform answered this. Words of other people and of apps stand in it as they wrote them.</>;
  return (
    <>
      What <bdi>{app}</bdi> answered. The app wrote it, not your agent.
    </>
  );
}
