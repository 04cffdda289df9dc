// The peer: @fastify/http-proxy as its documentation starts it, in front of the origin named as argument.
import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

const [upstream = ''] = process.argv.slice(2);
const server = fastify();
await server.register(httpProxy, { upstream });
await server.listen({ port: 0, host: '127.0.0.1' });
const address = server.server.address();
if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
console.log(JSON.stringify({ port: address.port }));
process.on('SIGTERM', () => void server.close().then(() => process.exit()));
