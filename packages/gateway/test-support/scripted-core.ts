// A fresh Gateway before each test of a file, in front of a core that does whatever the test writes down.
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { afterEach, beforeEach } from 'node:test';
import { GATEWAY_CREDENTIAL, type GatewayUnderTest, portOf, startGatewayUnderTest } from './gateway-under-test.ts';

/** A path that core answers, as far as the Gateway knows. */
export const SERVICE = '/v1/services/x';
export const AUTHORIZED = { authorization: `Bearer ${GATEWAY_CREDENTIAL}` };

export interface Setting {
  /** What core does with a request. */
  handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly core: Server;
  readonly coreOrigin: string;
  readonly tested: GatewayUnderTest;
}

export interface OpenOptions {
  readonly port: number;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Registers the hooks; the members hold from the first `beforeEach` on. */
export function scriptedSetting(): Setting {
  let current: Omit<Setting, 'handle'> | null = null;
  const now = (): Omit<Setting, 'handle'> => {
    if (current === null) throw new Error('No test is running.');
    return current;
  };
  const setting: Setting = {
    handle: (_req, res) => void res.end(),
    get core() {
      return now().core;
    },
    get coreOrigin() {
      return now().coreOrigin;
    },
    get tested() {
      return now().tested;
    },
  };
  beforeEach(async () => {
    const core = createServer((req, res) => setting.handle(req, res));
    core.listen(0, '127.0.0.1');
    await once(core, 'listening');
    const coreOrigin = `http://127.0.0.1:${portOf(core)}`;
    current = { core, coreOrigin, tested: await startGatewayUnderTest(coreOrigin) };
  });
  afterEach(async () => {
    const { core, tested } = now();
    await tested.close();
    core.close();
    core.closeAllConnections();
  });
  return setting;
}

/** An authorized request to a service, on a connection of its own, not yet ended. */
export function open({ port, method = 'GET', headers = {} }: OpenOptions): ClientRequest {
  return httpRequest({
    ...{ host: '127.0.0.1', port, method, path: SERVICE, agent: false },
    headers: { ...AUTHORIZED, ...headers },
  });
}

export async function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('The response event came without a response.');
  return response;
}
