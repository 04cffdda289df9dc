// Object storage for a workload: the options of a stock S3 client, from the variables that the platform set.

/** For `new S3Client(…)` of `@aws-sdk/client-s3`; its commands need `bucket` besides. */
export interface ObjectStorage {
  readonly endpoint: string;
  readonly region: string;
  readonly forcePathStyle: true;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    /** This workload's own credential; the store's key stays with the platform. */
    readonly sessionToken: string;
  };
  readonly bucket: string;
}

/** `null` where the platform set no complete set of them. */
export function objectStorageFrom(environment: Readonly<Record<string, string | undefined>>): ObjectStorage | null {
  const {
    PLATFORM_S3_ENDPOINT: endpoint,
    PLATFORM_S3_REGION: region,
    PLATFORM_S3_BUCKET: bucket,
    PLATFORM_S3_ACCESS_KEY_ID: accessKeyId,
    PLATFORM_S3_SECRET_ACCESS_KEY: secretAccessKey,
    PLATFORM_S3_SESSION_TOKEN: sessionToken,
  } = environment;
  if (!endpoint || !region || !bucket || !accessKeyId || !secretAccessKey || !sessionToken) return null;
  return {
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    bucket,
  };
}
