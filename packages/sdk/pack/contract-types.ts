// Writes types of the contract out in full, as a module of its own: what zod infers and what is declared by hand alike,
// with their comments, and without zod. Ids lose their brands, so that a program may keep and send them as strings.
import {
  type Checker,
  isLiteralType,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type TypeReference,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync';

/** Of a property that a mapped type made; a flag of the compiler that its API does not name. */
const READONLY = 8;

/**
 * @param entry the module that exports the types
 * @param names those that are wanted; what they name of the same module comes along
 * @throws Error for a type of a kind that the contract had no need of so far
 */
export function writeContractTypes(project: Project, entry: string, names: Iterable<string>): string {
  return new Writer(project, entry).write(names);
}

class Writer {
  readonly #project: Project;
  readonly #checker: Checker;
  /** What the module exports: the names of symbols by their ids, and the symbols by their names. */
  readonly #names = new Map<number, string>();
  readonly #symbols = new Map<string, TypeSymbol>();
  /** The names of objects that were inferred, by the ids of their types. */
  readonly #inferred = new Map<number, string>();
  /** Grows while it is walked. */
  readonly #wanted = new Set<string>();

  constructor(project: Project, entry: string) {
    this.#project = project;
    this.#checker = project.checker;
    const file = project.program.getSourceFile(entry);
    const module = file && this.#checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is no module of the program.`);
    for (const exported of this.#checker.getExportsOfModule(module)) {
      const symbol = exported.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
      this.#names.set(symbol.id, exported.name);
      this.#symbols.set(exported.name, symbol);
      if ((symbol.flags & SymbolFlags.TypeAlias) === 0) continue;
      const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
      if (type.flags & TypeFlags.Object) this.#inferred.set(type.id, exported.name);
    }
  }

  write(names: Iterable<string>): string {
    for (const name of names) this.#wanted.add(name);
    const written = new Map<string, string>();
    for (const name of this.#wanted) written.set(name, this.#declaration(name));
    return [...written]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, text]) => text)
      .join('\n');
  }

  #declaration(name: string): string {
    const symbol = this.#symbols.get(name);
    if (symbol === undefined) throw new Error(`The contract exports no type ${name}.`);
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const text = type.flags & TypeFlags.Object ? this.#structure(type, '') : this.#print(type, '', name);
    return `${this.#comment(symbol, '')}export type ${name} = ${text};\n`;
  }

  /** @param own the name that is being declared, which its own type must not refer to */
  #print(type: Type, indent: string, own?: string): string {
    const named = this.#nameOf(type);
    if (named !== undefined && named !== own) {
      this.#wanted.add(named);
      return named;
    }
    const { flags } = type;
    if (isLiteralType(type)) return literal(type.value);
    if (type.isIntrinsicType()) return type.intrinsicName;
    if (type.isUnionType()) return this.#union(type.getTypes(), indent);
    if (type.isIntersectionType()) {
      const base = type.getTypes().find((part) => part.flags & (TypeFlags.String | TypeFlags.Number));
      // A brand of zod: a primitive that is also an object.
      if (base !== undefined) return this.#print(base, indent);
      return this.#structure(type, indent);
    }
    if (flags & TypeFlags.Object) return this.#structure(type, indent);
    throw new Error(`Cannot write out ${this.#checker.typeToString(type)}.`);
  }

  #nameOf(type: Type): string | undefined {
    const symbol = type.getAliasSymbol() ?? (type.isClassOrInterface() ? type.getSymbol() : undefined);
    if (symbol === undefined) return this.#inferred.get(type.id);
    return type.getAliasTypeArguments().length > 0 ? undefined : this.#names.get(symbol.id);
  }

  #union(types: readonly Type[], indent: string): string {
    const parts = types.map((type) => this.#print(type, indent));
    const bothBooleans = parts.includes('true') && parts.includes('false');
    const kept = bothBooleans ? ['boolean', ...parts.filter((part) => part !== 'true' && part !== 'false')] : parts;
    // Absence last, as one writes it.
    const isAbsence = (part: string) => part === 'null' || part === 'undefined';
    return [...kept.filter((part) => !isAbsence(part)), ...kept.filter(isAbsence)].join(' | ');
  }

  #structure(type: Type, indent: string): string {
    if (this.#checker.isTupleType(type)) throw new Error(`Cannot write out ${this.#checker.typeToString(type)}.`);
    if (this.#checker.isArrayLikeType(type)) {
      const [item] = this.#checker.getTypeArguments(type as TypeReference);
      if (item === undefined) throw new Error(`Cannot write out ${this.#checker.typeToString(type)}.`);
      const isReadonly = type.getSymbol()?.name === 'ReadonlyArray';
      return `${isReadonly ? 'ReadonlyArray' : 'Array'}<${this.#print(item, indent)}>`;
    }
    const inner = `${indent}  `;
    const members = this.#checker.getPropertiesOfType(type).map((property) => this.#member(property, inner));
    for (const { keyType, valueType, isReadonly } of this.#checker.getIndexInfosOfType(type)) {
      const key = this.#print(keyType, inner);
      members.push(`${inner}${isReadonly ? 'readonly ' : ''}[key: ${key}]: ${this.#print(valueType, inner)};\n`);
    }
    return members.length === 0 ? '{}' : `{\n${members.join('')}${indent}}`;
  }

  #member(property: TypeSymbol, indent: string): string {
    const type = this.#checker.getTypeOfSymbol(property);
    if (type === undefined) throw new Error(`${property.name} has no type.`);
    const isOptional = (property.flags & SymbolFlags.Optional) !== 0;
    const name = /^[A-Za-z_$][\w$]*$/.test(property.name) ? property.name : literal(property.name);
    const text = isOptional && type.isUnionType() ? this.#optional(type.getTypes(), indent) : this.#print(type, indent);
    const prefix = this.#isReadonly(property) ? 'readonly ' : '';
    return `${this.#comment(property, indent)}${indent}${prefix}${name}${isOptional ? '?' : ''}: ${text};\n`;
  }

  /** Without the type that stands for an absent member, which is not the `undefined` that a program may give it. */
  #optional(types: readonly Type[], indent: string): string {
    const given = this.#checker.getUndefinedType().id;
    return this.#union(
      types.filter((type) => (type.flags & TypeFlags.Undefined) === 0 || type.id === given),
      indent,
    );
  }

  #isReadonly(property: TypeSymbol): boolean {
    if (property.checkFlags & READONLY) return true;
    const text = property.valueDeclaration?.resolve(this.#project)?.getText() ?? '';
    return text.startsWith('readonly ');
  }

  #comment(symbol: TypeSymbol, indent: string): string {
    const text = symbol.getDocumentationComment(this.#checker).trim();
    if (text === '') return '';
    const lines = text.split('\n');
    if (lines.length === 1) return `${indent}/** ${text} */\n`;
    return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */\n`].join('\n');
  }
}

function literal(value: string | number | boolean | bigint): string {
  return typeof value === 'string' ? `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'")}'` : String(value);
}
