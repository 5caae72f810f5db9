/**
 * Prepared statements: a statement whose values come later. It is parsed once; while it is described it is planned with open places,
 * and each place tells which type it asks for: `host = ?` the type of `host`, `?::INT` Int32, `LIMIT ?` Int64, a value of INSERT that of
 * its column. With values it is planned again, as if they were written there. What the MySQL and PostgreSQL servers prepare by.
 *
 * The value of a place:
 *
 * | type of the place  | what a client gives                                                                             |
 * |--------------------|-------------------------------------------------------------------------------------------------|
 * | whole number, float, boolean | a number or a text of one; a float that is not whole stays a float                     |
 * | text               | anything, as text                                                                               |
 * | timestamp          | a whole number in the column's unit, or a text in the session's time zone                        |
 * | unknown            | as it is                                                                                        |
 */
import { tableNotFound } from "../../table/not-found.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import { type DataType, displayName } from "../../column/data-type.ts";
import { inTurns, Pace } from "../../base/scheduler/pace.ts";
import { canCast, castValue } from "../../value/cast.ts";
import type { Environment, Placeholders } from "../function/signature/environment.ts";
import { floatText } from "../../value/number-text.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import { textOf } from "../function/value/value.ts";
import { bind } from "../plan/bind/bind.ts";
import { castTo } from "../plan/bind/coerce.ts";
import { withShownNames } from "../postgres/shown-names.ts";
import { newPlanner, planInSteps } from "../plan/plan-query.ts";
import { environmentOf } from "../plan/common/planner.ts";
import { resolveName } from "../plan/from/source.ts";
import type { Steps } from "../plan/bind/steps.ts";
import { planTql } from "../plan/tql.ts";
import type { ParameterValue, PreparedQuery } from "../prepared-query.ts";
import type { QueryContext } from "../query-context.ts";
import type { Expression, Query, Select, Tql } from "../sql/syntax/ast.ts";
import { plainSelect } from "../sql/syntax/plain-trees.ts";
import { treeRows } from "../sql/syntax/row-trees.ts";
import type { Insert, PreparedTree, Statement, Update } from "../sql/syntax/statement-ast.ts";
import { targetTable } from "./table/table-to-change.ts";
import { updatedRows } from "./rows/update.ts";

/** Notes types of places. */
class OpenPlaces implements Placeholders {
  readonly types: (DataType | undefined)[];

  constructor(count: number) {
    this.types = Array.from({ length: count }, () => undefined);
  }

  valueOf(): "open" {
    return "open";
  }

  note(index: number, type: DataType): void {
    if (type.kind !== "null") this.types[index] ??= type;
  }
}

/** What given values stand for. */
class GivenValues implements Placeholders {
  private readonly values: readonly ParameterValue[];

  constructor(values: readonly ParameterValue[]) {
    this.values = values;
  }

  valueOf(index: number): ParameterValue | undefined {
    return this.values[index];
  }

  note(): void {
    // Types are settled.
  }
}

/**
 * Describes one statement, with turns for others while it is planned.
 *
 * @param text what it was parsed from
 * @throws DbError TableNotFound and, without placeholders, those of planning
 */
export async function prepareQuery(
  { statement, parameterCount }: PreparedTree,
  text: string,
  context: QueryContext,
): Promise<PreparedQuery> {
  const places = new OpenPlaces(parameterCount);
  const columns = await described(statement, places, context);
  return { statement, text, parameters: places.types, columns };
}

async function described(statement: Statement, places: OpenPlaces, context: QueryContext): Promise<readonly ColumnHeader[] | undefined> {
  const { clock, scheduler, signal } = context;
  try {
    const environment = { ...environmentOf(clock, context.variables), placeholders: places };
    return await inTurns(describe(statement, environment, context), { signal, pace: new Pace(scheduler) });
  } catch (thrown) {
    // An open place may leave a function or a constant without a type: the values will tell.
    const isOpen = thrown instanceof DbError && (thrown.code === StatusCode.PlanQuery || thrown.code === StatusCode.Unsupported);
    if (places.types.length > 0 && isOpen) return undefined;
    throw thrown;
  }
}

function* describe(statement: Statement, environment: Environment, context: QueryContext): Steps<readonly ColumnHeader[] | undefined> {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
    case "tql":
      return yield* columnsOf(statement, environment, context);
    case "explain":
      yield* describe(statement.statement, environment, context);
      return undefined;
    case "insert":
      yield* describeInsert(statement, environment, context);
      return undefined;
    case "delete":
      yield* columnsOf(rowsOf(statement), environment, context);
      return undefined;
    case "update":
      yield* columnsOf(typedUpdate(statement, environment, context), environment, context);
      return undefined;
    default:
      return undefined;
  }
}

function* columnsOf(query: Query | Tql, environment: Environment, context: QueryContext): Steps<readonly ColumnHeader[]> {
  const planner = newPlanner(context, environment, true);
  if (query.kind === "tql") return planTql(query, planner).columns;
  return (yield* planInSteps(environment.isPostgres === true ? withShownNames(query) : query, planner)).columns;
}

