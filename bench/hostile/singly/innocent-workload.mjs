// The backend of somebody who does no harm: `/service` calls core through its Gateway, `/object` reads an object of 4 KiB, which
// `/prepare` has stored, and anything else answers by itself. Answers with the status that it got.
import http from 'node:http';

const { SOCKET, PORT, PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN } = process.env;
const { PLATFORM_S3_ENDPOINT, PLATFORM_S3_BUCKET, PLATFORM_S3_SESSION_TOKEN } = process.env;
const agent = new http.Agent({ keepAlive: true });

function status(url, headers, method = 'GET', body = undefined) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const request = http.request(url, { method, agent, headers }, (answer) => {
    answer.on('end', () => resolve(answer.statusCode)).on('error', reject);
    answer.resume();
  });
  request.on('error', reject).end(body);
  return promise;
}

const object = (method, body) =>
  status(
    `${PLATFORM_S3_ENDPOINT}/${PLATFORM_S3_BUCKET}/one`,
    { 'x-amz-security-token': PLATFORM_S3_SESSION_TOKEN },
    method,
    body,
  );
const ways = {
  '/service': () =>
    status(`${PLATFORM_API_URL}/v1/services/apps`, { authorization: `Bearer ${PLATFORM_GATEWAY_TOKEN}` }),
  '/prepare': () => object('PUT', 'x'.repeat(4_096)),
  '/object': () => object('GET'),
};

http
  .createServer(async (request, response) => {
    const way = ways[request.url];
    response.statusCode = way === undefined ? 200 : await way().catch(() => 502);
    response.end();
  })
  .listen(SOCKET ?? Number(PORT));
