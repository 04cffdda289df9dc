// @platform/sdk for workloads: the platform's services, through the Gateway beside this process.

import type { AppCapability, ListedAccount, MadeDraft, ServicesApp, SystemInventory } from '@platform/contract';
import { renewAppCapability, verifyCapability } from './app-capability.ts';
import type { CallOptions } from './call-options.ts';
import { type ContentService, contentService } from './content.ts';
import { type FilesService, filesService } from './files.ts';
import { type Intelligence, intelligenceOf } from './intelligence.ts';
import { connectMcp, type McpClientPackage, type WorkloadMcpOptions } from './mcp-client.ts';
import { type MessagingService, messagingService } from './messaging.ts';
import { type ObjectStorage, objectStorageFrom } from './object-storage.ts';
import { type OutboundService, outboundService } from './outbound.ts';
import { PlatformError } from './platform-error.ts';
import {
  type ResumedRun,
  resumeWorkflows,
  runWorkflow,
  type WorkflowDefinition,
  type WorkflowFunction,
  type WorkflowOptions,
} from './run-workflow.ts';
import { type SchedulesService, schedulesService } from './schedules.ts';
import { type ToolsService, toolsService } from './serve-tools.ts';
import {
  type AccountListOptions,
  type AppToMake,
  listAccounts,
  listApps,
  makeApp,
  type NotificationsService,
  notificationsService,
  type Page,
  type PageOptions,
  readSystem,
  type SearchService,
  searchService,
} from './services.ts';
import {
  acquireWorkLease,
  type RenewOptions,
  releaseWorkLease,
  renewWorkLease,
  type WorkLeaseHandle,
  type WorkLeaseOptions,
} from './work-lease.ts';
import { type WorkflowsService, workflowsService } from './workflows.ts';

export type {
  AppCapability,
  AppFile,
  ChangeSchedule,
  Collection,
  ContentChange,
  ContentChanges,
  ContentInvitation,
  ContentItem,
  ContentMember,
  Conversation,
  CreateSchedule,
  FileAccessEntry,
  ListedAccount,
  MadeDraft,
  Message,
  MessagingContact,
  MessagingIdentity,
  MessagingNews,
  Notification,
  PublishNotification,
  Schedule,
  ScheduleTargetApp,
  SearchEntry,
  ServicesApp,
  SharedFile,
  SystemInventory,
  UserFile,
  WorkflowEvent,
  WorkflowRun,
  WorkflowStatus,
} from '@platform/contract';
export {
  type Backend,
  type BackendConnection,
  type ConnectOptions,
  connectBackend,
  type WebSocketOptions,
} from './backend.ts';
export type { Bytes, BytesToWrite, WriteConditions, WriteOptions } from './bytes-call.ts';
export type { CallOptions } from './call-options.ts';
export type { ContentService } from './content.ts';
export type { FilesService } from './files.ts';
export type { Intelligence, IntelligenceRequest } from './intelligence.ts';
export type { McpClientLike, McpClientPackage, McpOptions, WorkloadMcpOptions } from './mcp-client.ts';
export type { MessagingService, SyncOptions } from './messaging.ts';
export type { ObjectStorage } from './object-storage.ts';
export type { OutboundRequest, OutboundService } from './outbound.ts';
export { PlatformError, type SdkErrorCode } from './platform-error.ts';
export type { ActivityContext, ActivityOptions, Executor, RetryPolicy } from './run-activity.ts';
export type {
  Flow,
  ResumedRun,
  WorkflowDefinition,
  WorkflowFunction,
  WorkflowOptions,
} from './run-workflow.ts';
export type { SchedulesService } from './schedules.ts';
export type {
  McpServerPackage,
  NodeRequest,
  NodeResponse,
  ToolRequest,
  ToolServer,
  ToolServerAbout,
  ToolsService,
} from './serve-tools.ts';
export type {
  AccountListOptions,
  AppToMake,
  NotificationListOptions,
  NotificationsService,
  Page,
  PageOptions,
  SearchService,
  StreamOptions,
} from './services.ts';
export type { RenewOptions, WorkLeaseHandle, WorkLeaseOptions } from './work-lease.ts';
export type { WorkflowListOptions, WorkflowsService } from './workflows.ts';

