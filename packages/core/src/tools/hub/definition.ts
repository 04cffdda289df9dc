// What a tool says of itself, in one value: whoever approved a call approved it of this tool, and of no other.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { HubTool } from './hub-tool.ts';

/** SHA-256. Another version of the app is another tool. */
export function definitionHash(tool: HubTool): Buffer {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const version = tool.of === 'app' ? [tool.serving.id, tool.serving.version] : null;
  // In canonical form: what is kept of an offer has its members in another order.
  const text = canonicalize({ name, title, description, inputSchema, outputSchema, annotations, version });
  if (text === undefined) throw new Error('a definition is JSON');
  return createHash('sha256').update(text).digest();
}

/** Whether a call deletes, installs or pays as its tool declares, or speaks for the person to others. */
export function isGrave({ annotations }: Pick<HubTool, 'annotations'>): boolean {
  return annotations.destructiveHint === true || (annotations.openWorldHint === true && !annotations.readOnlyHint);
}
