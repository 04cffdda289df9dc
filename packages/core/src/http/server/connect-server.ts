// What clients outside the platform reach at the connect origin beside the routes of the contract. The connections domain serves it.
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface ConnectServer {
  /** Whether clients reach this path at the connect origin; no other is answered there. */
  isPath(path: string): boolean;
  /** Answers a request to such a path that no route of the contract has. @throws RefusalError */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  close(): Promise<void>;
}
