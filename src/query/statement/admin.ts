/** ADMIN functions: what only the engine can do (contract query.md 1.12). */
import { notSupported } from "../plan/bind/plan-error.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import type { Table } from "../../table/catalog.ts";
import { tableNotFound } from "../../table/not-found.ts";
import { nearestName } from "../../base/text/nearest.ts";
import { resolveName } from "../plan/from/source.ts";
import type { QueryContext } from "../query-context.ts";
import type { Expression } from "../sql/syntax/ast.ts";
import { printExpression } from "../sql/print/print.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../statement-result.ts";
import { checkCompactionKind, compactionRange } from "./table/compaction-parameters.ts";
import { rowsResult } from "./shared/rows-result.ts";

type Admin = Extract<Statement, { kind: "admin" }>;
type Run = (args: readonly string[], context: QueryContext) => Promise<number | string>;

interface AdminFunction {
  readonly args: readonly [min: number, max: number];
  /** Whether the first argument is the number of a region. */
  readonly takesRegion?: true;
  /** Whether it shows what is stored, so that who may only write may not call it. */
  readonly reads?: true;
  readonly run: Run;
}

/** Functions by name: how few and how many arguments, what they do. */
const FUNCTIONS: Readonly<Record<string, AdminFunction>> = {
  flush_table: { args: [1, 1], run: ([name = ""], context) => flush(tableNamed(name, context), context) },
  flush_region: { args: [1, 1], takesRegion: true, run: ([id = ""], context) => flush(tableOfRegion(id, context), context) },
  compact_table: { args: [1, 3], run: ([name = "", ...rest], context) => compact(tableNamed(name, context), rest, context) },
  build_index: { args: [1, 1], run: ([name = ""], context) => buildIndex(tableNamed(name, context), context) },
  backup_begin: { args: [0, 0], reads: true, run: async (_, { admin: { backups } }) => JSON.stringify(await backups.begin()) },
  backup_renew: { args: [1, 1], reads: true, run: async ([id = ""], { admin: { backups } }) => (backups.renew(id), 0) },
  backup_log_copied: { args: [1, 1], reads: true, run: async ([id = ""], { admin: { backups } }) => (await backups.releaseLog(id), 0) },
  backup_end: { args: [1, 1], reads: true, run: async ([id = ""], { admin: { backups } }) => (await backups.end(id), 0) },
  compact_region: { args: [1, 1], takesRegion: true, run: ([id = ""], context) => compact(tableOfRegion(id, context), [], context) },
};

/** Functions of clusters and of other servers: what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["migrate_region", "all regions are on this one server, so there is nowhere to move one to"],
  ["procedure_state", "statements here are done when they are answered, so there are no procedures to ask about"],
  ["reconcile_table", "tables have one description, which cannot differ from another"],
  ["reconcile_database", "tables have one description, which cannot differ from another"],
  ["reconcile_catalog", "tables have one description, which cannot differ from another"],
  ["gc_table", "files that nothing uses are deleted at once, and at the next start after a crash"],
  ["gc_regions", "files that nothing uses are deleted at once, and at the next start after a crash"],
  ["discard_unflushed", "rows that were acknowledged are kept; use TRUNCATE TABLE or DELETE to remove them"],
  ["purge_table", "DROP TABLE deletes a table's files at once"],
  ["flush_flow", "this server runs no flows"],
  ["build_index", "files get their indexes when they are written; ADMIN compact_table writes those anew that it merges"],
]);

/** A region id is the table's id and the region's number, of which a table here has one. */
const REGION_BITS = 32n;

async function flush({ schema }: Table, context: QueryContext): Promise<number> {
  await context.admin.flushTable(schema.database, schema.name);
  return 0;
}

/** Merges the files of each window. All kinds do the same: windows are 1, 8 and 64 days, whatever a client names. */
async function compact(table: Table, [kind, parameters]: readonly string[], context: QueryContext): Promise<number> {
  checkCompactionKind(kind ?? "regular");
  const { database, name } = table.schema;
  const range = compactionRange(parameters ?? "", table.schema, context);
  if (range === undefined) await context.admin.compactTable(database, name);
  else await context.admin.compactTable(database, name, range);
  return 0;
}

async function buildIndex({ schema }: Table, context: QueryContext): Promise<number> {
  await context.admin.buildIndexes(schema.database, schema.name);
  return 0;
}

/** A name that a table has as it is wins over one of several parts. */
function tableNamed(name: string, context: QueryContext): Table {
  const whole = context.catalog.table(context.variables.database, name);
  if (whole !== undefined) return whole;
  const { database, table } = resolveName(name.split("."), context.variables.database);
  const found = context.catalog.table(database, table);
  if (found === undefined) throw tableNotFound(database, table);
  return found;
}

function tableOfRegion(text: string, { catalog }: QueryContext): Table {
  const id = BigInt(text);
  for (const { name } of catalog.databases()) {
    const found = catalog.tables(name).find(({ schema }) => BigInt(schema.id) << REGION_BITS === id);
    if (found !== undefined) return found;
  }
  const number = `${id >> REGION_BITS}, region ${id & ((1n << REGION_BITS) - 1n)}`;
  throw new DbError(StatusCode.RegionNotFound, `Region not found: ${id} (table ${number}); a region's id is that of its table times 2^32`);
}

/** Runs an ADMIN function: one row, one column named as the call prints. @throws DbError InvalidArguments, and those of the function */
export async function admin(statement: Admin, context: QueryContext): Promise<StatementResult> {
  const found = FUNCTIONS[statement.name];
  if (found === undefined) throw unknownFunction(statement.name);
  const [min, max] = found.args;
  if (statement.args.length < min || statement.args.length > max) {
    throw invalidArguments(`Failed to build admin function args: Expected ${min} args, but actual ${statement.args.length}`);
  }
  const args = statement.args.map((arg, i) => (i === 0 && found.takesRegion === true ? regionArgument(arg) : textArgument(arg)));
  const value = await found.run(args, context);
  const name = `ADMIN ${statement.name}(${statement.args.map(printArgument).join(", ")})`;
  return rowsResult([{ name, type: typeof value === "string" ? STRING : INT64 }], [[value]]);
}

/** Whether a function shows what is stored. */
export function adminReads({ name }: Admin): boolean {
  return FUNCTIONS[name]?.reads === true;
}

function unknownFunction(name: string): DbError {
  const why = REFUSED.get(name);
  if (why !== undefined) return notSupported(`ADMIN ${name}: ${why}`);
  const near = nearestName(name, Object.keys(FUNCTIONS));
  return invalidArguments(`Admin function not found: ${name}${near === undefined ? "" : `. Did you mean '${near}'?`}`);
}

/** An argument as it was written: text may stand in double quotes. */
function printArgument(expression: Expression): string {
  const isText = expression.kind === "column" && expression.quoted;
  return isText ? `"${expression.name.join(".").replaceAll('"', '""')}"` : printExpression(expression);
}

function textArgument(expression: Expression): string {
  if (expression.kind === "string") return expression.value;
  if (expression.kind === "column" && expression.quoted) return expression.name.join(".");
  throw invalidArguments(`Failed to build admin function args: failed to cast ${printExpression(expression)}`);
}

/** A region id, as a number or as text. */
function regionArgument(expression: Expression): string {
  const text = expression.kind === "number" ? expression.text : expression.kind === "string" ? expression.value : "";
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return text;
  throw invalidArguments(`Failed to build admin function args: failed to cast ${printExpression(expression)}`);
}
