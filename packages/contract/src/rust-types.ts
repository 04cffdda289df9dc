// Writes the wire types and routes of the Rust client (sdk-rust/src/wire.rs) from the OpenAPI document: what a workload
// sends and receives at the services that the client calls.

type Schema = {
  readonly type?: string | readonly string[];
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
};

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

export const RUST_TYPES_FILE = new URL('../../../sdk-rust/src/wire.rs', import.meta.url);

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly problem: Schema } };
}

/** The routes that the client calls, with the names of their body, of their answer, and of items in a page. */
const ROUTES: Readonly<Record<string, { readonly body?: string; readonly answer?: string; readonly items?: string }>> =
  {
    'services.apps.list': { items: 'ServicesApp' },
    'services.system.read': { answer: 'SystemInventory' },
    'services.notifications.list': { items: 'Notification' },
    'services.notifications.publish': { body: 'PublishNotification', answer: 'NotificationAnswer' },
    'services.notifications.read': { answer: 'NotificationAnswer' },
    'services.notifications.readAll': { answer: 'ReadAllAnswer' },
    'services.notifications.stream': {},
    'services.search.replace': { body: 'SearchEntries', answer: 'IndexedAnswer' },
    'services.search.upsert': { body: 'SearchEntries', answer: 'IndexedAnswer' },
    'services.search.remove': {},
    'services.search.clear': {},
    'services.messaging.identity': { answer: 'MessagingIdentityAnswer' },
    'services.messaging.resolve': { answer: 'MessagingContactAnswer' },
    'services.messaging.conversations': { items: 'Conversation' },
    'services.messaging.direct': { body: 'OpenDirect', answer: 'ConversationAnswer' },
    'services.messaging.accept': { answer: 'ConversationAnswer' },
    'services.messaging.decline': { answer: 'ConversationAnswer' },
    'services.messaging.leave': { answer: 'ConversationAnswer' },
    'services.messaging.block': { answer: 'ConversationAnswer' },
    'services.messaging.read': { body: 'ReadConversation', answer: 'ConversationAnswer' },
    'services.messaging.messages': { items: 'ConversationMessage' },
    'services.messaging.send': { body: 'SendMessage', answer: 'MessageAnswer' },
    'services.messaging.sync': { body: 'MessagingSync', answer: 'MessagingNews' },
    'services.wallet.payments': { body: 'ProposePayment', answer: 'WalletProposalAnswer' },
    'services.wallet.policies': { body: 'ProposePolicy', answer: 'WalletProposalAnswer' },
    'services.wallet.proposal': { answer: 'WalletProposalAnswer' },
    'services.content.create': { body: 'CreateCollection', answer: 'CollectionAnswer' },
    'services.content.list': { items: 'Collection' },
    'services.content.read': { answer: 'CollectionAnswer' },
    // Its body tells a member that is null from one that is missing, which no type of this client does.
    'services.content.change': { answer: 'CollectionAnswer' },
    'services.content.delete': {},
    'services.content.items': { items: 'ContentItem' },
    'services.content.items.read': {},
    'services.content.items.write': { answer: 'ContentItemAnswer' },
    'services.content.items.delete': {},
    'services.content.changes': { items: 'ContentChange' },
    'services.content.members': { items: 'ContentMember' },
    'services.content.members.invite': { body: 'InviteMember', answer: 'ContentInvitationAnswer' },
    'services.content.members.remove': {},
    'services.files.list': { items: 'AppFile' },
    'services.files.shared': { items: 'SharedFile' },
    'services.files.shared.read': {},
    'services.files.shared.write': { answer: 'UserFileAnswer' },
    'services.files.read': {},
    'services.files.write': { answer: 'AppFileAnswer' },
    'services.files.delete': {},
    'services.files.access.read': { answer: 'FileEntries' },
    'services.files.access.replace': { body: 'FileEntries', answer: 'FileEntries' },
    'services.mcp': {},
    'services.mcp.app': {},
    'services.workLeases.create': { body: 'CreateWorkLease', answer: 'WorkLeaseAnswer' },
    'services.workLeases.renew': { body: 'RenewWorkLease', answer: 'WorkLeaseAnswer' },
    'services.workLeases.release': {},
    'services.workflows.list': { items: 'WorkflowRun' },
    'services.appCapability.renew': { answer: 'AppCapability' },
    'services.appCapability.verify': { body: 'VerifyCapability', answer: 'VerifiedCapability' },
    'services.workflows.create': { body: 'CreateWorkflow', answer: 'WorkflowAnswer' },
    'services.workflows.read': { answer: 'WorkflowAnswer' },
    'services.workflows.delete': {},
    'services.workflows.history': { items: 'WorkflowEvent' },
    'services.workflows.claim': { body: 'ClaimActivity', answer: 'ClaimAnswer' },
    'services.workflows.renew': { body: 'RenewActivity', answer: 'ActivityAnswer' },
    'services.workflows.completeActivity': { body: 'CompleteActivity', answer: 'ActivityAnswer' },
    'services.workflows.complete': { body: 'CompleteWorkflow', answer: 'WorkflowAnswer' },
  };