/** What the platform gives a workload in its environment. */
export interface PlatformServicesOptions {
  /** Address of the services without a trailing slash, as PLATFORM_API_URL gives it. */
  readonly apiUrl: string;
  /** The workload's Gateway credential, as PLATFORM_GATEWAY_TOKEN gives it. */
  readonly gatewayToken: string;
  /** As the PLATFORM_S3 variables give it. Default: none. */
  readonly objectStorage?: ObjectStorage | null;
  /** Where this workload serves tools, as PLATFORM_MCP_PATH gives it. Default: nowhere, unless it says so itself. */
  readonly toolsPath?: string | undefined;
}

/**
 * The services of the platform for a workload, through the Gateway beside it.
 *
 * @example
 * ```ts
 * import { PlatformServicesClient } from '@platform/sdk';
 *
 * const platform = PlatformServicesClient.fromEnv();
 * const { items } = await platform.listApps();
 * console.log(items.map(({ name, version }) => `${name} ${version}`));
 * ```
 */
export class PlatformServicesClient {
  /** Notifications of the account, with a live stream. Grants `notifications.publish` and `notifications.read`. */
  readonly notifications: NotificationsService;
  /** The search index of this installation. Grant `search.index`. */
  readonly search: SearchService;
  /** Workflow runs of this installation. Need no grant. */
  readonly workflows: WorkflowsService;
  /** Messages of the account to other people. Grants `messaging.read`, `messaging.send`, `messaging.resolve`. */
  readonly messaging: MessagingService;
  /** Items that apps and people share. Grants `content.collections.read`, `.write`, `.manage`. */
  readonly content: ContentService;
  /** Files of this app, and those that others opened to it or its person handed to it. */
  readonly files: FilesService;
  /** Schedules of the account, for the platform's own app that manages them. Grant `schedules.manage`. */
  readonly schedules: SchedulesService;
  /** Tools that this workload has for other apps. Grant `mcp.tools.serve`. */
  readonly tools: ToolsService;
  readonly #access: { readonly api: string; readonly token: string };
  readonly #objectStorage: ObjectStorage | null;

