// Photos in object storage, with the stock client: `photos/<id>/<name>`, and a small picture of each in `thumbnails/<id>`.
// Ids count down, so that a listing, which is in the order of keys, begins with the newest.
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

const PAGE = 60;

export class PhotoStore {
  #client;
  #bucket;

  /** @param storage as the platform's SDK gives it: the options of the client, and the bucket */
  constructor({ bucket, ...options }) {
    this.#client = new S3Client(options);
    this.#bucket = bucket;
  }

  /** Newest first, a page at a time. @param after `next` of the page before */
  async list(after) {
    const { Contents = [], NextContinuationToken: next = null } = await this.#client.send(
      new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: 'photos/',
        MaxKeys: PAGE,
        ContinuationToken: after,
      }),
    );
    const photos = Contents.map(({ Key, Size, LastModified }) => {
      const [, id, name] = Key.split('/');
      return { id, name, size: Size, addedAt: LastModified };
    });
    return { photos, next };
  }

  photo(id, name) {
    return this.#get(`photos/${id}/${name}`);
  }

  thumbnail(id) {
    return this.#get(`thumbnails/${id}`);
  }

  /** What is larger than a request may be goes in parts, two at a time; nothing is left of an upload that breaks off. */
  async add(id, name, { type, body }) {
    const params = { Bucket: this.#bucket, Key: `photos/${id}/${name}`, Body: body, ContentType: type };
    try {
      await new Upload({ client: this.#client, params, queueSize: 2 }).done();
    } catch (error) {
      // What led to the error may stop this too.
      await this.remove(id).catch(() => undefined);
      throw error;
    }
  }

  async addThumbnail(id, { type, body }) {
    const parts = await Array.fromAsync(body);
    await this.#client.send(
      new PutObjectCommand({
        Bucket: this.#bucket,
        Key: `thumbnails/${id}`,
        Body: Buffer.concat(parts),
        ContentType: type,
      }),
    );
  }

  async remove(id) {
    const Bucket = this.#bucket;
    const { Contents = [] } = await this.#client.send(new ListObjectsV2Command({ Bucket, Prefix: `photos/${id}/` }));
    const Objects = [{ Key: `thumbnails/${id}` }, ...Contents.map(({ Key }) => ({ Key }))];
    const { Errors = [] } = await this.#client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    if (Errors.length > 0) throw new Error(`${Errors[0].Key} was not deleted: ${Errors[0].Message}`);
  }

  #get(Key) {
    return this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key }));
  }
}
