/**
 * Every statement, one line a kind: what it needs of the account that sends it, and what runs it. A kind without a line does not build.
 * The work is in `statement/`.
 */
import type { Connection } from "./connection.ts";
import type { QueryContext } from "./query-context.ts";
import type { StatementResult } from "./statement-result.ts";
import type { Tql } from "./sql/syntax/ast.ts";
import type { Statement } from "./sql/syntax/statement-ast.ts";
import { admin, adminReads } from "./statement/admin.ts";
import { alterDatabase } from "./statement/table/alter-database.ts";
import { alterTable } from "./statement/table/alter-table.ts";
import { comment } from "./statement/comment.ts";
import { copy } from "./statement/rows/copy.ts";
import { createDatabase, dropDatabase } from "./statement/table/create-database.ts";
import { createTableAs } from "./statement/rows/create-table-as.ts";
import { createTableLike } from "./statement/table/create-table-like.ts";
import { createTable, dropTable } from "./statement/table/create-table.ts";
import { closeCursor, declareCursor, fetchCursor } from "./statement/cursor.ts";
import { deleteFrom } from "./statement/rows/delete.ts";
import { explain } from "./statement/show/explain.ts";
import { createExternalTable } from "./statement/table/external-table.ts";
import { insert } from "./statement/rows/insert.ts";
import { deallocate, executePrepared, prepare } from "./statement/prepared-statement.ts";
import { setVariable, showVariable, use } from "./statement/show/session-statement.ts";
import { showDatabases, showTables } from "./statement/show/show.ts";
import { describe, showCreateDatabase, showCreateTable } from "./statement/show/show-create.ts";
import { kill } from "./statement/kill.ts";
import { changeFlow, showCreateFlow } from "./statement/flow.ts";
import { showListing } from "./statement/show/show-listing.ts";
import { createView, dropView, showCreateView } from "./statement/view.ts";
import { truncate } from "./statement/table/truncate.ts";
import { update } from "./statement/rows/update.ts";
import { type ExecOptions, select } from "./statement/shared/select.ts";
import { BOTH, joined, LOOKS_AND_WRITES, NOTHING, queriesOf, READS, type StatementNeeds, WRITES } from "./statement-needs.ts";

export type { ExecOptions } from "./statement/shared/select.ts";

/** What a kind of statement is. */
export interface StatementKind<S extends Statement> {
  readonly needs: StatementNeeds | ((statement: S, connection: Connection | undefined) => StatementNeeds);
  readonly run: (statement: S, context: QueryContext, options: ExecOptions) => StatementResult | Promise<StatementResult>;
}

type Of<K extends Statement["kind"]> = Extract<Statement, { kind: K }>;
type StatementKinds = { readonly [K in Statement["kind"]]: StatementKind<Of<K>> };

