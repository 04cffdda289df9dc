// `npm run openapi`: writes openapi.json from the route table, from it the wire types of the Rust client, and the JSON Schema
// of the manifest.

import { writeFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import { MANIFEST_SCHEMA_FILE, manifestSchema } from './manifest-schema.ts';
import { openApiDocument } from './openapi/document.ts';
import { RUST_TYPES_FILE, rustTypes } from './rust-types.ts';
import { sizeText } from './sizes.ts';

const document = openApiDocument(manifest.version);
const text = `${JSON.stringify(document, null, 2)}\n`;
writeFileSync(new URL('../openapi.json', import.meta.url), text);
process.stdout.write(`openapi.json: ${sizeText(text.length)}\n`);

const types = rustTypes(JSON.parse(text));
writeFileSync(RUST_TYPES_FILE, types);
process.stdout.write(`wire.rs: ${sizeText(types.length)}\n`);

const forEditors = `${JSON.stringify(manifestSchema(), null, 2)}\n`;
writeFileSync(MANIFEST_SCHEMA_FILE, forEditors);
process.stdout.write(`manifest.schema.json: ${sizeText(forEditors.length)}\n`);
