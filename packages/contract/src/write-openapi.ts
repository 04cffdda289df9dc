// `npm run openapi`: writes openapi.json from the route table.
import { writeFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import { openApiDocument } from './openapi.ts';

const text = `${JSON.stringify(openApiDocument(manifest.version), null, 2)}\n`;
writeFileSync(new URL('../openapi.json', import.meta.url), text);
process.stdout.write(`openapi.json: ${text.length} bytes\n`);
