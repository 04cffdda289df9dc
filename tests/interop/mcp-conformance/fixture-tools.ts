// Tools of the conformance suite that answer without a question.
import { setTimeout as later } from 'node:timers/promises';
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';

/** What tools add while the suite runs. */
export interface Grown {
  tools: number;
  prompts: number;
}

/** A red pixel, and a moment of silence. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const PAUSE = 50;

export const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
});

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

export function addTools(server: McpServer, grown: Grown): void {
  const add = (name: string, description: string, answer: Parameters<typeof server.registerTool>[2]) =>
    server.registerTool(name, { description }, answer as never);

  add('test_simple_text', 'Answers with text', () => text('This is a simple text response for testing.'));
  add('test_image_content', 'Answers with an image', () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  }));
  add('test_audio_content', 'Answers with audio', () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));
  add('test_embedded_resource', 'Answers with a resource', () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  add('test_multiple_content_types', 'Answers with content of several types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }));
  add('test_error_handling', 'Fails', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  for (const [name, pause] of [
    ['test_tool_with_logging', PAUSE],
    ['test_logging_tool', 0],
  ] as const)
    server.registerTool(name, { description: 'Says what it does' }, async ({ mcpReq }) => {
      for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', said);
        await later(pause);
      }
      return text('Tool with logging executed successfully');
    });
  server.registerTool('test_tool_with_progress', { description: 'Says how far it is' }, async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
        });
      await later(PAUSE);
    }
    return text('done');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema(SCHEMA_2020_12 as unknown as Parameters<typeof fromJsonSchema>[0]),
    },
    () => text('done'),
  );
  server.registerTool(
    'repeats_in_header',
    {
      description: 'Wants an argument in a header too',
      inputSchema: fromJsonSchema({
        type: 'object',
        properties: { region: { type: 'string', ...{ 'x-mcp-header': 'Region' } }, 'x-mcp-header': { type: 'string' } },
      }),
    },
    () => text('both were there'),
  );
  server.registerTool('test_trigger_tool_change', { description: 'Adds a tool' }, () => {
    grown.tools += 1;
    return text('added');
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Adds a prompt' }, () => {
    grown.prompts += 1;
    return text('added');
  });
  for (let one = 1; one <= grown.tools; one += 1)
    server.registerTool(`added_${one}`, { description: 'Was added' }, () => text('added'));
}
