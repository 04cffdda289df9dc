// Operations that pass a request on to somebody else's server: what that one answers comes back as it is.
import type { ErrorCode } from '../errors.ts';
import type { Json } from './json.ts';
import { EVERYWHERE, type RefusalResponses } from './refusals.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface Passing {
  /** With `{method}` where operations of one path are told apart. */
  readonly operationId: string;
  readonly summary: string;
  readonly servers: readonly Json[];
  readonly parameters: readonly Json[];
  readonly security: readonly Json[];
  /** Of the platform, beside those of all listeners. */
  readonly refuses: readonly ErrorCode[];
  /** Who answers, in the words of the document. */
  readonly from: string;
  readonly body?: (method: Method) => Json | undefined;
}

/** A part of a path, of a pattern where it has one. */
export function inPath(name: string, description: string, pattern?: string): Json {
  const schema = { type: 'string', minLength: 1, ...(pattern === undefined ? {} : { pattern }) };
  return { name, in: 'path', required: true, description, schema };
}

/** What follows in the path, whatever it is. */
export function restOfPath(of: string): Json {
  const description = `The rest of the path ${of}. It may have any number of segments; send its slashes as they are.`;
  return { ...inPath('path', description), 'x-segments': 'any' };
}

const ANYTHING: Json = { required: false, content: { '*/*': {} } };

/** The operations of one path, by method. */
export function passing(spec: Passing, refusals: RefusalResponses, methods: readonly Method[] = METHODS): Json {
  return Object.fromEntries(methods.map((method) => [method.toLowerCase(), operation(spec, method, refusals)]));
}

function operation(spec: Passing, method: Method, refusals: RefusalResponses): Json {
  const { operationId, summary, servers, parameters, security, from, refuses } = spec;
  const body = method === 'GET' || method === 'DELETE' ? undefined : (spec.body?.(method) ?? ANYTHING);
  return {
    operationId: operationId.replace('{method}', method.toLowerCase()),
    summary,
    tags: [operationId.slice(0, operationId.indexOf('.'))],
    servers,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...refusals.of([...EVERYWHERE, ...refuses], from),
      default: { description: `As ${from} answers.`, content: { '*/*': {} } },
    },
    security,
  };
}
