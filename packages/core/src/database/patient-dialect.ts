// Whatever PostgreSQL ended because it and another transaction waited for each other begins anew, wherever in core it was
// begun: a transaction from its beginning, a statement outside of any by itself. So `work` of a transaction changes nothing
// but the database, or does what else it does as its last step.
import {
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type TransactionBuilder,
  type TransactionSettings,
} from 'kysely';
import type { DatabaseSchema } from './schema.ts';
import { untilNoDeadlock } from './until-no-deadlock.ts';

export class PatientDatabase extends Kysely<DatabaseSchema> {
  constructor(config: PostgresDialectConfig) {
    super({ dialect: new PatientDialect(config) });
  }

  override transaction(): TransactionBuilder<DatabaseSchema> {
    const builder = super.transaction();
    const once = builder.execute.bind(builder);
    const execute: typeof once = (work) => untilNoDeadlock(() => once(work));
    return Object.assign(builder, { execute });
  }
}

class PatientDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): PatientDriver {
    return new PatientDriver(this.#config);
  }
}

class PatientDriver extends PostgresDriver {
  /** Connections with a transaction: a statement of one cannot begin anew by itself. */
  readonly #inTransaction = new WeakSet<DatabaseConnection>();
  readonly #known = new WeakSet<DatabaseConnection>();

  override async acquireConnection(...options: Parameters<PostgresDriver['acquireConnection']>) {
    const connection = await super.acquireConnection(...options);
    if (this.#known.has(connection)) return connection;
    this.#known.add(connection);
    const once = connection.executeQuery.bind(connection);
    const executeQuery: typeof once = (...query) =>
      this.#inTransaction.has(connection) ? once(...query) : untilNoDeadlock(() => once(...query));
    return Object.assign(connection, { executeQuery });
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    this.#inTransaction.add(connection);
    await super.beginTransaction(connection, settings);
  }

  override async releaseConnection(
    ...[connection, ...options]: Parameters<PostgresDriver['releaseConnection']>
  ): Promise<void> {
    this.#inTransaction.delete(connection);
    await super.releaseConnection(connection, ...options);
  }
}
