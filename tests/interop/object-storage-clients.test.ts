// Stock clients of S3, unmodified, with nothing but the variables that a workload gets: through a real Gateway to
// Debian's Swift, which verifies the signatures that the Gateway makes.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { PlatformServicesClient } from '@platform/sdk';
import { GATEWAY_CREDENTIAL } from '../../packages/gateway/test-support/gateway-under-test.ts';
import {
  BUCKET,
  type GatewayToStore,
  startGatewayToStore,
} from '../../packages/gateway/test-support/storage-under-test.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { lacksPython, PYTHON, type SwiftStore, startSwift } from '../support/swift-store.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;
/** Two parts of an upload. */
const LARGE = randomBytes(6 * MiB);
const ODD = 'photos/one day é+&.txt';

describe('through the Gateway to Swift', { skip: lacksPython('swift', 'python3-swift') }, async () => {
  let swift: SwiftStore;
  let gateway: GatewayToStore;
  let folder: string;
  /** As a workload finds them. */
  let environment: Record<string, string>;

  before(async () => {
    swift = await startSwift();
    const operator = new S3Client({
      endpoint: swift.origin,
      region: swift.region,
      credentials: swift.credentials,
      forcePathStyle: true,
    });
    await operator.send(new CreateBucketCommand({ Bucket: BUCKET }));
    await operator.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'of-the-operator', Body: 'x' }));
    operator.destroy();
    gateway = await startGatewayToStore(swift);
    folder = await mkdtemp(join(tmpdir(), 'object-storage-clients-'));
    await mkdir(join(folder, 'source', 'deep'), { recursive: true });
    await writeFile(join(folder, 'source', 'one.txt'), 'one');
    await writeFile(join(folder, 'source', 'deep', 'two é.txt'), 'two');
    await writeFile(join(folder, 'source', 'large.bin'), LARGE);
    environment = {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      PLATFORM_API_URL: `http://127.0.0.1:${gateway.port}`,
      PLATFORM_GATEWAY_TOKEN: GATEWAY_CREDENTIAL,
      PLATFORM_S3_ENDPOINT: `http://127.0.0.1:${gateway.port}`,
      PLATFORM_S3_REGION: 'us-east-1',
      PLATFORM_S3_BUCKET: 'app',
      PLATFORM_S3_ACCESS_KEY_ID: 'platform',
      PLATFORM_S3_SECRET_ACCESS_KEY: 'not-a-secret',
      PLATFORM_S3_SESSION_TOKEN: GATEWAY_CREDENTIAL,
      AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
      AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
    };
  });
  after(async () => {
    await gateway?.close();
    await swift?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const byVariables = (): S3ClientConfig => ({
    endpoint: environment.PLATFORM_S3_ENDPOINT ?? '',
    region: environment.PLATFORM_S3_REGION ?? '',
    credentials: {
      accessKeyId: environment.PLATFORM_S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.PLATFORM_S3_SECRET_ACCESS_KEY ?? '',
      sessionToken: environment.PLATFORM_S3_SESSION_TOKEN ?? '',
    },
  });
  const bySdk = (): S3ClientConfig => PlatformServicesClient.fromEnv(environment).objectStorage() ?? assert.fail();

  for (const [how, options] of [
    ['the variables', byVariables],
    ['objectStorage() of the SDK', bySdk],
  ] as const) {
    test(`@aws-sdk/client-s3 and lib-storage, by ${how}`, () => withClient(options()));
  }

  async function withClient(options: S3ClientConfig): Promise<void> {
    // Clients read these by themselves.
    Object.assign(process.env, {
      AWS_REQUEST_CHECKSUM_CALCULATION: environment.AWS_REQUEST_CHECKSUM_CALCULATION,
      AWS_RESPONSE_CHECKSUM_VALIDATION: environment.AWS_RESPONSE_CHECKSUM_VALIDATION,
    });
    const { PLATFORM_S3_BUCKET: Bucket = '' } = environment;
    const client = new S3Client(options);
    try {
      await client.send(
        new PutObjectCommand({
          Bucket,
          Key: ODD,
          Body: 'hello',
          ContentType: 'text/x-a',
          Metadata: { colour: 'blue' },
        }),
      );
      const got = await client.send(new GetObjectCommand({ Bucket, Key: ODD }));
      assert.deepEqual(
        [await got.Body?.transformToString(), got.ContentType, got.Metadata],
        ['hello', 'text/x-a', { colour: 'blue' }],
      );
      const part = await client.send(new GetObjectCommand({ Bucket, Key: ODD, Range: 'bytes=-2' }));
      assert.deepEqual([await part.Body?.transformToString(), part.ContentRange], ['lo', 'bytes 3-4/5']);
      assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: ODD }))).ContentLength, 5);
      // By hand and as its documentation says, with the slashes encoded too.
      for (const [Key, CopySource] of [
        ['copy-1', `app/${ODD.split('/').map(encodeURIComponent).join('/')}`],
        ['copy-2', encodeURIComponent(`app/${ODD}`)],
      ] as const) {
        await client.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
        const copy = await client.send(new GetObjectCommand({ Bucket, Key }));
        assert.equal(await copy.Body?.transformToString(), 'hello');
      }
      const listed = await client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }));
      assert.deepEqual(
        [listed.Contents?.map(({ Key }) => Key), listed.CommonPrefixes],
        [['copy-1', 'copy-2'], [{ Prefix: 'photos/' }]],
      );
      const keys: (string | undefined)[] = [];
      for await (const page of paginateListObjectsV2({ client, pageSize: 1 }, { Bucket }))
        keys.push(...(page.Contents ?? []).map(({ Key }) => Key));
      assert.deepEqual(keys, ['copy-1', 'copy-2', ODD]);
      for (const [Key, Body] of [
        ['large-1', LARGE],
        ['large-2', Readable.from([LARGE])],
      ] as const) {
        await new Upload({ client, params: { Bucket, Key, Body }, partSize: 5 * MiB }).done();
        const large = await client.send(new GetObjectCommand({ Bucket, Key }));
        assert.ok(LARGE.equals((await large.Body?.transformToByteArray()) ?? new Uint8Array()));
        // Over the border between two parts.
        const Range = `bytes=${5 * MiB - 2}-${5 * MiB + 1}`;
        const range = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
        const middle = LARGE.subarray(5 * MiB - 2, 5 * MiB + 2);
        assert.ok(middle.equals((await range.Body?.transformToByteArray()) ?? new Uint8Array()));
      }
      const gone = [...keys, 'large-1'].map((Key) => ({ Key }));
      const deleted = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: gone } }));
      assert.deepEqual([deleted.Deleted?.length, deleted.Errors], [4, undefined]);
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'large-2' }));
      assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0);
      await assert.rejects(client.send(new GetObjectCommand({ Bucket, Key: 'none' })), NoSuchKey);
      await assert.rejects(client.send(new HeadObjectCommand({ Bucket, Key: 'none' })), NotFound);
      const former = new S3Client({ ...options, requestChecksumCalculation: 'WHEN_SUPPORTED' });
      const streamed = new PutObjectCommand({
        Bucket,
        Key: 'a',
        Body: Readable.from([Buffer.from('a')]),
        ContentLength: 1,
      });
      await assert.rejects(
        former.send(streamed),
        (error) => error instanceof S3ServiceException && /CALCULATION=when_required/.test(error.message),
      );
      former.destroy();
    } finally {
      client.destroy();
      delete process.env.AWS_REQUEST_CHECKSUM_CALCULATION;
      delete process.env.AWS_RESPONSE_CHECKSUM_VALIDATION;
    }
  }

  test('boto3', { skip: lacksPython('boto3', 'python3-boto3') }, async () => {
    const script = new URL('./object-storage-boto3.py', import.meta.url).pathname;
    const { stdout } = await run(PYTHON, [script], { env: environment });
    assert.equal(stdout, 'done\n');
  });

  function ofRclone() {
    const { PLATFORM_S3_ENDPOINT: endpoint = '' } = environment;
    return {
      ...environment,
      RCLONE_CONFIG: join(folder, 'rclone.conf'),
      RCLONE_S3_NO_CHECK_BUCKET: 'true',
      RCLONE_S3_UPLOAD_CUTOFF: '5M',
      RCLONE_CONFIG_STORE_TYPE: 's3',
      RCLONE_CONFIG_STORE_PROVIDER: 'Other',
      RCLONE_CONFIG_STORE_ENDPOINT: endpoint,
      RCLONE_CONFIG_STORE_REGION: 'us-east-1',
      RCLONE_CONFIG_STORE_ACCESS_KEY_ID: 'platform',
      RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY: 'not-a-secret',
      RCLONE_CONFIG_STORE_SESSION_TOKEN: GATEWAY_CREDENTIAL,
    };
  }

  test('rclone', { skip: lacksProgram('rclone') }, async () => {
    const env = ofRclone();
    await writeFile(env.RCLONE_CONFIG, '');
    const rclone = async (...args: string[]) =>
      (await run('rclone', ['--retries=1', '--s3-chunk-size=5M', ...args], { env })).stdout;
    const source = join(folder, 'source');
    // One file alone is where it would create the bucket.
    await rclone('copyto', join(source, 'one.txt'), 'store:app/rclone/one.txt');
    await rclone('copy', source, 'store:app/rclone');
    await rclone('check', source, 'store:app/rclone');
    const listed = (await rclone('lsf', '-R', '--files-only', 'store:app/rclone')).trim().split('\n');
    assert.deepEqual(listed.sort(), ['deep/two é.txt', 'large.bin', 'one.txt']);
    await rclone('copy', 'store:app/rclone', join(folder, 'rclone'));
    assert.ok(LARGE.equals(await readFile(join(folder, 'rclone', 'large.bin'))));
    await rclone('moveto', 'store:app/rclone/one.txt', 'store:app/rclone/moved.txt');
    assert.equal(await rclone('cat', 'store:app/rclone/moved.txt'), 'one');
    await rclone('delete', 'store:app/rclone');
    assert.equal(await rclone('lsf', '-R', '--files-only', 'store:app'), '');
  });

  test('what restic asks of rclone, which it uses as its store', { skip: lacksProgram('rclone') }, async () => {
    const env = ofRclone();
    await writeFile(env.RCLONE_CONFIG, '');
    const args = ['serve', 'restic', '--retries=1', '--addr=127.0.0.1:0', 'store:app/backup'];
    const served = spawn('rclone', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(served, 'exit');
    try {
      let said = '';
      let origin: string | undefined;
      for await (const line of createInterface({ input: served.stderr })) {
        said += `${line}\n`;
        origin = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (origin !== undefined) break;
      }
      served.stderr.resume();
      assert.ok(origin !== undefined, said);
      const ask = async (method: string, path: string, body?: Buffer<ArrayBuffer>) => {
        const headers = { accept: 'application/vnd.x.restic.rest.v2' };
        const answer = await fetch(`${origin}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
        assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
        return Buffer.from(await answer.arrayBuffer());
      };
      const pack = createHash('sha256').update(LARGE).digest('hex');
      await ask('POST', '/?create=true');
      await ask('POST', '/config', Buffer.from('sealed'));
      await ask('POST', `/data/${pack}`, LARGE);
      assert.ok(LARGE.equals(await ask('GET', `/data/${pack}`)));
      assert.deepEqual(JSON.parse(String(await ask('GET', '/data/'))), [{ name: pack, size: LARGE.length }]);
      assert.equal(String(await ask('GET', '/config')), 'sealed');
      await ask('DELETE', `/data/${pack}`);
      await ask('DELETE', '/config');
    } finally {
      served.kill();
      await ended;
    }
  });

  test('s3cmd', { skip: lacksProgram('s3cmd') }, async () => {
    const host = `127.0.0.1:${gateway.port}`;
    const options = [
      ...[`--config=${join(folder, 's3cfg')}`, `--host=${host}`, `--host-bucket=${host}`, '--no-ssl', '--no-progress'],
      ...['--region=us-east-1', '--access_key=platform', '--secret_key=not-a-secret'],
      ...[`--access_token=${GATEWAY_CREDENTIAL}`, '--multipart-chunk-size-mb=5', '--acl-private'],
    ];
    await writeFile(join(folder, 's3cfg'), '[default]\n');
    const s3cmd = async (...args: string[]) => (await run('s3cmd', [...options, ...args], { env: environment })).stdout;
    await s3cmd('sync', `${join(folder, 'source')}/`, 's3://app/s3cmd/');
    const listed = await s3cmd('ls', '-r', 's3://app/s3cmd/');
    assert.deepEqual([...listed.matchAll(/s3:\/\/app\/s3cmd\/(.*)/g)].map(([, name]) => name).sort(), [
      'deep/two é.txt',
      'large.bin',
      'one.txt',
    ]);
    await s3cmd('get', 's3://app/s3cmd/large.bin', join(folder, 's3cmd.bin'));
    assert.ok(LARGE.equals(await readFile(join(folder, 's3cmd.bin'))));
    assert.match(await s3cmd('info', 's3://app/s3cmd/one.txt').catch(({ stdout }) => stdout), /File size: 3/);
    await s3cmd('cp', 's3://app/s3cmd/one.txt', 's3://app/s3cmd/copy.txt');
    await s3cmd('del', '-r', '--force', 's3://app/s3cmd/');
    assert.equal(await s3cmd('ls', '-r', 's3://app/'), '');
  });
});
