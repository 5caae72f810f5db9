/**
 * What a statement needs of the account that sends it (contract http.md 5.7, README 24): to read what is stored, to write, or both.
 * The table of statements and modes is in `db/auth/PERMISSIONS.md`.
 *
 * The kind of a statement says what it does; whatever it is, a query anywhere inside it reads. So a new kind of statement breaks the
 * build here, and a new place for a query needs no change.
 */
import { unreachable } from "../base/assert.ts";
import type { Connection } from "./connection.ts";
import type { Query, Tql } from "./sql/syntax/ast.ts";
import type { Statement } from "./sql/syntax/statement-ast.ts";

/** What a statement does to what is stored. */
export interface StatementNeeds {
  /** It gives rows, names or values of what is stored, to its client or into a file. */
  readonly reads: boolean;
  /** It changes what is stored, or the session (as the contract counts SET and USE). */
  readonly writes: boolean;
  /** It looks at rows or files though it gives none of them away: its errors may quote their values. */
  readonly looks: boolean;
}

const NOTHING: StatementNeeds = { reads: false, writes: false, looks: false };
const READS: StatementNeeds = { reads: true, writes: false, looks: true };
const WRITES: StatementNeeds = { reads: false, writes: true, looks: false };
const LOOKS_AND_WRITES: StatementNeeds = { reads: false, writes: true, looks: true };
const BOTH: StatementNeeds = { reads: true, writes: true, looks: true };

/** Nodes that are a query, wherever they stand. */
const QUERIES: ReadonlySet<unknown> = new Set<(Query | Tql)["kind"]>(["select", "set-operation", "values-query", "with", "tql"]);

/**
 * What a statement needs. A prepared one needs what it runs, where it is prepared and where it is run; one of a name that does not exist
 * is an error, whoever asks.
 */
export function needsOf(statement: Statement, connection: Connection | undefined): StatementNeeds {
  switch (statement.kind) {
    case "prepare":
      return statement.prepared === undefined ? BOTH : needsOf(statement.prepared.statement, undefined);
    case "execute": {
      const prepared = connection?.prepared.get(statement.name)?.statement;
      return joined(prepared === undefined ? READS : needsOf(prepared, undefined), queriesOf(statement));
    }
    case "explain":
      return joined(READS, statement.analyze ? needsOf(statement.statement, connection) : NOTHING);
    default:
      return joined(ownNeeds(statement), queriesOf(statement));
  }
}

function ownNeeds(statement: Exclude<Statement, { kind: "prepare" | "execute" | "explain" }>): StatementNeeds {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
    case "tql":
    case "fetch":
    case "show-databases":
    case "show-tables":
    case "show-create-table":
    case "show-create-database":
    case "show-create-view":
    case "show-create-flow":
    case "show-listing":
    case "show-variable":
    case "describe":
      return READS;
    case "copy":
      return statement.direction === "to" ? BOTH : LOOKS_AND_WRITES; // out of the tables, and into a file
    case "declare-cursor":
    case "update": // what a row is set to may be what another column holds
      return BOTH; // a cursor is a write by the contract
    case "delete":
    case "alter-table": // a change of type converts values
    case "create-external-table":
      return LOOKS_AND_WRITES;
    case "insert":
    case "truncate":
    case "create-table":
    case "create-table-as":
    case "create-table-like":
    case "create-flow":
    case "create-view":
    case "create-database":
    case "drop-table":
    case "drop-flow":
    case "drop-view":
    case "drop-database":
    case "alter-database":
    case "comment":
    case "admin":
    case "use":
    case "set-variable":
    case "close-cursor":
      return WRITES;
    case "deallocate":
    case "kill": // whose statement it may end is asked there
      return NOTHING;
    default:
      return unreachable(statement);
  }
}

function joined(a: StatementNeeds, b: StatementNeeds): StatementNeeds {
  return { reads: a.reads || b.reads, writes: a.writes || b.writes, looks: a.looks || b.looks };
}

/** Reads when a query stands anywhere in a tree. Looks at each node once, without recursion: chains of operators may be long. */
function queriesOf(tree: object): StatementNeeds {
  const open: object[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ("kind" in node && QUERIES.has(node.kind)) return READS;
    if (ArrayBuffer.isView(node)) continue;
    for (const part of Object.values(node)) if (typeof part === "object" && part !== null) open.push(part);
  }
  return NOTHING;
}
