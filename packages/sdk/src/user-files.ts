// The files of the person, for the platform’s own Files alone. Uploads go by XMLHttpRequest, which alone says how far it is.

import { readBytes } from './bytes-call.ts';
import type { ServiceAccess } from './call-options.ts';
import type { UserFilesService } from './files.ts';
import { errorFromResponse, PlatformError } from './platform-error.ts';
import { callService, pathOf, withCredential } from './service-call.ts';

const ALL = '/v1/services/user-files';
const ONE = `${ALL}/:id`;

export function userFilesService(access: ServiceAccess): UserFilesService {
  return {
    list: ({ limit, cursor, ...options } = {}) =>
      callService<'services.userFiles.list'>(access, { method: 'GET', path: ALL, query: { limit, cursor } }, options),
    create: (name, body, onProgress = () => undefined) => {
      const url = access.api + pathOf({ path: ALL, query: { name } });
      return withCredential(access, undefined, (authorization) => upload({ url, authorization, body, onProgress }));
    },
    get: (id, options) =>
      readBytes(access, { path: ONE, parameters: { id } }, { timeoutMilliseconds: 600_000, ...options }),
    async rename(id, name, options) {
      const input = { method: 'PATCH', path: ONE, parameters: { id }, body: { name } } as const;
      return (await callService<'services.userFiles.rename'>(access, input, options)).file;
    },
    remove: (id, options) =>
      callService<'services.userFiles.delete'>(access, { method: 'DELETE', path: ONE, parameters: { id } }, options),
    transfers: ({ limit, cursor, ...options } = {}) => {
      const input = { method: 'GET', path: `${ALL}/transfers`, query: { limit, cursor } } as const;
      return callService<'services.userFiles.transfers'>(access, input, options);
    },
    takeBack: (id, appId, options) => {
      const input = { method: 'DELETE', path: `${ONE}/apps/:appId`, parameters: { id, appId } } as const;
      return callService<'services.userFiles.takeBack'>(access, input, options);
    },
  };
}

interface Upload {
  readonly url: string;
  readonly authorization: string;
  readonly body: Blob;
  readonly onProgress: (share: number) => void;
}

function upload({ url, authorization, body, onProgress }: Upload): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = new XMLHttpRequest();
  request.open('POST', url);
  request.setRequestHeader('authorization', authorization);
  request.setRequestHeader('content-type', body.type === '' ? 'application/octet-stream' : body.type);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  request.onload = () => {
    const { status, responseText } = request;
    if (status === 201) resolve();
    else errorFromResponse(new Response(responseText, { status })).then(reject, reject);
  };
  request.onerror = () =>
    reject(new PlatformError({ code: 'network_failed', detail: 'The platform could not be reached.' }));
  request.send(body);
  return promise;
}