/** Better names than those made of the type and the member. */
const NAMES: Readonly<Record<string, string>> = {
  SystemInventoryAccounts: 'SystemAccounts',
  SystemInventoryNodes: 'SystemNodes',
  SystemNodesItem: 'SystemNode',
  SystemInventoryCapacity: 'SystemCapacity',
  SystemInventoryInstallations: 'SystemInstallations',
  SystemInstallationsStates: 'SystemInstallationStates',
  SystemInstallationsLargest: 'SystemApp',
  SystemInventoryTraffic: 'SystemTraffic',
  SystemTrafficHourOutbound: 'SystemTrafficFigures',
  SystemInventoryTopology: 'SystemTopology',
  SystemTopologyEndpoint: 'SystemEndpoint',
  SystemTopologyLabel: 'SystemLabel',
  SystemInventoryUsage: 'SystemUsage',
  SystemUsagePackages: 'SystemPackages',
  PublishNotificationPresentation: 'PublishPresentation',
  PublishPresentationAction: 'PublishAction',
  NotificationAnswerNotification: 'Notification',
  NotificationPresentation: 'Presentation',
  PresentationAction: 'NotificationAction',
  SearchEntriesEntry: 'SearchEntry',
  MessagingIdentityAnswerIdentity: 'MessagingIdentity',
  MessagingIdentityTransport: 'MessagingTransport',
  MessagingContactAnswerContact: 'MessagingContact',
  ConversationMessageKind: 'MessageKind',
  ConversationMessageSender: 'MessageSender',
  SendMessageMessage: 'MessageText',
  WalletProposalAnswerProposal: 'WalletProposal',
  ProposePaymentAmount: 'Money',
  CollectionAnswerCollection: 'Collection',
  CollectionRole: 'ContentRole',
  ContentInvitationAnswerInvitation: 'ContentInvitation',
  ContentInvitationCollection: 'InvitedCollection',
  ContentInvitationRole: 'GivenRole',
  SharedFileAccess: 'FileAccess',
  SharedFileFrom: 'FileOwner',
  UserFileAnswerFile: 'UserFile',
  FileEntriesEntry: 'FileAccessEntry',
  FileAccessEntryPrincipal: 'FilePrincipal',
  WorkLeaseAnswerLease: 'WorkLease',
  WorkflowAnswerRun: 'WorkflowRun',
  WorkflowRunStatus: 'WorkflowStatus',
  WorkflowRunError: 'WorkflowError',
  WorkflowEventEvent: 'WorkflowEventKind',
  ClaimAnswerClaimedActivity: 'ClaimedActivity',
  ClaimAnswerCompletedActivity: 'CompletedActivity',
  ActivityAnswerActivity: 'WorkflowActivity',
};

/** @throws Error for a route that is gone, and for a schema that has no Rust type yet */
export function rustTypes(document: Document): string {
  const types = new RustTypes();
  const routes: string[] = [];
  types.name({ enum: document.components.schemas.problem.properties?.code?.enum ?? [] }, 'ErrorCode');
  for (const [id, { body, answer, items }] of Object.entries(ROUTES)) {
    const { path, method, operation } = find(document, id);
    routes.push(
      `    /// ${operation.summary}.`,
      `    pub(crate) const ${constant(id)}: Route = Route { method: Method::${method.toUpperCase()}, path: "${path}" };`,
    );
    const answered = Object.values(operation.responses).find(({ content }) => content?.['application/json'])?.content;
    const schema = answered?.['application/json']?.schema ?? {};
    if (items !== undefined) types.name(schema.properties?.items?.items ?? {}, items);
    if (answer !== undefined) types.name(schema, answer);
    if (body !== undefined) types.name(operation.requestBody?.content['application/json']?.schema ?? {}, body, true);
  }
  return [
    '// Made from openapi.json by `npm run openapi`; do not edit.',
    'use serde::{Deserialize, Serialize};',
    'use serde_json::Value;',
    '',
    'use crate::string_enum::string_enum;',
    '',
    ...types.declarations(),
    'pub(crate) mod routes {',
    '    use reqwest::Method;',
    '',
    '    use crate::call::Route;',
    '',
    ...routes,
    '}',
    '',
  ].join('\n');
}

