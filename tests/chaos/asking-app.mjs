// A backend that makes the AI calls that a test describes, and leaves them when it says so.
import http from 'node:http';

const { PORT, PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN } = process.env;

function make({ body, leaves }) {
  const { hostname, port } = new URL(PLATFORM_API_URL);
  return new Promise((resolve) => {
    const request = http.request({
      ...{ hostname, port, method: 'POST', agent: false },
      path: '/v1/services/intelligence/openai/chat/completions',
      headers: { authorization: `Bearer ${PLATFORM_GATEWAY_TOKEN}`, 'content-type': 'application/json' },
    });
    request.on('error', () => resolve({ status: 0, whole: false }));
    request.on('response', (response) => {
      response.resume().on('error', () => undefined);
      response.on('close', () => resolve({ status: response.statusCode, whole: response.complete }));
    });
    request.end(body);
    if (leaves !== null) setTimeout(() => request.destroy(), leaves);
  });
}

http
  .createServer(async (request, response) => {
    const call = new URL(request.url, 'http://backend').searchParams.get('call');
    response.end(call === null ? 'ready' : JSON.stringify(await make(JSON.parse(call))));
  })
  .listen(Number(PORT));
