// Prompts of the conformance suite.
import { acceptedContent, completable, inputRequired, type McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type Grown, PNG } from './fixture-tools.ts';

const said = (words: string) => ({ role: 'user' as const, content: { type: 'text' as const, text: words } });

export function addPrompts(server: McpServer, grown: Grown): void {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments' }, () => ({
    messages: [said('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('First test argument'), (value) =>
          ['paris', 'park', 'party'].filter((one) => one.startsWith(value)),
        ),
        arg2: z.string().describe('Second test argument'),
      }),
    },
    ({ arg1, arg2 }) => ({ messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        said('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      said('Please analyze the image above.'),
    ],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, ({ mcpReq }) => {
    const answered = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }));
    if (answered !== undefined) return { messages: [said(`With the context: ${answered.context}`)] };
    const requestedSchema = {
      ...{ type: 'object' as const, properties: { context: { type: 'string' as const } } },
      required: ['context'],
    };
    return inputRequired({
      inputRequests: {
        user_context: inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema }),
      },
    });
  });
  for (let one = 1; one <= grown.prompts; one += 1)
    server.registerPrompt(`added_${one}`, { description: 'Was added' }, () => ({ messages: [said('added')] }));
}
