// The prompts of one app: as it lists them, filled in by it, and its completions of their arguments and of those of templates.
import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { limits, RefusalError } from '@platform/contract';
import { plainLine, plainText } from '../served/app-text.ts';
import type { Serving } from '../served/served-tools.ts';
import { askApp, type RequestOf } from './ask-app.ts';
import { askForContent, asProtocolError } from './content-request.ts';
import type { Hub } from './hub-tool.ts';
import { pageOf } from './pages.ts';

/** Of one completion, as the protocol has it. */
const VALUES = 100;
const LONGEST_VALUE = 1_024;

export function servePrompts(server: Server, hub: Hub, serving: Serving, requestOf: RequestOf): void {
  const { app_id: appId, name, offer } = serving;
  const { prompts = [] } = offer;
  const own = { _meta: { 'platform/app': { id: appId, name } } };
  server.setRequestHandler('prompts/list', ({ params }) => {
    const { page, more } = pageOf(prompts, (one) => one.name, params?.cursor);
    return { prompts: page.map((one) => ({ ...one, ...own })), ...more };
  });
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    if (!prompts.some((one) => one.name === params.name)) throw unknown('prompt', params.name);
    const asked = {
      name: `${appId}.prompts/get`,
      given: { name: params.name, ...(params.arguments === undefined ? {} : { arguments: params.arguments }) },
    };
    const result = await askForContent(hub, serving, requestOf(context), asked, (client, more, options) =>
      client.getPrompt({ ...asked.given, ...more }, options),
    );
    if (!('messages' in result) || typeof result.description !== 'string') return result;
    return { ...result, description: plainText(result.description, limits.toolDescription.value) };
  });
}

export function serveCompletions(server: Server, hub: Hub, serving: Serving, requestOf: RequestOf): void {
  const { app_id: appId, offer } = serving;
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context: filled } }, context) => {
    const known =
      ref.type === 'ref/prompt'
        ? offer.prompts?.some(({ name }) => name === ref.name)
        : offer.templates?.some(({ uriTemplate }) => uriTemplate === ref.uri);
    if (known !== true) throw unknown('reference', ref.type === 'ref/prompt' ? ref.name : ref.uri);
    const given = { ref, argument, ...(filled === undefined ? {} : { context: filled }) };
    try {
      const asked = { name: `${appId}.completion/complete`, given };
      const result = await askApp(hub, serving, requestOf(context), asked, (client, { _meta }, options) =>
        client.complete({ ...given, ...(_meta === undefined ? {} : { _meta }) }, options),
      );
      const { values, total, hasMore } = (result as { completion: Completion }).completion;
      return {
        completion: {
          values: values.slice(0, VALUES).map((value) => plainLine(value, LONGEST_VALUE)),
          ...(total === undefined ? {} : { total }),
          ...(hasMore === undefined ? {} : { hasMore }),
        },
      };
    } catch (error) {
      throw error instanceof RefusalError ? asProtocolError(error) : error;
    }
  });
}

interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

function unknown(what: string, name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${what}: ${name.slice(0, 200)}`);
}
