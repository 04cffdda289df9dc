// Makes the OpenAPI 3.1 description out of the route table; openapi.json is its checked-in copy.

import * as z from 'zod';
import type { RouteSpec } from './domain.ts';
import { errors, routes, sessionId } from './domains.ts';
import { portablePattern } from './portable-patterns.ts';
import { SESSION_HEADER } from './session-header.ts';
import { sizeText } from './sizes.ts';

type Json = { [key: string]: unknown };

const SECURITY: Readonly<Record<string, Json>> = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'platform_session',
    description: `A person signed in to the shell; on https \`__Host-platform_session\`. Several of the name are refused, unless \`${SESSION_HEADER}\` says which session counts.`,
  },
  frontend: { type: 'http', scheme: 'bearer', description: 'Frontend capability `pfc_…`, from the origin of its app.' },
  installation: { type: 'http', scheme: 'bearer', description: 'A workload, through its Gateway.' },
  node: { type: 'http', scheme: 'bearer', description: 'The Runtime of a node, `pnd_…`.' },
  author: { type: 'http', scheme: 'bearer', description: 'The command line of an author, `pat_…`.' },
};

const problemSchema: Json = {
  type: 'object',
  description: 'RFC 9457 problem document.',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(errors).sort() },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

const sessionParameter: Json = {
  name: SESSION_HEADER,
  in: 'header',
  required: false,
  description:
    'Id of the session that the caller signed in to. Of several session cookies its one counts; any other session is refused with `session_replaced`.',
  schema: jsonSchema(sessionId, 'input'),
};

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => withPortablePatterns(jsonSchema),
  });
  return rest as Json;
}

/** What a pattern cannot say to every tool, core checks all the same. */
function withPortablePatterns(schema: Json): void {
  if (typeof schema.pattern === 'string') {
    const pattern = portablePattern(schema.pattern);
    if (pattern === undefined) delete schema.pattern;
    else schema.pattern = pattern;
  }
  if (!Array.isArray(schema.allOf)) return;
  for (const part of schema.allOf) withPortablePatterns(part);
  schema.allOf = schema.allOf.filter((part) => Object.keys(part).length > 0);
  if (Array.isArray(schema.allOf) && schema.allOf.length === 0) delete schema.allOf;
}

function parametersOf(spec: RouteSpec): Json[] {
  const from = (schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] => {
    if (schema === undefined) return [];
    const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
      properties?: Json;
      required?: string[];
    };
    return Object.entries(properties).map(([name, value]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      schema: value,
    }));
  };
  const pin = spec.callers.includes('session') ? [{ $ref: '#/components/parameters/session' }] : [];
  return [...from(spec.params, 'path'), ...from(spec.query, 'query'), ...pin];
}

function bodyOf(spec: RouteSpec): Json | undefined {
  if (spec.body === undefined) return undefined;
  const limit = `At most ${sizeText(spec.body.limit)}.`;
  if ('mediaType' in spec.body) return { required: true, description: limit, content: { [spec.body.mediaType]: {} } };
  return {
    required: !spec.body.schema.safeParse(undefined).success,
    description: limit,
    content: { 'application/json': { schema: jsonSchema(spec.body.schema, 'input') } },
  };
}

function answersOf(spec: RouteSpec): Json {
  const answers: Json = {};
  for (const [status, shape] of Object.entries(spec.answers)) {
    const description = 'Success.';
    if (shape === null) answers[status] = { description };
    else if (typeof shape === 'string') answers[status] = { description, content: { [shape]: {} } };
    else answers[status] = { description, content: { 'application/json': { schema: jsonSchema(shape, 'output') } } };
  }
  answers.default = { $ref: '#/components/responses/problem' };
  return answers;
}

function operation(id: string, spec: RouteSpec): Json {
  const body = bodyOf(spec);
  const parameters = parametersOf(spec);
  return {
    operationId: id,
    summary: spec.summary,
    tags: [id.slice(0, id.indexOf('.'))],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: answersOf(spec),
    security: spec.callers.filter((kind) => kind !== 'anonymous').map((kind) => ({ [kind]: [] })),
    'x-callers': spec.callers,
    'x-rate-limit': spec.rate,
    ...(spec.origin === undefined ? {} : { 'x-origin': spec.origin }),
    ...(spec.grant === undefined ? {} : { 'x-grant': spec.grant }),
    ...(spec.systemRole === undefined ? {} : { 'x-system-role': spec.systemRole }),
  };
}

/** The OpenAPI 3.1 document of the route table, paths in order. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
    const path = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(id, spec) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Platform', version, description: 'Made from the route table; do not edit.' },
    // By path, whatever the order of the table.
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: SECURITY,
      schemas: { problem: problemSchema },
      parameters: { session: sessionParameter },
      responses: {
        problem: {
          description: 'Refused or failed; see `code`.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } } },
        },
      },
    },
  };
}