function find(document: Document, id: string) {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === id) return { path, method, operation };
    }
  }
  throw new Error(`No route has the id ${id}.`);
}

interface Member {
  /** As the wire names it. */
  readonly name: string;
  readonly type: string;
  /** Left out when it has no value. */
  readonly optional: boolean;
  /** The only value there is. */
  readonly constant: string | undefined;
  /** What the schema says beyond the type; may be empty. */
  readonly doc: string;
}

class RustTypes {
  /** By what they declare apart from their name, so that equal shapes are one type. */
  readonly #names = new Map<string, string>();
  readonly #declared = new Map<string, string>();

  declarations(): string[] {
    return [...this.#declared.values()];
  }

  /**
   * Declares a schema under this name, unless an equal one is declared.
   *
   * @param isBody gets a constructor with what is required
   * @returns its name
   */
  name(schema: Schema, wanted: string, isBody = false): string {
    const name = NAMES[wanted] ?? wanted;
    if (schema.enum !== undefined) return this.#declare(name, ...enumeration(schema.enum));
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives !== undefined) return this.#declare(name, ...this.#union(alternatives, name));
    if (schema.type === 'object') return this.#declare(name, ...this.#struct(schema, name, isBody));
    throw new Error(`${name} has a type that is not supported: ${JSON.stringify(schema)}`);
  }

  #declare(name: string, before: string, after: string): string {
    const shape = before + after;
    const known = this.#names.get(shape);
    if (known !== undefined) return known;
    if (this.#declared.has(name)) throw new Error(`Two shapes are named ${name}.`);
    this.#names.set(shape, name);
    this.#declared.set(name, before + name + after.replaceAll('SELF', name));
    return name;
  }

  #struct(schema: Schema, name: string, isBody: boolean): [string, string] {
    const members = this.#members(schema, name, isBody);
    const declared = members.flatMap((member) => memberLines(member, 'pub '));
    const optional = members.filter((member) => member.optional).length;
    const made = isBody && optional > 0 && optional < members.length ? constructorLines(members) : [];
    const traits =
      isBody && optional === members.length ? 'Clone, Debug, Default, PartialEq' : 'Clone, Debug, PartialEq';
    return [
      `#[derive(${traits}, Serialize, Deserialize)]\n#[serde(rename_all = "camelCase")]\npub struct `,
      ` {\n${indented(declared)}}\n${made.join('')}`,
    ];
  }

  /** Told apart by a member with a constant value, or else by a member that only one of them has. */
  #union(alternatives: readonly Schema[], name: string): [string, string] {
    const [first] = alternatives;
    const tag = Object.entries(first?.properties ?? {}).find(([, { const: value }]) => value !== undefined)?.[0];
    const variants = alternatives.flatMap((schema) => {
      const { [tag ?? '']: marked, ...properties } = schema.properties ?? {};
      const others = alternatives.filter((other) => other !== schema);
      const own = Object.keys(properties).find((member) => others.every(({ properties: of = {} }) => !(member in of)));
      const variant = pascal(String(marked?.const ?? own ?? ''));
      const members = this.#members({ ...schema, properties }, name + variant, false);
      return [`#[serde(rename_all = "camelCase")]\n`, `${variant} {\n`].concat(
        members.flatMap((member) => memberLines(member, '')).map((line) => `    ${line}`),
        '},\n',
      );
    });
    const how = tag === undefined ? 'untagged' : `tag = "${tag}", rename_all = "camelCase"`;
    return [
      `#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n#[serde(${how})]\npub enum `,
      ` {\n${indented(variants)}}\n`,
    ];
  }

  #members({ properties = {}, required = [] }: Schema, owner: string, isBody: boolean): Member[] {
    return Object.entries(properties).map(([name, schema]) => {
      const type = this.#type(schema, owner + pascal(name), isBody);
      const isAny = type === 'Value';
      const optional = !required.includes(name);
      const wrapped = optional && !isAny && !type.startsWith('Option<') ? `Option<${type}>` : type;
      const constant = typeof schema.const === 'string' ? `${type}::${pascal(schema.const)}` : undefined;
      return { name, type: wrapped, optional, constant, doc: meaning(schema) };
    });
  }

  #type(schema: Schema, wanted: string, isBody: boolean): string {
    const choices = schema.oneOf ?? schema.anyOf ?? [];
    const present = choices.filter(({ type }) => type !== 'null');
    if (present.length === 1 && present.length < choices.length && present[0] !== undefined)
      return `Option<${this.#type(present[0], wanted, isBody)}>`;
    const kinds = [schema.type ?? []].flat();
    if (kinds.includes('null')) {
      const [type] = kinds.filter((kind) => kind !== 'null');
      return `Option<${this.#type({ ...schema, ...(type === undefined ? {} : { type }) }, wanted, isBody)}>`;
    }
    if (typeof schema.const === 'string') return this.name({ enum: [schema.const] }, wanted);
    if (schema.enum !== undefined || choices.length > 0) return this.name(schema, wanted, isBody);
    switch (schema.type) {
      case undefined:
        return 'Value';
      case 'object':
        return this.name(schema, wanted, isBody);
      case 'array':
        return `Vec<${this.#type(schema.items ?? {}, singular(wanted), isBody)}>`;
      case 'string':
        return 'String';
      case 'boolean':
        return 'bool';
      case 'number':
        return 'f64';
      case 'integer':
        return (schema.minimum ?? -1) < 0 ? 'i64' : 'u64';
      default:
        throw new Error(`${wanted} has a type that is not supported: ${JSON.stringify(schema)}`);
    }
  }
}

