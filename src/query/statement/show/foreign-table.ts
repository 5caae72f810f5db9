/** SHOW CREATE TABLE … FOR POSTGRES_FOREIGN_TABLE: what PostgreSQL is told to read the table from here. */
import type { DataType } from "../../../column/data-type.ts";
import { isInternalColumn } from "../../../table/metric.ts";
import type { TableDefinition } from "../../../table/schema.ts";

/** The statement for PostgreSQL; its server is called `greptimedb`, as clients set it up. */
export function foreignTableText(schema: TableDefinition): string {
  const columns = schema.columns
    .filter(({ name }) => !isInternalColumn(schema, name))
    .map(({ name, type }) => `  "${name.replaceAll('"', '""')}" ${postgresType(type)}`);
  const table = schema.name.replaceAll("'", "''");
  const foreign = /^[a-z_][a-z0-9_]*$/.test(schema.name) ? `ft_${schema.name}` : `"ft_${schema.name.replaceAll('"', '""')}"`;
  return `CREATE FOREIGN TABLE ${foreign} (\n${columns.join(",\n")}\n)\nSERVER greptimedb\nOPTIONS (table_name '${table}')`;
}

const INTEGERS = { 8: "CHAR", 16: "INT2", 32: "INT4", 64: "INT8" } as const;

function postgresType(type: DataType): string {
  switch (type.kind) {
    case "boolean":
      return "BOOL";
    case "int":
      return INTEGERS[type.bits];
    case "float":
      return type.bits === 32 ? "FLOAT4" : "FLOAT8";
    case "binary":
    case "vector":
      return "BYTEA";
    case "date":
      return "DATE";
    case "timestamp":
      return "TIMESTAMP";
    case "time":
      return "TIME";
    case "duration":
    case "interval":
      return "INTERVAL";
    case "decimal":
      return "NUMERIC";
    // No table has columns of these; as JSON they would be read.
    case "list":
    case "struct":
    case "map":
    case "json":
      return "JSON";
    case "null":
    case "string":
      return "VARCHAR";
  }
}
