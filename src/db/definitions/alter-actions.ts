/** AlterTableExpr → the actions of ALTER TABLE. */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { AlterAction } from "../../query/sql/syntax/definition-ast.ts";
import {
  type AddColumn,
  AddColumnLocation_LocationType,
  type AlterTableExpr,
  Analyzer,
  FulltextBackend,
  type SetIndex,
  type UnsetIndex,
} from "../../../proto/gen/greptime/v1/ddl_pb.js";
import { SemanticType } from "../../../proto/gen/greptime/v1/common_pb.js";
import { columnClause, typeNamed } from "./column-clauses.ts";
import { defaultExpression } from "./default-value.ts";
import { NO_SPAN, objectName, optionsOf } from "./names.ts";

/** The actions, of which there is at least one. @throws DbError InvalidArguments, Unsupported */
export function alterActions({ catalogName, schemaName, tableName, kind }: AlterTableExpr): readonly AlterAction[] {
  const actions = actionsOf(kind, (name) => objectName(catalogName, schemaName, name));
  if (actions.length === 0)
    throw invalidArguments(`cannot alter table ${tableName}: the request names no change; set one of AlterTableExpr.kind`);
  return actions;
}

function actionsOf(kind: AlterTableExpr["kind"], inDatabase: (table: string) => readonly string[]): AlterAction[] {
  switch (kind.case) {
    case "addColumns":
      return kind.value.addColumns.map(addAction);
    case "dropColumns":
      return kind.value.dropColumns.map(({ name }) => ({ kind: "drop-column", column: name }));
    case "renameTable":
      return [{ kind: "rename", name: inDatabase(kind.value.newTableName) }];
    case "modifyColumnTypes":
      return kind.value.modifyColumnTypes.map(({ columnName, targetType, targetTypeExtension }) => ({
        kind: "change-type",
        column: columnName,
        type: typeNamed(columnName, targetType, targetTypeExtension),
      }));
    case "setTableOptions":
      return [{ kind: "set-options", options: optionsOf(kind.value.tableOptions) }];
    case "unsetTableOptions":
      return [{ kind: "unset-options", keys: kind.value.keys }];
    case "setIndex":
      return [setIndexAction(kind.value)];
    case "unsetIndex":
      return [unsetIndexAction(kind.value)];
    case "setIndexes":
      return kind.value.setIndexes.map(setIndexAction);
    case "unsetIndexes":
      return kind.value.unsetIndexes.map(unsetIndexAction);
    case "setDefaults":
      return kind.value.setDefaults.map(({ columnName, defaultConstraint }) => ({
        kind: "set-default",
        column: columnName,
        value: defaultExpression(columnName, defaultConstraint) ?? { kind: "null", span: NO_SPAN },
      }));
    case "dropDefaults":
      return kind.value.dropDefaults.map(({ columnName }) => ({ kind: "drop-default", column: columnName }));
    case "repartition":
      throw new DbError(StatusCode.Unsupported, "ALTER TABLE … REPARTITION is not supported: one machine has all partitions of a table");
    case undefined:
      return [];
  }
}

function addAction({ columnDef, location, addIfNotExists }: AddColumn): AlterAction {
  if (columnDef === undefined) throw invalidArguments("cannot add a column: AddColumn has no column_def");
  const { semanticType } = columnDef;
  const clause = columnClause(columnDef);
  const column = {
    ...clause,
    primaryKey: semanticType === SemanticType.TAG,
    timeIndex: semanticType === SemanticType.TIMESTAMP,
  };
  const isFirst = location?.locationType === AddColumnLocation_LocationType.FIRST;
  const place = location === undefined ? undefined : isFirst ? ({ kind: "first" } as const) : afterPlace(location.afterColumnName);
  return { kind: "add-column", column, ifNotExists: addIfNotExists, place };
}

function afterPlace(column: string): { readonly kind: "after"; readonly column: string } {
  return { kind: "after", column };
}

function setIndexAction({ options }: SetIndex): AlterAction {
  switch (options.case) {
    case "fulltext": {
      const { columnName: column, enable, analyzer, caseSensitive, backend, granularity, falsePositiveRate } = options.value;
      if (!enable) return { kind: "unset-index", column, index: "fulltext" };
      const given = {
        analyzer: analyzer === Analyzer.CHINESE ? "Chinese" : "English",
        case_sensitive: String(caseSensitive),
        backend: backend === FulltextBackend.TANTIVY ? "tantivy" : "bloom",
      };
      return {
        kind: "set-index",
        column,
        index: { kind: "fulltext", options: { ...given, ...bloomOptions(granularity, falsePositiveRate) } },
      };
    }
    case "skipping": {
      const { columnName: column, enable, granularity, falsePositiveRate } = options.value;
      if (!enable) return { kind: "unset-index", column, index: "skipping" };
      return { kind: "set-index", column, index: { kind: "skipping", options: bloomOptions(granularity, falsePositiveRate) } };
    }
    case "inverted":
      return { kind: "set-index", column: options.value.columnName, index: { kind: "inverted", options: {} } };
    case undefined:
      throw invalidArguments("cannot set an index: SetIndex names none of fulltext, inverted and skipping");
  }
}

/** What is 0 was not said. */
function bloomOptions(granularity: bigint, rate: number): Record<string, string> {
  return {
    ...(granularity === 0n ? {} : { granularity: String(granularity) }),
    ...(rate === 0 ? {} : { false_positive_rate: String(rate) }),
  };
}

function unsetIndexAction({ options }: UnsetIndex): AlterAction {
  if (options.case === undefined) throw invalidArguments("cannot unset an index: UnsetIndex names none of fulltext, inverted and skipping");
  return { kind: "unset-index", column: options.value.columnName, index: options.case };
}
