/**
 * DdlRequest → the statement that says the same, one line a member. The tree is what SQL would have been parsed to, so that checks,
 * permissions, errors and effects are those of SQL, without its text and its quoting in between.
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import { INT64_MAX } from "../../column/exact-integer.ts";
import type { Expression, Query, Tql } from "../../query/sql/syntax/ast.ts";
import type { CommentTarget, CreateFlow, CreateTable, CreateView } from "../../query/sql/syntax/definition-ast.ts";
import type { Statement } from "../../query/sql/syntax/statement-ast.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { TimeUnit as MessageUnit } from "../../../proto/gen/greptime/v1/common_pb.js";
import {
  type AlterDatabaseExpr,
  CommentObjectType,
  type CommentOnExpr,
  type CreateFlowExpr,
  type CreateTableExpr,
  type CreateViewExpr,
  type DdlRequest,
  type TruncateTableExpr,
} from "../../../proto/gen/greptime/v1/ddl_pb.js";
import { alterActions } from "./alter-actions.ts";
import { columnClause } from "./column-clauses.ts";
import { NO_SPAN, objectName, optionsOf, unsetOptions } from "./names.ts";

/** Parses the one statement of a text that a message holds. */
export type ParseText = (text: string) => Promise<Statement>;

const span = NO_SPAN;

/**
 * The statement of a request.
 *
 * @param parse for the queries of views and flows
 * @throws DbError InvalidArguments, InvalidSyntax, Unsupported
 */
export async function statementOf({ expr }: DdlRequest, parse: ParseText): Promise<Statement> {
  switch (expr.case) {
    case "createDatabase": {
      const { schemaName: name, createIfNotExists: ifNotExists, options } = expr.value;
      return { kind: "create-database", name, ifNotExists, options, span };
    }
    case "createTable":
      return createTableOf(expr.value);
    case "alterTable": {
      const { catalogName, schemaName, tableName } = expr.value;
      return { kind: "alter-table", name: objectName(catalogName, schemaName, tableName), actions: alterActions(expr.value), span };
    }
    case "dropTable": {
      const { catalogName, schemaName, tableName, dropIfExists: ifExists } = expr.value;
      return { kind: "drop-table", names: [objectName(catalogName, schemaName, tableName)], ifExists, span };
    }
    case "truncateTable":
      return truncateOf(expr.value);
    case "createFlow":
      return createFlowOf(expr.value, parse);
    case "dropFlow":
      return { kind: "drop-flow", name: [expr.value.flowName], ifExists: expr.value.dropIfExists, span };
    case "createView":
      return createViewOf(expr.value, parse);
    case "dropView": {
      const { catalogName, schemaName, viewName, dropIfExists: ifExists } = expr.value;
      return { kind: "drop-view", names: [objectName(catalogName, schemaName, viewName)], ifExists, span };
    }
    case "alterDatabase":
      return alterDatabaseOf(expr.value);
    case "commentOn":
      return {
        kind: "comment",
        target: commentTarget(expr.value),
        comment: expr.value.comment === "" ? undefined : expr.value.comment,
        span,
      };
    case undefined:
      throw invalidArguments("cannot run the DdlRequest: it is empty; set one of DdlRequest.expr");
  }
}

function createTableOf(expr: CreateTableExpr): CreateTable {
  const { catalogName, schemaName, tableName, desc, columnDefs, timeIndex, primaryKeys, createIfNotExists, tableOptions, engine } = expr;
  return {
    kind: "create-table",
    name: objectName(catalogName, schemaName, tableName),
    ifNotExists: createIfNotExists,
    columns: columnDefs.map(columnClause),
    primaryKey: primaryKeys.length === 0 ? undefined : primaryKeys,
    timeIndexes: timeIndex === "" ? [] : [[timeIndex]],
    partitions: undefined,
    engine: engine === "" ? undefined : engine,
    options: desc === "" ? tableOptions : { comment: desc, ...tableOptions },
    span,
  };
}

const UNITS: Readonly<Record<MessageUnit, TimeUnit>> = {
  [MessageUnit.SECOND]: "second",
  [MessageUnit.MILLISECOND]: "millisecond",
  [MessageUnit.MICROSECOND]: "microsecond",
  [MessageUnit.NANOSECOND]: "nanosecond",
};