/** The rows that an UPDATE writes, so that a placeholder which is assigned has its column's type. */
function typedUpdate(statement: Update, environment: Environment, context: QueryContext): Select {
  const { schema } = targetTable(statement.table, {
    ...context,
    variables: { ...context.variables, database: environment.database },
  }).table;
  const rows = updatedRows(statement, schema);
  const items = rows.items.map((item): Select["items"][number] => {
    const type = item.kind === "expression" ? schema.columns.find(({ name }) => name === item.alias)?.type : undefined;
    if (item.kind !== "expression" || type === undefined || item.expression.kind !== "placeholder") return item;
    return { ...item, expression: { kind: "cast", operand: item.expression, type, safe: false, span: item.expression.span } };
  });
  return { ...rows, items };
}

/** The rows that a DELETE finds. */
function rowsOf({ table, where, span }: Extract<Statement, { kind: "delete" }>): Select {
  const items = [{ kind: "star", table: undefined, span }] as const;
  const from = { kind: "table", name: table, alias: undefined, span } as const;
  return plainSelect({ items, from, where, span });
}

/** Rows of an INSERT that are looked at between two turns of others. */
const ROWS_AT_ONCE = 256;

function* describeInsert({ table, columns, source }: Insert, environment: Environment, context: QueryContext): Steps<void> {
  const name = resolveName(table, environment.database);
  const schema = context.catalog.table(name.database, name.table)?.schema;
  if (schema === undefined) throw tableNotFound(name.database, name.table);
  if (source.kind !== "values") {
    yield* columnsOf(source, environment, context);
    return;
  }
  const named = columns === undefined ? schema.columns : columns.map((each) => schema.columns.find((column) => column.name === each));
  // Double-quoted names of VALUES are texts.
  const intercept = (node: Expression): ReturnType<typeof bind> | undefined =>
    node.kind === "column" && node.quoted ? { kind: "literal", type: { kind: "string" }, value: node.name[0] ?? "" } : undefined;
  let at = 0;
  // Constants are values whatever they are for.
  for (const row of treeRows(source.rows.filter(({ kind }) => kind !== "constants"))) {
    if (at++ % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) yield;
    for (const [i, value] of row.entries()) {
      const type = named[i]?.type;
      if (value.kind === "default") continue;
      const bound = bind(value, { scope: [], environment, intercept });
      if (type !== undefined && bound.kind === "parameter") castTo(bound, type, environment);
    }
  }
}

/**
 * What the placeholders of a statement stand for, once its values are given.
 *
 * @throws DbError InvalidArguments for another number of values than placeholders, and for a value that its place cannot take
 */
export function placeholdersOf({ parameters }: PreparedQuery, values: readonly ParameterValue[], timeZone: string): Placeholders {
  if (values.length !== parameters.length) {
    throw invalidArguments(
      `Invalid request parameter: the statement has ${parameters.length} parameters, but ${values.length} values were given`,
    );
  }
  return new GivenValues(values.map((value, i) => suited(value, parameters[i], timeZone)));
}

/** A value as its place takes it. */
function suited(given: ParameterValue, type: DataType | undefined, timeZone: string): ParameterValue {
  if (type === undefined || given.value === undefined) return type === undefined ? given : { type, value: undefined };
  if (given.type.kind === type.kind && (type.kind !== "int" || isPlainInt(given, type))) return given;
  switch (type.kind) {
    case "int":
    case "boolean":
      // A fraction is compared as it is: `a = 1.5` finds no whole number.
      if (given.type.kind === "float" && !Number.isInteger(given.value)) return given;
      return converted(given, type, timeZone);
    case "float":
      return converted(given, type, timeZone);
    case "string":
      return { type, value: given.type.kind === "float" ? floatText(Number(given.value)) : converted(given, type, timeZone).value };
    case "timestamp":
      if (given.type.kind === "int") return { type, value: BigInt(given.value as number | bigint) };
      if (given.type.kind === "string" && parseTimestamp(textOf(given.value).trim(), timeZone) === undefined) {
        if (!/^\s*[+-]?\d+\s*$/.test(textOf(given.value))) throw cannotConvert(given, type);
      }
      return given;
    default:
      return given;
  }
}

/** Whether nothing is left to convert. */
function isPlainInt({ type: given, value }: ParameterValue, type: Extract<DataType, { kind: "int" }>): boolean {
  return given.kind === "int" && given.bits === type.bits && given.signed === type.signed && typeof value === "number";
}

function converted(given: ParameterValue, type: DataType, timeZone: string): ParameterValue {
  if (!canCast(given.type, type)) throw cannotConvert(given, type);
  try {
    return { type, value: castValue(given.value, given.type, type, { timeZone }) };
  } catch (thrown) {
    if (!(thrown instanceof DbError) || thrown.code !== StatusCode.EngineExecuteQuery) throw thrown;
    throw cannotConvert(given, type, thrown);
  }
}

/** The words that clients of the contract know. */
function cannotConvert({ value }: ParameterValue, type: DataType, cause?: unknown): DbError {
  const name = displayName(type);
  const shown = textOf(value).slice(0, 80);
  return new DbError(
    StatusCode.InvalidArguments,
    `Invalid request parameter: Unable to convert ${shown} to datatype ${name}(${name}Type)`,
    cause === undefined ? undefined : { cause },
  );
}
