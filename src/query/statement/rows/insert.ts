/**
 * INSERT: rows of literals or of a query become a `WriteBatch`. Columns that are left out take their default, else NULL.
 * Rows of a query are written in parts of `PART_ROWS`, each durable before the next is read.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { displayName, STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { Table } from "../../../table/catalog.ts";
import { isPhysicalTable, physicalWriteRefusal } from "../../../table/metric.ts";
import { type RowColumn, RowBatchBuilder } from "../../../table/row-batch-builder.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import { tagText } from "../../../table/tag-value.ts";
import { checkCancelled } from "../../../base/pace.ts";
import type { ExecContext } from "../../operator/contract/exec-context.ts";
import { castInTurns, constantValue } from "../../expression/row-values.ts";
import { execContextOf, type ExecOptions, prepareSelect } from "../shared/select.ts";
import { answer } from "../../operator/answer.ts";
import { pieces } from "../../operator/rows/pieces.ts";
import { canCast } from "../../../value/cast.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { hintedDocument } from "../../function/json/json-hints.ts";
import { rescale } from "../../../value/time-units.ts";
import { isInterval, type Value } from "../../function/value/value.ts";
import { isVolatile, literal } from "../../expression/expression.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { planError } from "../../plan/bind/plan-error.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import { CATALOG_NAME, resolveName } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression, ObjectName, Query } from "../../sql/syntax/ast.ts";
import type { Insert } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { checkWritable } from "../table/create-table.ts";
import { checkNoFileTable } from "../table/external-table.ts";
import { boundValue, literalValue, valueForColumn } from "../shared/literal-value.ts";
import { checkNoView } from "../shared/no-view.ts";

/** Rows of INSERT … SELECT in one write. */
const PART_ROWS = 16_384;
/** Rows between two turns of others: a row of ten columns takes 2 µs. */
const TURN_ROWS = 1024;

const invalid = (message: string): DbError => new DbError(StatusCode.InvalidArguments, message);

/** Where values of a statement go. */
export interface Target {
  readonly schema: TableSchema;
  /** The columns named, in the order of the values. */
  readonly named: readonly ColumnSchema[];
  readonly environment: Environment;
  /** Columns in which a NULL of a query is refused, since it would not be written as one. */
  readonly neverNull?: ReadonlySet<string> | undefined;
}

/** Inserts rows; the count is that of rows given. @throws DbError of contract query.md 1.6 */
export async function insert(statement: Insert, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const { database, table } = targetTable(statement.table, context);
  const target: Target = {
    schema: table.schema,
    named: namedColumns(statement, table.schema),
    environment: environmentOf(context.clock, context.variables),
  };
  const { source } = statement;
  const isInstant = table.schema.options["ttl"] === "instant";
  if (source.kind !== "values") {
    const rowCount = await insertSelect(source, target, database, context, options);
    return { kind: "affected", rowCount: isInstant ? 0 : rowCount };
  }
  const builder = new RowBatchBuilder(table.schema.name, rowColumns(table.schema));
  const exec = execContextOf(target.environment, context, options);
  for (const [i, row] of source.rows.entries()) {
    if (i > 0 && i % TURN_ROWS === 0) {
      checkCancelled(exec);
      await exec.pace.turn();
    }
    if (row.length !== target.named.length)
      throw invalid(`Invalid SQL, error: column count mismatch, columns: ${target.named.length}, values: ${row.length}`);
    const given: Given[] = [];
    for (const [at, column] of target.named.entries()) {
      const value = givenValue(row[at], column, target, exec);
      given.push(value instanceof Promise ? await value : value);
    }
    builder.add(completeRow(given, target));
  }
  // Rows of an "instant" table expire as they arrive, so they are checked and not written.
  if (isInstant) return { kind: "affected", rowCount: 0 };
  await write(builder, database, context);
  return { kind: "affected", rowCount: source.rows.length };
}

/** The table that rows are written to. @throws DbError TableNotFound, Unsupported for a table that takes none */
export function targetTable(named: ObjectName, context: QueryContext): { readonly database: string; readonly table: Table } {
  const name = resolveName(named, context.variables.database);
  checkWritable(name.database);
  const table = context.catalog.table(name.database, name.table);
  if (table === undefined) {
    checkNoView(name, "insert into", context);
    checkNoGraphTable(name);
    throw new DbError(StatusCode.TableNotFound, `Table not found: ${CATALOG_NAME}.${name.database}.${name.table}`);
  }
  if (isPhysicalTable(table.schema)) throw new DbError(StatusCode.Unsupported, physicalWriteRefusal(name.table));
  checkNoFileTable(table.schema);
  return { database: name.database, table };
}

function namedColumns(statement: Insert, schema: TableSchema): readonly ColumnSchema[] {
  if (statement.columns === undefined) return schema.columns;
  const named = statement.columns.map((name) => {
    const column = schema.columns.find((candidate) => candidate.name === name);
    if (column === undefined) throw new DbError(StatusCode.TableColumnNotFound, `Column ${name} not exists in table ${schema.name}`);
    return column;
  });
  const twice = named.find((column, i) => named.indexOf(column) !== i);
  if (twice !== undefined) throw invalid(`Invalid SQL, error: column ${twice.name} is named twice in INSERT`);
  return named;
}

