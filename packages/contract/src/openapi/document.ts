// Makes the OpenAPI 3.1 description out of the route table and of what the other listeners serve; openapi.json is its
// checked-in copy.
import type * as z from 'zod';
import type { RouteSpec } from '../domain.ts';
import { routes, sessionId } from '../domains.ts';
import { SESSION_HEADER } from '../session-header.ts';
import { sizeText } from '../sizes.ts';
import { backendPaths } from './backends.ts';
import { gatewayPaths } from './gateway.ts';
import { type Json, jsonSchema } from './json.ts';
import { objectStoragePaths } from './object-storage.ts';
import { SECURITY, SERVERS, securityOf, serversOf } from './places.ts';
import { problemSchema, RefusalResponses, refusalsOf } from './refusals.ts';

const ABOUT = `The routes of core are made from its route table, those of the other listeners from what they offer; do not
edit. A path is served by the servers that it names, and by core where it names none. Every answer carries \`X-Request-Id\`, and
\`HEAD\` is answered wherever \`GET\` is. An operation lists the error codes of each status; \`internal_error\` (500) is a bug
wherever it happens. The files of the shell and of frontends, and the metrics for Prometheus, are no part of this.`;

const WORKFLOWS = '/v1/services/workflows';

const sessionParameter: Json = {
  name: SESSION_HEADER,
  in: 'header',
  required: false,
  description:
    'Id of the session that the caller signed in to. Of several session cookies its one counts; any other session is refused with `session_replaced`.',
  schema: jsonSchema(sessionId, 'input'),
};

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
  // What may be of any type may be empty.
  if ('mediaType' in spec.body)
    return { required: spec.body.anyType !== true, description: limit, content: { [spec.body.mediaType]: {} } };
  return {
    required: !spec.body.schema.safeParse(undefined).success,
    description: limit,
    content: { 'application/json': { schema: jsonSchema(spec.body.schema, 'input') } },
  };
}

function answersOf(spec: RouteSpec, refusals: RefusalResponses): Json {
  const answers: Json = {};
  for (const [status, shape] of Object.entries(spec.answers)) {
    const description = 'Success.';
    if (shape === null) answers[status] = { description };
    else if (typeof shape === 'string') answers[status] = { description, content: { [shape]: {} } };
    else answers[status] = { description, content: { 'application/json': { schema: jsonSchema(shape, 'output') } } };
  }
  const { answersAs } = spec;
  return {
    ...answers,
    ...refusals.of(refusalsOf(spec), answersAs),
    ...(answersAs === undefined
      ? {}
      : { default: { description: `As ${answersAs} answers.`, content: { '*/*': {} } } }),
  };
}

function operation(id: string, spec: RouteSpec, refusals: RefusalResponses): Json {
  const body = bodyOf(spec);
  const parameters = parametersOf(spec);
  const servers = serversOf(spec);
  return {
    operationId: id,
    summary: spec.summary,
    tags: [id.slice(0, id.indexOf('.'))],
    ...(servers === undefined ? {} : { servers }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: answersOf(spec, refusals),
    security: securityOf(spec),
    'x-callers': spec.callers,
    'x-rate-limit': spec.rate,
    ...(spec.origin === undefined ? {} : { 'x-origin': spec.origin }),
    ...(spec.grant === undefined ? {} : { 'x-grant': spec.grant }),
    ...(spec.systemRole === undefined ? {} : { 'x-system-role': spec.systemRole }),
  };
}

/** The OpenAPI 3.1 document, paths in order. */
export function openApiDocument(version: string): Json {
  const refusals = new RefusalResponses();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
    const path = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    const method = spec.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: operation(id, spec, refusals) };
    if (!path.startsWith(WORKFLOWS)) continue;
    // Its Gateway also takes them without the version (specification 4.9).
    const alias = path.slice('/v1'.length);
    const summary = `${spec.summary}, without the version`;
    paths[alias] = { ...paths[alias], [method]: operation(`${id}.unversioned`, { ...spec, summary }, refusals) };
  }
  Object.assign(paths, gatewayPaths(refusals), objectStoragePaths(), backendPaths(refusals));
  return {
    openapi: '3.1.0',
    info: { title: 'Platform', version, description: ABOUT.replaceAll('\n', ' ') },
    servers: [SERVERS.core],
    // By path, whatever the order of the table.
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: SECURITY,
      schemas: { problem: problemSchema },
      parameters: { session: sessionParameter },
      responses: refusals.named(),
    },
  };
}
