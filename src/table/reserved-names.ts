/**
 * Names of tables that the server computes, or keeps for tables that it would: whoever asks for one of them does not get the rows of a
 * stored table, so none is made under it, by a statement or a write.
 */

/** The catalog that every name may begin with. */
export const CATALOG_NAME = "greptime";

/** Name of the database of tables about tables. */
export const INFORMATION_SCHEMA = "information_schema";

/** Whether a text names it: clients of MySQL write it in capitals, quoted too. */
export function isInformationSchema(database: string): boolean {
  return database.length === INFORMATION_SCHEMA.length && database.toLowerCase() === INFORMATION_SCHEMA;
}

const GRAPH_DATABASE = "greptime_private";
/** Tables of the semantic graph, which clients of the interface know and this server does not compute. */
const GRAPH: ReadonlySet<string> = new Set(["semantic_entities", "semantic_relationships", "semantic_relationships_declared"]);

/** Whether a name is that of the computed table `public.numbers`. */
export function isNumbersTable(database: string, table: string): boolean {
  return database === "public" && table === "numbers";
}

/** Whether a name is one of the semantic graph. */
export function isGraphTable(database: string, table: string): boolean {
  return database === GRAPH_DATABASE && GRAPH.has(table);
}