const STATEMENTS: StatementKinds = {
  select: { needs: READS, run: select },
  "set-operation": { needs: READS, run: select },
  "values-query": { needs: READS, run: select },
  with: { needs: READS, run: select },
  tql: { needs: READS, run: tql },
  explain: {
    needs: ({ analyze, statement }, connection) => (analyze ? joined(READS, needsOf(statement, connection)) : READS),
    run: explain,
  },
  "declare-cursor": { needs: BOTH, run: declareCursor }, // a write by the contract
  fetch: { needs: READS, run: fetchCursor },
  "close-cursor": { needs: WRITES, run: closeCursor },
  prepare: { needs: ({ prepared }) => (prepared === undefined ? BOTH : needsOf(prepared.statement, undefined)), run: prepare },
  execute: { needs: needsOfExecute, run: execute },
  deallocate: { needs: NOTHING, run: deallocate },

  insert: { needs: WRITES, run: insert },
  update: { needs: BOTH, run: update }, // what a row is set to may be what another column holds
  delete: { needs: LOOKS_AND_WRITES, run: deleteFrom },
  copy: { needs: needsOfCopy, run: copy },
  truncate: { needs: WRITES, run: truncate },

  "create-table": { needs: WRITES, run: createTable },
  "create-table-as": { needs: WRITES, run: createTableAs },
  "create-table-like": { needs: WRITES, run: createTableLike },
  "create-external-table": { needs: LOOKS_AND_WRITES, run: createExternalTable },
  "alter-table": { needs: LOOKS_AND_WRITES, run: alterTable }, // a change of type converts values
  "drop-table": { needs: WRITES, run: dropTable },
  "create-view": { needs: WRITES, run: createView },
  "drop-view": { needs: WRITES, run: dropView },
  "create-flow": { needs: WRITES, run: changeFlow },
  "drop-flow": { needs: WRITES, run: changeFlow },
  "create-database": { needs: WRITES, run: createDatabase },
  "alter-database": { needs: WRITES, run: alterDatabase },
  "drop-database": { needs: WRITES, run: dropDatabase },
  comment: { needs: WRITES, run: comment },

  "show-databases": { needs: READS, run: showDatabases },
  "show-tables": { needs: READS, run: showTables },
  "show-create-table": { needs: READS, run: showCreateTable },
  "show-create-database": { needs: READS, run: showCreateDatabase },
  "show-create-view": { needs: READS, run: ({ name }, context) => showCreateView(name, context) },
  "show-create-flow": { needs: READS, run: ({ name }) => showCreateFlow(name) },
  "show-listing": { needs: READS, run: showListing },
  "show-variable": { needs: READS, run: showVariable },
  describe: { needs: READS, run: describe },

  admin: { needs: needsOfAdmin, run: admin },
  kill: { needs: NOTHING, run: kill }, // whose statement it may end is asked there
  use: { needs: WRITES, run: use },
  "set-variable": { needs: WRITES, run: setVariable },
};

/**
 * Runs one statement. A SELECT is planned now and runs while its batches are read; everything else is done when the promise resolves.
 *
 * @throws DbError
 */
export async function executeStatement(statement: Statement, context: QueryContext, options: ExecOptions = {}): Promise<StatementResult> {
  return kindOf(statement).run(statement, context, options);
}

/**
 * What a statement needs. A prepared one needs what it runs, where it is prepared and where it is run; one of a name that does not exist
 * is an error, whoever asks.
 */
export function needsOf(statement: Statement, connection: Connection | undefined): StatementNeeds {
  const { needs } = kindOf(statement);
  return typeof needs === "function" ? needs(statement, connection) : joined(needs, queriesOf(statement));
}

function kindOf(statement: Statement): StatementKind<Statement> {
  return STATEMENTS[statement.kind] as StatementKind<Statement>; // the line of the statement's own kind
}

function needsOfExecute(statement: Of<"execute">, connection: Connection | undefined): StatementNeeds {
  const prepared = connection?.prepared.get(statement.name)?.statement;
  return joined(prepared === undefined ? READS : needsOf(prepared, undefined), queriesOf(statement));
}

/** To write; what is about backups, to read as well: they hold all tables. */
function needsOfAdmin(statement: Of<"admin">): StatementNeeds {
  return joined(adminReads(statement) ? BOTH : WRITES, queriesOf(statement));
}

/** Out of the tables, and into a file; or the other way round. */
function needsOfCopy(statement: Of<"copy">): StatementNeeds {
  return joined(statement.direction === "to" ? BOTH : LOOKS_AND_WRITES, queriesOf(statement));
}

function execute(statement: Of<"execute">, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  return executePrepared(statement, context, (inner, own) => executeStatement(inner, own, options));
}

/** TQL EXPLAIN and TQL ANALYZE are EXPLAIN of TQL EVAL. */
function tql(statement: Tql, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { mode, verbose, format, span } = statement;
  if (mode === "eval") return select(statement, context, options);
  const query: Statement = { ...statement, mode: "eval" };
  return explain({ kind: "explain", analyze: mode === "analyze", verbose, format, statement: query, span }, context, options);
}
