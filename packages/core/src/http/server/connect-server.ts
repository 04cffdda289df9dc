// What clients outside the platform reach at the connect origin beside the routes of the contract. The connections domain serves it.
import type { Refusal } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Fields = Readonly<Record<string, string>>;

export interface ConnectServer {
  /** Whether clients reach this path at the connect origin; no other is answered there. */
  isPath(path: string): boolean;
  /** Answers a request to such a path that no route of the contract has. @throws RefusalError */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /**
   * What an answer at this path has beside its own fields, a refusal among them; `null` for paths that no client uses with a token.
   */
  fields(path: string, of: { readonly origin: string | undefined; readonly refused: Refusal | null }): Fields | null;
  close(): Promise<void>;
}
