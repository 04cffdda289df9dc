// The JSON Schema of manifest.json, for editors: completion, descriptions, and most of the checks of publishing. Made from
// the zod schema; manifest.schema.json is its checked-in copy, and `platform init` puts one beside each new manifest.
import * as z from 'zod';
import { manifest } from './domains/packages.ts';
import { permissions } from './permissions.ts';

type Json = Record<string, unknown>;

export const MANIFEST_SCHEMA_FILE = new URL('../manifest.schema.json', import.meta.url);

/** What an editor shows, by member. */
export const memberDescriptions: Readonly<Record<string, string>> = {
  $schema: 'Where editors find the JSON Schema of this file. The platform ignores it.',
  schemaVersion: 'Version of the manifest format. Write 9.',
  id: 'Lower-case letters, digits and hyphens. The first account to publish it owns it; you cannot change it later.',
  version: 'Semantic version. A published version never changes: raise it to publish again.',
  name: 'Shown in the launcher and the Store.',
  summary: 'One sentence, shown in the Store.',
  changes: 'What is new in this version, in plain text with line breaks. Shown before the update.',
  visibility: 'Who finds the app in the Store: everyone (public), who knows its id (unlisted), only you (private).',
  icon: 'A picture below frontend/, for example icon.svg.',
  screenshots: 'PNG, JPEG or WebP files below frontend/, in the order in which the Store shows them.',
  categories: 'Words the Store groups apps by.',
  systemRoles: 'Only for apps that come with the platform.',
  frontend: 'The pages of the app, in frontend/.',
  'frontend.entry': 'The page to open, below frontend/.',
  'frontend.chrome': 'Whether the shell draws a title bar around the app.',
  'frontend.csp': 'Outside origins that pages load from. Each is also a resource of the permission network.connect.',
  workload: 'The backend of the app, in workload/ or a container image.',
  'workload.runtime':
    'node: a script; binary: an executable; oci: a container image; agent: the agent of the platform, with instructions of yours.',
  'workload.entry': 'The script or executable to start, below workload/.',
  'workload.image': 'The container image, for runtime "oci".',
  'workload.agent': 'What the agent does, for runtime "agent".',
  'workload.agent.instructions': 'The file with its instructions, below workload/, for example instructions.md.',
  'workload.agent.model':
    'The model it uses. Left out: the first that its permission intelligence.use and the platform offer.',
  'workload.agent.model.provider': 'Id of the AI provider, as in intelligence.use.',
  'workload.agent.model.id': 'The model, as the provider names it.',
  'workload.agent.webSearch': 'Whether it may ask to search the web. The person is asked before each search.',
  'workload.agent.maxToolCalls': 'Most tool calls of one turn; then it asks the person whether to go on.',
  'workload.processor': 'What the executable is compiled for. The platform finds it out by itself.',
  'workload.port': 'The TCP port the backend listens on; it finds it in PORT.',
  'workload.mode': 'automatic: starts at first use and sleeps when idle. always: runs all the time.',
  'workload.idleSeconds': 'How long an automatic backend stays awake after its last use.',
  'workload.environment': 'Environment variables. Not for secrets: everyone who installs the app can read them.',
  'workload.resources': 'What the backend asks for; people see it before they install the app.',
  'workload.volume': 'Whether the backend gets a persistent folder, at PLATFORM_VOLUME_DIR.',
  'workload.mcp': 'Where the backend serves the Model Context Protocol.',
  'workload.triggers': 'Paths that schedules may call.',
  permissions: 'What the app asks for. People review it before they install the app.',
  'permissions.id': 'See docs/permissions.md.',
  'permissions.resources': 'What the permission is for: topics, origins, or * for all.',
  'permissions.reason': 'Why the app asks, shown in the review.',
  publicEndpoints: 'What anyone on the internet may request, for example GET:/hooks/*. Needs endpoints.public.',
  publicPorts: 'UDP ports for the internet. Needs endpoints.public.udp.',
  secretSlots: 'Outside services that the backend calls with a secret of its owner, which it never sees.',
};

/** The JSON Schema (draft 7) of `manifest.json`, for editors: every member with what it means. */
export function manifestSchema(): Json {
  const seen = new Set<string>();
  const schema = z.toJSONSchema(manifest, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema, path }) => {
      const member = memberOf(path);
      if (member === 'permissions.id') Object.assign(jsonSchema, { enum: Object.keys(permissions) });
      withoutUnicodePatterns(jsonSchema);
      const description = memberDescriptions[member];
      if (description === undefined) return;
      jsonSchema.description = description;
      seen.add(member);
    },
  }) as Json;
  const unknown = Object.keys(memberDescriptions).filter((member) => !seen.has(member));
  if (unknown.length > 0) throw new Error(`memberDescriptions names no members of the manifest: ${unknown.join(', ')}`);
  return { ...schema, title: 'Manifest of an app' };
}

/** Some editors compile patterns without the flag `u`, and would then refuse every text. Publishing checks it. */
function withoutUnicodePatterns(schema: Json): void {
  if (String(schema.pattern).includes('\\p{')) delete schema.pattern;
  if (!Array.isArray(schema.allOf)) return;
  const kept = (schema.allOf as Json[]).filter(({ pattern }) => !String(pattern).includes('\\p{'));
  if (kept.length > 0) schema.allOf = kept;
  else delete schema.allOf;
}

/** `['properties', 'permissions', 'items', 'properties', 'id']` is `permissions.id`; '' for what is no member. */
function memberOf(path: readonly (string | number)[]): string {
  const [keyword, name, ...rest] = path;
  if (keyword === 'items' && name !== undefined) return memberOf(path.slice(1));
  if (keyword !== 'properties') return '';
  return rest.length === 0 ? String(name) : [name, memberOf(rest)].join('.');
}