/** Values that a builder takes: tags as text. */
export function rowColumns(schema: TableSchema): readonly RowColumn[] {
  return schema.columns.map(({ name, type, semantic }) => ({ name, type: semantic === "tag" ? STRING : type, semantic }));
}

/** What VALUES gives for a column, or DEFAULT. */
export type Given = { readonly value: Value } | "default";

/** A constant as it is; at once, unless it takes long to compute. */
function givenValue(
  expression: Expression | undefined,
  column: ColumnSchema,
  { environment }: Target,
  exec: ExecContext,
): Given | Promise<Given> {
  if (expression === undefined || expression.kind === "default") return "default";
  const { name, type } = column;
  const bound = boundValue(expression, environment);
  if (bound.kind === "literal") return { value: valueForColumn(bound, name, type, environment) };
  if (isVolatile(bound)) return { value: literalValue(expression, name, type, environment) };
  return constantValue(bound, exec).then((value) => ({ value: valueForColumn(literal(bound.type, value), name, type, environment) }));
}

/** A row of all columns: given values, defaults, NULLs; tags as text. @throws DbError InvalidArguments for a NULL where none may be */
export function completeRow(given: readonly Given[], target: Target): readonly Scalar[] {
  return target.schema.columns.map((column) => {
    const position = target.named.indexOf(column);
    const known = position < 0 ? undefined : given[position];
    const value = known === undefined || known === "default" ? defaultValue(column, known === "default", target) : known.value;
    if (value === undefined && !column.nullable) {
      if (column.semantic === "timestamp" && position < 0)
        throw invalid(`Invalid request for region, reason: missing required time index column ${column.name}`);
      throw invalid(`Invalid request to region, reason: column ${column.name} is not null but input has null`);
    }
    if (column.hints !== undefined && typeof value === "string") return hintedDocument(value, column.hints, column.name);
    return column.semantic === "tag" ? tagText(scalar(value), column.type) : scalar(value);
  });
}

function defaultValue(column: ColumnSchema, asked: boolean, { environment }: Target): Value {
  if (column.default?.kind === "literal") return column.default.value;
  if (column.default?.kind === "now")
    return column.type.kind === "timestamp" ? rescale(environment.now, "nanosecond", column.type.unit) : environment.now;
  if (asked && !column.nullable) throw invalid(`No valid default value can be built automatically, column: ${column.name}`);
  return undefined;
}

function scalar(value: Value): Scalar {
  if (isInterval(value)) throw invalid("Invalid SQL, error: an interval cannot be stored");
  return value;
}

/** @throws DbError InvalidArguments for a NULL that a table would take for "as it was" */
function checkNoNull(given: readonly Given[], named: readonly ColumnSchema[], neverNull: ReadonlySet<string>): void {
  for (const [i, { name }] of named.entries()) {
    const value = given[i];
    if (neverNull.has(name) && value !== "default" && value?.value === undefined)
      throw invalid(`cannot set column ${name} to NULL: with merge_mode 'last_non_null' a NULL keeps the older value`);
  }
}

async function write(builder: RowBatchBuilder, database: string, context: QueryContext): Promise<void> {
  if (builder.rowCount > 0) await context.writer.write(database, builder.batch(), { autoCreate: false, tableOptions: {} });
}

/**
 * Writes the rows of a query in parts; gives how many. @throws DbError of the query, and of contract query.md 1.6
 */
export async function insertSelect(
  query: Query,
  target: Target,
  database: string,
  context: QueryContext,
  options: ExecOptions,
): Promise<number> {
  const { plan, exec } = await prepareSelect(query, context, options);
  const { named, environment, schema, neverNull } = target;
  if (plan.columns.length !== named.length) throw planError("Column count doesn't match insert query!");
  for (const [i, column] of named.entries()) {
    const from = plan.columns[i]?.type ?? STRING;
    if (!canCast(from, column.type))
      throw planError(`cannot insert ${displayName(from)} into column ${column.name} of type ${displayName(column.type)}; cast it`);
  }
  let builder = new RowBatchBuilder(schema.name, rowColumns(schema));
  let total = 0;
  for await (const batch of answer(plan, exec)) {
    for (const { rowCount, vectors } of pieces(batch, TURN_ROWS)) {
      for (let row = 0; row < rowCount; row++) {
        const given: Given[] = [];
        for (const [i, { type }] of named.entries()) {
          const vector = vectors[i];
          const from = plan.columns[i]?.type ?? STRING;
          const value = vector === undefined ? undefined : castInTurns(scalarAt(vector, from, row), from, type, environment, exec);
          given.push({ value: value instanceof Promise ? await value : value });
        }
        if (neverNull !== undefined) checkNoNull(given, named, neverNull);
        builder.add(completeRow(given, target));
      }
      total += rowCount;
      checkCancelled(exec);
      await exec.pace.turn();
      if (builder.rowCount < PART_ROWS) continue;
      await context.admit?.(context.signal);
      await write(builder, database, context);
      builder = new RowBatchBuilder(schema.name, rowColumns(schema));
    }
  }
  await write(builder, database, context);
  return total;
}
