/**
 * Statements that were prepared lately: drivers prepare the same text for each run of it. Only those of one table are kept, which is
 * compared with its schema, as for templates.
 */
import type { Table } from "../../table/catalog.ts";
import type { TableSchema } from "../../table/schema.ts";
import { resolveName, type ResolvedName } from "../plan/from/source.ts";
import type { PreparedQuery } from "../prepared-query.ts";
import type { QueryContext } from "../query-context.ts";
import { isQuery, someNode } from "./tree-tests.ts";

/** Texts that are kept, the latest used, and their characters. With trees and templates of at most about 150 B a character: 6 MiB. */
const TEXTS_MAX = 256;
const CHARACTERS_MAX = 2048;
const TOTAL_CHARACTERS_MAX: number = 40 * 1024;

interface Known {
  readonly query: PreparedQuery;
  readonly name: ResolvedName;
  readonly table: Table;
  readonly schema: TableSchema;
}

/** See the file header. */
export class PreparedTexts {
  /** Least lately used first. */
  private readonly known: Map<string, Known> = new Map();
  private characters = 0;

  /** What was prepared of a text, while its table is the same. */
  find(text: string, context: QueryContext): PreparedQuery | undefined {
    const key = keyOf(text, context);
    const known = this.known.get(key);
    if (known === undefined) return undefined;
    this.known.delete(key);
    if (context.catalog.table(known.name.database, known.name.table) !== known.table || known.table.schema !== known.schema) {
      this.characters -= key.length;
      return undefined;
    }
    this.known.set(key, known);
    return known.query;
  }

  /** Keeps what was prepared of a text, if it is of one table. */
  keep(text: string, query: PreparedQuery, context: QueryContext): void {
    const { statement } = query;
    if (text.length > CHARACTERS_MAX || statement.kind !== "select" || statement.from?.kind !== "table") return;
    if (someNode(statement, isQuery)) return;
    const name = resolveName(statement.from.name, context.variables.database);
    const table = context.catalog.table(name.database, name.table);
    if (table === undefined) return;
    const key = keyOf(text, context);
    if (!this.known.has(key)) this.characters += key.length;
    this.known.set(key, { query, name, table, schema: table.schema });
    for (const oldest of this.known.keys()) {
      if (this.known.size <= TEXTS_MAX && this.characters <= TOTAL_CHARACTERS_MAX) return;
      this.known.delete(oldest);
      this.characters -= oldest.length;
    }
  }
}

function keyOf(text: string, { variables: { database, timeZone, connection } }: QueryContext): string {
  return `${connection?.protocol ?? ""}\n${database}\n${timeZone}\n${text}`;
}
