// TypeScript's language server, as an editor runs it: LSP over its standard input and output.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SERVER = fileURLToPath(import.meta.resolve('../../node_modules/typescript/bin/tsc'));

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export class LanguageServer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #rest = Buffer.alloc(0);
  #count = 0;

  private constructor() {
    this.#child = spawn(process.execPath, [SERVER, '--lsp', '--stdio']);
    this.#child.stderr.resume();
    this.#child.stdout.on('data', (piece: Buffer) => this.#read(piece));
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The language server has ended.'));
    });
  }

  static async open(folder: string): Promise<LanguageServer> {
    const server = new LanguageServer();
    const rootUri = pathToFileURL(folder).href;
    await server.#ask('initialize', { processId: process.pid, rootUri, capabilities: {} });
    server.#tell('initialized', {});
    return server;
  }

  /** What an editor proposes where the text of this file has a bar; it is opened without the bar. */
  async completions(file: string, text: string): Promise<string[]> {
    const at = text.indexOf('|');
    const before = text.slice(0, at).split('\n');
    const uri = pathToFileURL(file).href;
    const opened = text.replace('|', '');
    this.#tell('textDocument/didOpen', {
      textDocument: { uri, languageId: 'javascript', version: 1, text: opened },
    });
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    const found = await this.#ask('textDocument/completion', { textDocument: { uri }, position });
    const { items } = (Array.isArray(found) ? { items: found } : (found ?? { items: [] })) as {
      readonly items: readonly { readonly label: string }[];
    };
    return items.map(({ label }) => label.replace(/\?$/, ''));
  }

  async close(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill();
    await gone;
  }

  #ask(method: string, params: object): Promise<unknown> {
    this.#count += 1;
    const id = this.#count;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    return answer;
  }

  #tell(method: string, params: object): void {
    this.#send({ method, params });
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #read(piece: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, piece]);
    for (;;) {
      const end = this.#rest.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(this.#rest.subarray(0, end).toString())?.[1]);
      if (end === -1 || this.#rest.length < end + 4 + length) return;
      const message = JSON.parse(this.#rest.subarray(end + 4, end + 4 + length).toString()) as Message;
      this.#rest = this.#rest.subarray(end + 4 + length);
      this.#take(message);
    }
  }

  #take({ id, method, result, error }: Message): void {
    if (id === undefined) return;
    // Its questions about the editor's settings: there are none.
    if (method !== undefined) {
      this.#send({ id, result: null });
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}
