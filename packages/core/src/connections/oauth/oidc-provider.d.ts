// What is used of oidc-provider 9, which has no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface KoaContext {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly request: object;
    readonly cookies: { secure: boolean | undefined };
    readonly path: string;
    originalUrl: string;
    status: number;
    body: unknown;
    type: string;
    set(name: string, value: string | readonly string[]): void;
    remove(name: string): void;
    accepts(...types: string[]): string | false;
    readonly oidc: OIDCContext;
  }

  export interface OIDCContext {
    readonly params?: Readonly<Record<string, unknown>>;
    readonly client?: Client;
    readonly result?: { readonly consent?: { readonly grantId?: string } };
    readonly entities: { readonly Grant?: Grant };
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly redirectUris: readonly string[];
  }

  export interface Grant {
    getResourceScope(resource: string): string;
  }

  export interface Adapter {
    upsert(id: string, payload: Record<string, unknown>, expiresIn?: number): Promise<void>;
    find(id: string): Promise<Record<string, unknown> | undefined>;
    findByUid(uid: string): Promise<Record<string, unknown> | undefined>;
    findByUserCode(code: string): Promise<Record<string, unknown> | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  interface Model {
    readonly prototype: { generateTokenId(): string };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly AccessToken: Model;
    readonly RefreshToken: Model;
    readonly Grant: { find(id: string): Promise<Grant | undefined> };
    use(middleware: (ctx: KoaContext, next: () => Promise<void>) => Promise<void>): void;
    on(event: 'error', listener: (error: Error) => void): void;
    on(event: string, listener: (ctx: KoaContext, error: Error) => void): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }

  export namespace errors {
    class OIDCProviderError extends Error {
      readonly error: string;
      readonly error_description?: string;
    }
    class InvalidClient extends OIDCProviderError {
      constructor(description?: string);
    }
    class InvalidGrant extends OIDCProviderError {
      constructor(detail?: string);
    }
    class InvalidScope extends OIDCProviderError {
      constructor(description: string, scope?: string);
    }
    class InvalidTarget extends OIDCProviderError {
      constructor(description?: string);
    }
    class InvalidRequest extends OIDCProviderError {
      constructor(description?: string);
    }
  }

  export namespace interactionPolicy {
    class Check {
      constructor(reason: string, description: string, check: (ctx: KoaContext) => boolean | Promise<boolean>);
    }
    class Prompt {
      constructor(
        options: { readonly name: string; readonly requestable?: boolean },
        details: (ctx: KoaContext) => object | Promise<object>,
        ...checks: Check[]
      );
    }
  }
}