  constructor(options: PlatformServicesOptions) {
    const { apiUrl, gatewayToken, objectStorage = null, toolsPath } = options;
    this.#objectStorage = objectStorage;
    this.#access = { api: apiUrl.replace(/\/$/, ''), token: gatewayToken };
    this.notifications = notificationsService(this.#access);
    this.search = searchService(this.#access);
    this.workflows = workflowsService(this.#access);
    this.messaging = messagingService(this.#access);
    this.content = contentService(this.#access);
    this.files = filesService(this.#access);
    this.schedules = schedulesService(this.#access);
    this.tools = toolsService(this.#access, toolsPath);
  }

  /**
   * A client for the installation this process belongs to.
   *
   * @param environment where to find PLATFORM_API_URL, PLATFORM_GATEWAY_TOKEN and the rest; default `process.env`
   * @throws {PlatformError} `not_launched` when the platform did not start this process
   */
  static fromEnv(environment: Readonly<Record<string, string | undefined>> = process.env): PlatformServicesClient {
    const { PLATFORM_API_URL: apiUrl, PLATFORM_GATEWAY_TOKEN: gatewayToken } = environment;
    if (!apiUrl || !gatewayToken) {
      throw new PlatformError({
        code: 'not_launched',
        detail:
          'PLATFORM_API_URL or PLATFORM_GATEWAY_TOKEN is missing: this process was not started by the platform. Run it with `./platform dev`.',
      });
    }
    return new PlatformServicesClient({
      ...{ apiUrl, gatewayToken, objectStorage: objectStorageFrom(environment) },
      toolsPath: environment.PLATFORM_MCP_PATH,
    });
  }

  /** The outside service behind a secret slot of the manifest. Grants `secrets.use` and `network.connect`. */
  outbound(slot: string): OutboundService {
    return outboundService(this.#access, slot);
  }

  /** Apps that the account installed or published, those covered by the grant `apps.catalog.read`. */
  listApps(options?: PageOptions): Promise<Page<ServicesApp>> {
    return listApps(this.#access, options);
  }

  /**
   * Hands in an app for the person of the account, who accepts it in the shell or not. Grant `apps.create`.
   *
   * @throws {PlatformError} `invalid_request` with what is wrong in `errors`, `version_exists` for a version that is not the highest,
   *   `not_authorized` for the id of an app that this one did not make, `concurrency_limited` while too many wait for the person
   */
  makeApp(app: AppToMake, options?: CallOptions): Promise<MadeDraft> {
    return makeApp(this.#access, app, options);
  }

  /** Inventory of the whole platform, for an app of the master account. Grant `system.inventory.read`. */
  system(options?: CallOptions): Promise<SystemInventory> {
    return readSystem(this.#access, options);
  }

  /** Accounts of the platform by name, for an app of the master account. Grant `system.inventory.read`. */
  systemAccounts(options?: AccountListOptions): Promise<Page<ListedAccount>> {
    return listAccounts(this.#access, options);
  }

  /**
   * An AI provider, for a stock client or for requests of its own. Grant `intelligence.use` on `<provider>:<model>`.
   *
   * @param provider its id, as the operator chose it
   */
  intelligence(provider: string): Intelligence {
    return intelligenceOf(this.#access, provider);
  }

  /**
   * The official client of the Model Context Protocol, connected to the tools of the platform and of other apps. Grant `mcp.tools.call`
   * or `mcp.tools.propose` on the tools.
   *
   * @param official the package `@modelcontextprotocol/client`, or its import
   * @throws {PlatformError} `grant_missing`, `not_found` for an app that serves no tools, and `invalid_request` without the package
   *
   * @example
   * ```ts
   * const tools = await platform.mcp(import('@modelcontextprotocol/client'));
   * await tools.callTool({ name: 'notes.add', arguments: { text: 'Milk' } });
   * ```
   */
  mcp<Official extends McpClientPackage>(
    official: Official | Promise<Official>,
    options?: WorkloadMcpOptions<Official>,
  ): Promise<InstanceType<Official['Client']>> {
    return connectMcp(this.#access, official, options);
  }

  /**
   * The options of an S3 client for this installation's object storage; `null` without the grant `object-storage.raw`, or
   * where the platform offers none.
   */
  objectStorage(): ObjectStorage | null {
    return this.#objectStorage;
  }

  /**
   * Runs a workflow function to its end, or gives the result it ended with. After a crash, running it again goes on where
   * it was: completed activities give their results, the function itself is executed from its start.
   *
   * @throws what the function threw, which ends the run; {PlatformError} `workflow_failed` for a run that failed before,
   *   `workflow_not_running` for one that was cancelled or expired, `workflow_conflict` for an idempotency key that has
   *   another input, and what the platform refused, after which the run can be run again
   */
  runWorkflow<Input, Result>(options: WorkflowOptions<Input>, run: WorkflowFunction<Input, Result>): Promise<Result> {
    return runWorkflow(this.#access, options, run);
  }

  /**
   * Executes every run of these definitions that is still running. Call it when the app starts.
   *
   * @returns how each of them came out, once all have
   */
  resumeWorkflows(
    definitions: readonly WorkflowDefinition[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<ResumedRun[]> {
    return resumeWorkflows(this.#access, definitions, options);
  }

  /**
   * Another capability like PLATFORM_APP_CAPABILITY, for clients that this workload lets in itself. It lasts 12 hours; the
   * present one keeps its time. Ask for one when the present one nears its end, or was ended by the owner.
   */
  renewAppCapability(options?: CallOptions): Promise<AppCapability> {
    return renewAppCapability(this.#access, options);
  }

  /**
   * Whether a client of this workload's own protocol, on a public UDP port or inside a WebSocket, presented a capability of
   * this installation that is valid now: one of a launch, or one of this workload's own.
   */
  verifyCapability(capability: string, options?: CallOptions): Promise<boolean> {
    return verifyCapability(this.#access, capability, options);
  }

  /**
   * Keeps this workload awake while it works without receiving requests. Needs no grant.
   *
   * @throws {PlatformError} `concurrency_limited` beyond 64 leases at the same time
   */
  acquireWorkLease(options?: WorkLeaseOptions): Promise<WorkLeaseHandle> {
    return acquireWorkLease(this.#access, options);
  }

  /** Renews a lease for its duration; returns when it will end. @throws {PlatformError} `not_found` when it is over */
  renewWorkLease(id: string, options?: RenewOptions): Promise<Date> {
    return renewWorkLease(this.#access, id, options);
  }

  /** Ends a lease. @throws {PlatformError} `not_found` when it is over */
  releaseWorkLease(id: string, options?: CallOptions): Promise<void> {
    return releaseWorkLease(this.#access, id, options);
  }
}

/** For a workload that only needs notifications; the same name as in a frontend. */
export const Notifications = {
  /** @throws {PlatformError} `not_launched` when the platform did not start this process */
  async connect(): Promise<NotificationsService> {
    return PlatformServicesClient.fromEnv().notifications;
  },
};
