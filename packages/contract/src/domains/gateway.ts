// What core sends the Gateway of one installation with its assignment: the part of the grants that the Gateway itself
// enforces. A change reaches a running Gateway and restarts nothing. Not a public interface; versioned with the platform.
import * as z from 'zod';
import { intelligenceDialect } from './intelligence.ts';
import { slotName } from './packages.ts';

export const gatewayPolicy = z.strictObject({
  /**
   * Of the installation's grants; a Gateway ignores a policy older than the one it has. What else a policy says may
   * change under the same revision.
   */
  revision: z.int().min(0),
  /** Absent: its grants name no AI provider. Not what it may use: core says so at every call. */
  intelligence: z
    .strictObject({
      /** By provider. */
      dialects: z.record(z.string(), intelligenceDialect),
      /** Of a request. */
      bodyBytes: z.int().min(1),
      /** Patterns of `intelligence.use`: calls under way that none of them covers any more end. Absent: not known. */
      models: z.array(z.string()).optional(),
    })
    .optional(),
  /**
   * Secret slots that are declared, granted and bound, each with a word that changes with its binding: calls under way
   * end when their slot is gone or its word is another. Absent: none.
   */
  outbound: z.record(slotName, z.string()).optional(),
  /** Whether it may use raw object storage: granted, paid for, and there is a store. Absent: it may not. */
  objectStorage: z.boolean().optional(),
  /** How often it may; a Gateway is the only one that sees these requests. Absent: as the limits say. */
  objectStorageRate: z.strictObject({ perMinute: z.int().min(1), burst: z.int().min(1) }).optional(),
  /**
   * What the internet reaches of the workload (contract 4e). Requests under way that no route matches any more end, and
   * so do all when the name is another. Absent: nothing.
   */
  public: z
    .strictObject({
      /** The only `Host` under which public requests are served; a port in it does not matter. */
      hostname: z.string(),
      /** As `openRoutes` gives them; never empty. */
      routes: z.array(z.string()).min(1),
    })
    .optional(),
  /**
   * Origins of the operator's that its services reach on any address: of its AI providers and of its object store. For
   * the Runtime of a Gateway without a network, which dials in its place; Gateways go by what core says at each call.
   * Absent: none.
   */
  privateOrigins: z.array(z.string()).optional(),
});
export type GatewayPolicy = z.infer<typeof gatewayPolicy>;
