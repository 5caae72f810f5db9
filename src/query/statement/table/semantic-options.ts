/** `greptime.semantic.*` options as ALTER TABLE sets them: which there are, what they may say (contract ingest.md, semantic options). */
import { type DbError, invalidArguments } from "../../../base/error.ts";
import { displayName } from "../../../column/data-type.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { columnNamed } from "../../../table/not-found.ts";

/** What the keys of these options begin with. */
export const SEMANTIC_PREFIX = "greptime.semantic.";

const KNOWN: ReadonlySet<string> = new Set([
  "signal_type",
  "source",
  "source_version",
  "pipeline",
  "metric.type",
  "metric.unit",
  "metric.temporality",
  "metric.metadata_quality",
  "metric.original_name",
  "trace.conventions",
  "log.conventions",
]);

const CHOICES: Readonly<Record<string, readonly string[]>> = { signal_type: ["metric", "log", "trace"] };

/** Columns that make up an entity: `entity.service.id`, `entity.process.descriptive`, `entity.service.scope`. */
const ENTITY = /^entity\.[A-Za-z0-9_.]+\.(id|descriptive|scope)$/;

/** Whether a key is one of these options. */
export function isSemanticOption(key: string): boolean {
  const name = key.slice(SEMANTIC_PREFIX.length);
  return key.startsWith(SEMANTIC_PREFIX) && (KNOWN.has(name) || ENTITY.test(name));
}

/** Checks one option of a table that exists. @throws DbError InvalidArguments, TableColumnNotFound */
export function checkSemanticOption(key: string, value: string, schema: Pick<TableSchema, "name" | "columns">): void {
  const name = key.slice(SEMANTIC_PREFIX.length);
  const refused = (why: string): DbError => invalidArguments(`Invalid alter table(${schema.name}) request: ${why}`);
  if (ENTITY.test(name)) {
    for (const column of value.split(",")) checkEntityColumn(key, column.trim(), schema, refused);
    return;
  }
  if (!KNOWN.has(name)) throw refused(`unknown semantic option \`${key}\``);
  const choices = CHOICES[name];
  if (choices !== undefined && !choices.includes(value)) throw refused(`invalid value \`${value}\` for semantic option \`${key}\``);
}

/** An entity is known by texts, so its columns must be what a text can say. */
function checkEntityColumn(
  key: string,
  name: string,
  schema: Pick<TableSchema, "name" | "columns">,
  refused: (why: string) => DbError,
): void {
  const column = columnNamed(schema, name);
  const { kind } = column.type;
  if (kind !== "binary" && kind !== "vector" && kind !== "json") return;
  throw refused(`entity column \`${name}\` (option \`${key}\`) has type \`${displayName(column.type)}\`, which cannot render as a string`);
}
