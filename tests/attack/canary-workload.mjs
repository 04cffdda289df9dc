// A backend that makes the HTTP calls that a test describes and tells everything that came back.
import { writeFileSync } from 'node:fs';
import http from 'node:http';

const { PORT, PLATFORM_GATEWAY_TOKEN } = process.env;

// With `keep: false` only the status is kept, as by a backend that trusts no answer.
function make({ to, path, method = 'POST', headers = {}, body, keep = true }) {
  const { hostname, port } = new URL(process.env[to]);
  const credential =
    to === 'PLATFORM_S3_ENDPOINT'
      ? { 'x-amz-security-token': PLATFORM_GATEWAY_TOKEN }
      : { authorization: `Bearer ${PLATFORM_GATEWAY_TOKEN}` };
  return new Promise((resolve) => {
    const seen = { interim: [] };
    const request = http.request({
      hostname,
      port,
      path,
      method,
      agent: false,
      headers: { ...credential, ...headers },
    });
    request.on('information', (info) => seen.interim.push([info.statusCode, info.rawHeaders]));
    request.on('error', (error) => resolve({ ...seen, error: error.message }));
    request.on('response', (response) => {
      const { statusCode: status, statusMessage, rawHeaders } = response;
      let text = '';
      response.setEncoding('latin1');
      response.on('data', (part) => {
        if (keep) text += part;
      });
      response.on('error', (error) => {
        seen.error = error.message;
      });
      response.on('close', () =>
        resolve(
          keep ? { ...seen, status, statusMessage, rawHeaders, text, trailers: response.rawTrailers } : { status },
        ),
      );
    });
    request.end(body);
  });
}

http
  .createServer(async (request, response) => {
    const call = new URL(request.url, 'http://backend').searchParams.get('call');
    const told = call === null ? { environment: process.env } : await make(JSON.parse(call));
    console.log(JSON.stringify(told));
    // What it knows is in a file in memory too.
    writeFileSync('/tmp/note-of-a-workload', JSON.stringify([told, process.env]));
    response.end(JSON.stringify(told));
  })
  .listen(Number(PORT));
