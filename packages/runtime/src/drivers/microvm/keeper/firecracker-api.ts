// The requests that make Firecracker boot a machine (its OpenAPI document, `firecracker.yaml`, 1.x), in the required
// order: all configuration before the one action that starts the instance. node:http, because the enclosure holds Node
// and nothing from npm.
import { enclosed, guestMac, type Machine, tapDevice } from '../places.ts';

const http = process.getBuiltinModule('node:http');

export interface ApiRequest {
  readonly path: string;
  readonly body: object;
}

/** All requests are PUT and answered with 204. */
export function bootRequests(machine: Machine): readonly ApiRequest[] {
  const drive = (name: string, file: string, access: { readonly readOnly: boolean }): ApiRequest => ({
    path: `/drives/${name}`,
    body: {
      drive_id: name,
      path_on_host: file,
      is_root_device: false,
      is_read_only: access.readOnly,
      cache_type: access.readOnly ? 'Unsafe' : 'Writeback',
    },
  });
  const names = ['platform.base=vda', 'platform.app=vdb', ...(machine.volume ? ['platform.volume=vdc'] : [])];
  return [
    {
      path: '/machine-config',
      body: { vcpu_count: machine.processors, mem_size_mib: machine.memoryMiB, smt: false, track_dirty_pages: false },
    },
    {
      path: '/boot-source',
      body: {
        kernel_image_path: enclosed.kernel,
        initrd_path: enclosed.initramfs,
        // A reboot through the keyboard controller is how a guest ends Firecracker.
        boot_args: [
          ...machine.kernelArguments.filter((word) => !word.startsWith('reboot=')),
          'reboot=k',
          ...names,
        ].join(' '),
      },
    },
    // The kernel meets them in this order.
    drive('base', enclosed.base, { readOnly: true }),
    drive('app', enclosed.app, { readOnly: true }),
    ...(machine.volume ? [drive('volume', enclosed.volume, { readOnly: false })] : []),
    {
      path: '/network-interfaces/eth0',
      body: { iface_id: 'eth0', guest_mac: guestMac, host_dev_name: tapDevice },
    },
    { path: '/actions', body: { action_type: 'InstanceStart' } },
  ];
}

export interface Waiting {
  /** Resolves when the monitor has ended and no request can succeed. */
  readonly ended: Promise<void>;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

const SOCKET_LIMIT = 250;
const SOCKET_PAUSE = 10;
const ANSWER_LIMIT = 10_000;
const LARGEST_ANSWER = 16_384;

/** @throws Error with Firecracker's own words when it refuses, or when its socket does not come up within 2.5 s. */
export async function bootThrough(socketPath: string, machine: Machine, waiting: Waiting): Promise<void> {
  await awaitApi(socketPath, waiting);
  for (const request of bootRequests(machine)) {
    const { status, text } = await send(socketPath, 'PUT', request);
    if (status !== 204) throw new Error(`Firecracker answered ${status} to ${request.path}: ${faultMessage(text)}`);
  }
}

/** Its first answer says that it listens and has no machine yet. */
async function awaitApi(socketPath: string, { ended, pause }: Waiting): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { status, text } = await send(socketPath, 'GET', { path: '/' });
      if (status !== 200)
        throw new Error(`Firecracker answered ${status} to its first question: ${faultMessage(text)}`);
      return;
    } catch (error) {
      const notYet = error instanceof Error && 'code' in error && /^(ENOENT|ECONNREFUSED)$/.test(String(error.code));
      if (!notYet || over || attempt >= SOCKET_LIMIT) throw error;
      await pause(SOCKET_PAUSE);
    }
  }
}

function send(
  socketPath: string,
  method: 'GET' | 'PUT',
  { path, body }: { readonly path: string; readonly body?: object },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept: 'application/json',
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    const request = http.request(
      { socketPath, method, path, headers, agent: false, timeout: ANSWER_LIMIT },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > LARGEST_ANSWER) response.destroy(new Error('Firecracker answered too much.'));
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on('timeout', () => request.destroy(new Error(`Firecracker did not answer ${path} in time.`)));
    request.on('error', reject);
    request.end(payload);
  });
}

function faultMessage(text: string): string {
  try {
    const fault: unknown = JSON.parse(text);
    if (typeof fault === 'object' && fault !== null && 'fault_message' in fault) return String(fault.fault_message);
  } catch {
    // not JSON: the text itself
  }
  return text.slice(0, 500);
}
