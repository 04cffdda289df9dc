// Objects of 1 MiB through the Gateway, which confines and signs every request anew, beside the same store used directly,
// with the same stock client: one at a time, both in turn. The Gateway has one core, store and client the other.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GATEWAY_CREDENTIAL } from '../../packages/gateway/test-support/gateway-under-test.ts';
import { BUCKET } from '../../packages/gateway/test-support/storage-under-test.ts';
import { startSwift } from '../../tests/support/swift-store.ts';
import { startScript } from '../gateway/processes.ts';
import { atMost, median, printRow, reported } from '../machine.ts';

const MiB = 1024 * 1024;
const WARM_UP = 20;
const OBJECTS = 200;
const LARGE_PUTS = 5;
const GATEWAY_CORE = 0;
const REST_CORE = 1;

// As a workload has it.
Object.assign(process.env, {
  AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
  AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
});

await using parts = new AsyncDisposableStack();
const swift = await startSwift({ core: REST_CORE });
parts.defer(() => swift.close());
const gateway = await startScript(new URL('./gateway-server.ts', import.meta.url), GATEWAY_CORE, [
  JSON.stringify({ origin: swift.origin, region: swift.region, credentials: swift.credentials }),
]);
parts.defer(() => gateway.stop());

const direct = {
  bucket: BUCKET,
  client: new S3Client({
    endpoint: swift.origin,
    region: swift.region,
    credentials: swift.credentials,
    forcePathStyle: true,
  }),
};
const through = {
  bucket: 'app',
  client: new S3Client({
    endpoint: `http://127.0.0.1:${gateway.port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'platform', secretAccessKey: 'not-a-secret', sessionToken: GATEWAY_CREDENTIAL },
    forcePathStyle: true,
  }),
};
parts.defer(() => direct.client.destroy());
parts.defer(() => through.client.destroy());
await direct.client.send(new CreateBucketCommand({ Bucket: BUCKET }));

async function put({ client, bucket }: typeof direct, key: string, body: Buffer): Promise<number> {
  const begun = performance.now();
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
  return performance.now() - begun;
}

async function get({ client, bucket }: typeof direct, key: string, body: Buffer): Promise<number> {
  const begun = performance.now();
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  const got = await Body?.transformToByteArray();
  const taken = performance.now() - begun;
  if (got === undefined || !body.equals(got)) throw new Error('another object came back');
  return taken;
}

for (const [name, take] of Object.entries({ put, get })) {
  const times = { direct: [] as number[], through: [] as number[] };
  const body = randomBytes(MiB);
  if (take === get) for (const way of [direct, through]) await put(way, 'one', body);
  for (let index = -WARM_UP; index < OBJECTS; index += 1) {
    const one = await take(direct, 'one', body);
    const other = await take(through, 'one', body);
    if (index < 0) continue;
    times.direct.push(one);
    times.through.push(other);
  }
  printRow(reported(`${name} of 1 MiB to the store directly, p50`, median(times.direct), 'ms'));
  printRow(reported('the same through the Gateway, p50', median(times.through), 'ms'));
  printRow(atMost('through the Gateway to directly, p50', median(times.through) / median(times.direct), '×', 1.3));
}

const large = randomBytes(16 * MiB);
const peaks: number[] = [];
for (let index = 0; index < LARGE_PUTS; index += 1) {
  const before = await memory('VmRSS');
  // The peak begins anew (proc_pid_clear_refs(5)).
  await writeFile(`/proc/${gateway.pid}/clear_refs`, '5');
  await put(through, 'large', large);
  peaks.push((await memory('VmHWM')) - before);
}
printRow(reported('put of 16 MiB, memory of the Gateway at its peak', await memory('VmHWM'), 'MiB'));
printRow(reported('the same above what it had before, the most of five', Math.max(...peaks), 'MiB'));

/** Of the Gateway’s process, in MiB. */
async function memory(field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}
