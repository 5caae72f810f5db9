/** Flows, prepared statements and cursors → text. */
import { unreachable } from "../../../base/assert.ts";
import type { Expression, Query, Tql } from "../syntax/ast.ts";
import type { CreateFlow } from "../syntax/definition-ast.ts";
import { printOptions } from "./print-column.ts";
import { printName, printPart, printString } from "./print-name.ts";
import { print, printQuery, printTql, UPPER } from "./print.ts";
import type { CursorStatement, PreparedStatement } from "../syntax/statement-ast.ts";

function printQueryOrTql(query: Query | Tql): string {
  return query.kind === "tql" ? printTql(query, UPPER) : printQuery(query, UPPER);
}

function printFlow(flow: CreateFlow): string {
  const clause = (word: string, value: Expression | undefined): string => (value === undefined ? "" : ` ${word} ${print(value, UPPER)}`);
  const words = `CREATE ${flow.orReplace ? "OR REPLACE " : ""}FLOW ${flow.ifNotExists ? "IF NOT EXISTS " : ""}`;
  const times = clause("EXPIRE AFTER", flow.expireAfter) + clause("EVAL INTERVAL", flow.evalInterval);
  const comment = flow.comment === undefined ? "" : ` COMMENT ${printString(flow.comment)}`;
  const tail = `${times}${comment}${printOptions(flow.options)} AS ${printQueryOrTql(flow.query)}`;
  return `${words}${printName(flow.name)} SINK TO ${printName(flow.sink)}${tail}`;
}

/** A statement of these kinds as text on one line. */
export function printSessionStatement(statement: CreateFlow | Tql | PreparedStatement | CursorStatement): string {
  switch (statement.kind) {
    case "create-flow":
      return printFlow(statement);
    case "tql":
      return printTql(statement, UPPER);
    case "prepare":
      return `PREPARE ${printPart(statement.name)} FROM ${printString(statement.text)}`;
    case "execute": {
      const values = statement.values.map((value) => print(value, UPPER)).join(", ");
      return `EXECUTE ${printPart(statement.name)}${values === "" ? "" : ` USING ${values}`}`;
    }
    case "deallocate":
      return `DEALLOCATE PREPARE ${statement.name === undefined ? "ALL" : printPart(statement.name)}`;
    case "declare-cursor":
      return `DECLARE ${printPart(statement.name)} CURSOR FOR ${printQueryOrTql(statement.query)}`;
    case "fetch":
      return `FETCH ${statement.count} FROM ${printPart(statement.name)}`;
    case "close-cursor":
      return `CLOSE ${printPart(statement.name)}`;
    default:
      return unreachable(statement);
  }
}