function enumeration(values: readonly string[]): [string, string] {
  const variants = values.map((value) => `${pascal(value)} = "${value}",\n`);
  return ['string_enum! {\n    pub enum ', ` {\n${indented(variants, 2)}    }\n}\n`];
}

function memberLines({ name, type, optional, doc }: Member, visibility: string): string[] {
  const attributes: string[] = [];
  if (optional) attributes.push('default');
  if (optional && type.startsWith('Option<')) attributes.push('skip_serializing_if = "Option::is_none"');
  if (camel(rustName(name)) !== name) attributes.push(`rename = "${name}"`);
  return [
    ...(doc === '' ? [] : [`/// ${doc}\n`]),
    ...(attributes.length === 0 ? [] : [`#[serde(${attributes.join(', ')})]\n`]),
    `${visibility}${rustName(name)}: ${type},\n`,
  ];
}

function constructorLines(members: readonly Member[]): string[] {
  const asked = members.filter(({ optional, constant }) => !optional && constant === undefined);
  const parameters = asked.map(
    ({ name, type }) => `${rustName(name)}: ${type === 'String' ? 'impl Into<String>' : type}`,
  );
  const value = ({ name, type, optional, constant }: Member) => {
    if (optional) return type === 'Value' ? ': Value::Null' : ': None';
    if (constant !== undefined) return `: ${constant}`;
    return type === 'String' ? `: ${rustName(name)}.into()` : '';
  };
  return [
    '\nimpl SELF {\n',
    '    /// With what is required, and the defaults of the platform for the rest.\n',
    `    pub fn new(${parameters.join(', ')}) -> Self {\n`,
    '        Self {\n',
    ...members.map((member) => `            ${rustName(member.name)}${value(member)},\n`),
    '        }\n    }\n}\n',
  ];
}

/** What the schema says beyond the type. */
function meaning(schema: Schema): string {
  const of = [schema, ...(schema.anyOf ?? [])].find(({ type }) => type !== undefined && type !== 'null') ?? schema;
  const { format, minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = of;
  const words: string[] = [];
  if (format === 'date-time') words.push('RFC 3339');
  if (of.type === 'integer' && maximum < Number.MAX_SAFE_INTEGER) words.push(`${minimum} to ${maximum}`);
  if (of.maxLength !== undefined) words.push(`${of.minLength ?? 0} to ${of.maxLength} characters`);
  if (schema.default !== undefined) words.push(`default \`${JSON.stringify(schema.default)}\``);
  const [first, ...more] = words;
  return first === undefined
    ? ''
    : `${[first.replace(/^[a-z]/, (letter) => letter.toUpperCase()), ...more].join(', ')}.`;
}

function indented(lines: readonly string[], depth = 1): string {
  return lines.map((line) => line.replaceAll(/^(?=.)/gm, '    '.repeat(depth))).join('');
}

/** `services.workLeases.create` as `WORK_LEASES_CREATE`. */
function constant(id: string): string {
  return id
    .replace(/^services\./, '')
    .replaceAll('.', '_')
    .replaceAll(/(?=[A-Z])/g, '_')
    .toUpperCase();
}

function pascal(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
}

const KEYWORDS: ReadonlySet<string> = new Set(['type', 'match', 'move', 'ref', 'use', 'where']);

function rustName(name: string): string {
  const snake = name.replaceAll('MiB', 'Mib').replaceAll(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`);
  return KEYWORDS.has(snake) ? `r#${snake}` : snake;
}

/** What serde makes of a Rust name. */
function camel(name: string): string {
  return name.replace(/^r#/, '').replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
