/** ALTER, TRUNCATE and COMMENT as text. */
import { unreachable } from "../../../base/assert.ts";
import { sqlName } from "../../../column/data-type.ts";
import type { AlterAction, AlterTable, ChangedOptions } from "../syntax/definition-ast.ts";
import { printName, printPart, printString } from "./print-name.ts";
import { print, UPPER } from "./print.ts";
import { printColumnClause, printDefault, printOptions } from "./print-column.ts";
import type { Statement } from "../syntax/statement-ast.ts";

type StatementOf<K extends Statement["kind"]> = Extract<Statement, { kind: K }>;

/** `ALTER TABLE t ADD COLUMN a INT FIRST`. */
export function printAlterTable({ name, actions }: AlterTable): string {
  return `ALTER TABLE ${printName(name)} ${actions.map(printAction).join(", ")}`;
}

/** `ALTER DATABASE d SET 'ttl' = '1d'`. */
export function printAlterDatabase({ name, options }: StatementOf<"alter-database">): string {
  return `ALTER DATABASE ${printPart(name)} SET ${printChanges(options)}`;
}

/** `TRUNCATE TABLE t`. */
export function printTruncate({ name, ranges }: StatementOf<"truncate">): string {
  const printed = ranges?.map(([start, end]) => `(${print(start, UPPER)}, ${print(end, UPPER)})`);
  return `TRUNCATE TABLE ${printName(name)}${printed === undefined ? "" : ` FILE RANGE ${printed.join(", ")}`}`;
}

/** `COMMENT ON TABLE t IS 'x'`. */
export function printComment({ target, comment }: StatementOf<"comment">): string {
  const what =
    target.kind === "column"
      ? `COLUMN ${printName([...target.table, target.column])}`
      : `${target.kind.toUpperCase()} ${printName(target.name)}`;
  return `COMMENT ON ${what} IS ${comment === undefined ? "NULL" : printString(comment)}`;
}

function printAction(action: AlterAction): string {
  switch (action.kind) {
    case "add-column": {
      const { place } = action;
      const where = place === undefined ? "" : place.kind === "first" ? " FIRST" : ` AFTER ${printPart(place.column)}`;
      return `ADD COLUMN ${action.ifNotExists ? "IF NOT EXISTS " : ""}${printColumnClause(action.column)}${where}`;
    }
    case "drop-column":
      return `DROP COLUMN ${printPart(action.column)}`;
    case "change-type":
      return `MODIFY COLUMN ${printPart(action.column)} ${sqlName(action.type)}`;
    case "set-default":
      return `MODIFY COLUMN ${printPart(action.column)} SET DEFAULT ${printDefault(action.value)}`;
    case "drop-default":
      return `MODIFY COLUMN ${printPart(action.column)} DROP DEFAULT`;
    case "set-index": {
      const { kind, options } = action.index;
      return `MODIFY COLUMN ${printPart(action.column)} SET ${kind.toUpperCase()} INDEX${printOptions(options)}`;
    }
    case "unset-index":
      return `MODIFY COLUMN ${printPart(action.column)} UNSET ${action.index.toUpperCase()} INDEX`;
    case "set-options":
      return `SET ${printChanges(action.options)}`;
    case "unset-options":
      return `UNSET ${action.keys.map(printString).join(", ")}`;
    case "rename":
      return `RENAME ${printName(action.name)}`;
    default:
      return unreachable(action);
  }
}

function printChanges(options: ChangedOptions): string {
  const printed = Object.entries(options).map(
    ([key, value]) => `${printString(key)} = ${value === undefined ? "NULL" : printString(value)}`,
  );
  return printed.join(", ");
}
