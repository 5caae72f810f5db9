/** Statements that make, change and take away tables which protocols write to at the same time. */
import type { Random } from "../../bench/macro/random.ts";

/** What a statement does to the rows of tables when it succeeds. */
export type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "clear"; readonly table: string }
  | { readonly kind: "rename"; readonly table: string; readonly to: string }
  | { readonly kind: "delete"; readonly table: string; readonly id: string };

/** A statement, and what it does. */
export interface FuzzStatement {
  readonly sql: string;
  readonly effect: Effect;
}

const NONE: Effect = { kind: "none" };

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Kinds of tables that somebody may make under a name that others write to. `PHYSICAL`: the physical table of a logical one. */
const KINDS: readonly string[] = [
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v DOUBLE)",
  "CREATE TABLE NAME (ts TIMESTAMP(9) TIME INDEX, id STRING PRIMARY KEY, usage DOUBLE, v BIGINT)",
  "CREATE TABLE NAME (ts TIMESTAMP(0) TIME INDEX, id STRING PRIMARY KEY, greptime_value DOUBLE)",
  "CREATE TABLE NAME (greptime_timestamp TIMESTAMP TIME INDEX, id BIGINT PRIMARY KEY, greptime_value DOUBLE)",
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v DOUBLE) WITH (append_mode = 'true')",
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING, v DOUBLE) WITH (append_mode = 'true')",
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, id STRING PRIMARY KEY, v DOUBLE NOT NULL, usage STRING NOT NULL)",
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH (physical_metric_table = '')",
  "CREATE TABLE NAME (ts TIMESTAMP TIME INDEX, v DOUBLE, id STRING PRIMARY KEY) ENGINE=metric WITH (on_physical_table = PHYSICAL)",
  "CREATE VIEW NAME AS SELECT 1 AS a",
  "CREATE OR REPLACE VIEW NAME AS SELECT 2 AS a",
];

/** Statements that change no row. */
const HARMLESS: readonly string[] = [
  "ALTER TABLE NAME ADD COLUMN more STRING",
  "ALTER TABLE NAME ADD COLUMN label STRING PRIMARY KEY",
  "ALTER TABLE NAME ADD COLUMN usage DOUBLE",
  "ALTER TABLE NAME ADD COLUMN IF NOT EXISTS v BIGINT",
  "ALTER TABLE NAME SET 'compaction.type' = 'twcs'",
  "ADMIN flush_table('NAME')",
  "ADMIN compact_table('NAME')",
  "DROP VIEW IF EXISTS NAME",
  "SELECT count(*) FROM NAME",
  "SHOW CREATE TABLE NAME",
  "DESC TABLE NAME",
  "SHOW TABLES",
];

const filled = (text: string, table: string): string =>
  text.replace("'NAME'", () => `'${table.replaceAll("'", "''")}'`).replace("NAME", () => quoted(table));

/** A statement that takes no row away. `tables`: names of physical tables are among them. */
export function harmlessStatement(random: Random, table: string, tables: readonly string[]): FuzzStatement {
  const isCreation = random.below(2) === 0;
  const texts = isCreation ? KINDS : HARMLESS;
  const physical = tables[random.below(tables.length)] ?? "phy";
  const text = texts[random.below(texts.length)] ?? "SHOW TABLES";
  return {
    sql: filled(
      text.replace("PHYSICAL", () => `'${physical.replaceAll("'", "''")}'`),
      table,
    ),
    effect: NONE,
  };
}

/** A statement that takes rows away, or to another name. `id` is that of a row of the table, if it has one. */
export function harmfulStatement(random: Random, table: string, other: string, id: string | undefined): FuzzStatement {
  const name = quoted(table);
  switch (random.below(8)) {
    case 0:
    case 1:
      return { sql: `TRUNCATE TABLE ${name}`, effect: { kind: "clear", table } };
    case 2:
    case 3:
      return { sql: `ALTER TABLE ${name} RENAME ${quoted(other)}`, effect: { kind: "rename", table, to: other } };
    case 4:
    case 5:
      if (id !== undefined) return { sql: `DELETE FROM ${name} WHERE id = '${id}'`, effect: { kind: "delete", table, id } };
      return { sql: `DROP TABLE ${name}`, effect: { kind: "clear", table } };
    default:
      return { sql: `DROP TABLE ${name}`, effect: { kind: "clear", table } };
  }
}
