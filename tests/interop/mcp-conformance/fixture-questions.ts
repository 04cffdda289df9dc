// Tools of the conformance suite that ask the client something first: a form, its model, its folders.
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { text } from './fixture-tools.ts';

type Mint = (state: string) => Promise<string>;

function form(message: string, member: string, kind: 'string' | 'boolean'): InputRequest {
  const type = kind === 'string' ? { type: 'string' as const } : { type: 'boolean' as const };
  const requestedSchema = { type: 'object' as const, properties: { [member]: type }, required: [member] };
  return inputRequired.elicit({ message, requestedSchema });
}

const model = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens });

const named = z.object({ name: z.string() });

export function addQuestions(server: McpServer, mint: Mint): void {
  const add = (name: string, answer: (context: ServerContext) => unknown) =>
    server.registerTool(name, { description: 'Asks the client' }, answer as never);

  for (const name of ['test_input_required_result_elicitation', 'test_streaming_elicitation'])
    add(name, ({ mcpReq }) => {
      const answered = acceptedContent(mcpReq.inputResponses, 'user_name', named);
      if (answered !== undefined) return text(`Hello, ${answered.name}!`);
      return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name', 'string') } });
    });
  add('test_input_required_result_sampling', ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (view.kind === 'sampling') return text(JSON.stringify(view.result.content));
    return inputRequired({ inputRequests: { capital_question: model('What is the capital of France?', 100) } });
  });
  // Its client declares no model, so the official package refuses the question.
  add('test_missing_capability', () => inputRequired({ inputRequests: { question: model('Are you there?', 10) } }));
  add('test_input_required_result_list_roots', ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (view.kind === 'roots') return text(view.roots.map(({ uri }) => uri).join(' '));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state'])
    add(name, async ({ mcpReq }) => {
      if (mcpReq.requestState() === name && inputResponse(mcpReq.inputResponses, 'confirm').kind === 'elicit')
        return text('state-ok');
      return inputRequired({
        inputRequests: { confirm: form('Please confirm', 'ok', 'boolean') },
        requestState: await mint(name),
      });
    });
  add('test_input_required_result_multiple_inputs', async ({ mcpReq }) => {
    const { inputResponses: given } = mcpReq;
    const answered = ['user_name', 'greeting', 'client_roots'].every(
      (key) => inputResponse(given, key).kind !== 'missing',
    );
    if (answered && mcpReq.requestState() === 'several') return text('all answered');
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', 'name', 'string'),
        greeting: model('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await mint('several'),
    });
  });
  add('test_input_required_result_multi_round', async ({ mcpReq }) => {
    const state = mcpReq.requestState();
    if (state === 'second') return text(`done: ${JSON.stringify(mcpReq.inputResponses)}`);
    if (state === 'first')
      return inputRequired({
        inputRequests: { step2: form('Step 2: What is your favorite color?', 'color', 'string') },
        requestState: await mint('second'),
      });
    return inputRequired({
      inputRequests: { step1: form('Step 1: What is your name?', 'name', 'string') },
      requestState: await mint('first'),
    });
  });
  add('test_input_required_result_capabilities', ({ mcpReq }) => {
    const declared = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const { elicitation, sampling } = (declared ?? {}) as { elicitation?: object; sampling?: object };
    return inputRequired({
      inputRequests: {
        ...(elicitation === undefined ? {} : { user_name: form('What is your name?', 'name', 'string') }),
        ...(sampling === undefined ? {} : { greeting: model('Generate a greeting', 50) }),
      },
    });
  });
}