function truncateOf({ catalogName, schemaName, tableName, timeRanges }: TruncateTableExpr): Statement {
  const unit = UNITS[timeRanges?.timeUnit ?? MessageUnit.MILLISECOND];
  const bound = (value: bigint): Expression =>
    value === INT64_MAX ? { kind: "null", span } : { kind: "string", value: `${formatTimestamp(value, unit)}Z`, span };
  const ranges = timeRanges?.timeRanges.map(({ start, end }) => [bound(start), bound(end)] as const) ?? [];
  const name = objectName(catalogName, schemaName, tableName);
  return { kind: "truncate", name, ranges: ranges.length === 0 ? undefined : ranges, span };
}

function alterDatabaseOf({ schemaName: name, kind }: AlterDatabaseExpr): Statement {
  switch (kind.case) {
    case "setDatabaseOptions":
      return { kind: "alter-database", name, options: optionsOf(kind.value.setDatabaseOptions), span };
    case "unsetDatabaseOptions":
      return { kind: "alter-database", name, options: unsetOptions(kind.value.keys), span };
    case undefined:
      throw invalidArguments(`cannot alter database ${name}: the request names no change; set one of AlterDatabaseExpr.kind`);
  }
}

function commentTarget({ catalogName, schemaName, objectType, objectName: name, columnName }: CommentOnExpr): CommentTarget {
  switch (objectType) {
    case CommentObjectType.TABLE:
      return { kind: "table", name: objectName(catalogName, schemaName, name) };
    case CommentObjectType.COLUMN:
      return { kind: "column", table: objectName(catalogName, schemaName, name), column: columnName };
    case CommentObjectType.FLOW:
      return { kind: "flow", name: [name] };
    default:
      throw invalidArguments(`cannot comment on object type ${String(objectType)}; use TABLE, COLUMN or FLOW`);
  }
}

function isQuery(statement: Statement): statement is Query | Tql {
  return ["select", "set-operation", "values-query", "with", "tql"].includes(statement.kind);
}

/** Only the text of a view is understood: plans of other engines are not. */
async function createViewOf(expr: CreateViewExpr, parse: ParseText): Promise<CreateView> {
  const { catalogName, schemaName, viewName, createIfNotExists, orReplace, columns, definition } = expr;
  if (definition === "") {
    throw new DbError(
      StatusCode.Unsupported,
      `cannot create view ${viewName}: logical plans are not supported; send the SQL in definition`,
    );
  }
  const parsed = await parse(definition);
  const query = parsed.kind === "create-view" ? parsed.query : parsed;
  if (!isQuery(query) || query.kind === "tql") throw invalidArguments(`cannot create view ${viewName}: its definition is no query`);
  const own = parsed.kind === "create-view" ? parsed.columns : [];
  const name = objectName(catalogName, schemaName, viewName);
  return { kind: "create-view", name, orReplace, ifNotExists: createIfNotExists, columns: columns.length > 0 ? columns : own, query, span };
}

/** Seconds as SQL has them. */
function seconds(value: bigint | undefined): Expression | undefined {
  return value === undefined ? undefined : { kind: "number", text: String(value), span };
}

async function createFlowOf(expr: CreateFlowExpr, parse: ParseText): Promise<CreateFlow> {
  const { flowName, sinkTableName: sink, orReplace, createIfNotExists, expireAfter, evalInterval, comment, sql, flowOptions } = expr;
  if (sink === undefined) throw invalidArguments(`cannot create flow ${flowName}: the request has no sink_table_name`);
  const query = await parse(sql);
  if (!isQuery(query)) throw invalidArguments(`cannot create flow ${flowName}: its sql is no query`);
  return {
    kind: "create-flow",
    name: [flowName],
    orReplace,
    ifNotExists: createIfNotExists,
    sink: objectName(sink.catalogName, sink.schemaName, sink.tableName),
    expireAfter: seconds(expireAfter?.value),
    evalInterval: seconds(evalInterval?.seconds),
    comment: comment === "" ? undefined : comment,
    options: flowOptions,
    query,
    span,
  };
}
