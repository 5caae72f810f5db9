/**
 * What a name stands for when a batch is taken, and so what may be written to it. Decided once a batch, before anything is made: no later
 * stage meets a table of another kind.
 *
 * | a write to …                       | absent      | ordinary  | physical | logical        | external, view |
 * |------------------------------------|-------------|-----------|----------|----------------|----------------|
 * | a table: lines, rows, logs, traces | is made (1) | taken     | refused  | taken: 1 field | refused        |
 * | a metric's name                    | is made (2) | taken (3) | refused  | taken          | refused        |
 * | the physical table that it names   | is made     | refused   | taken    | refused        | refused        |
 *
 * (1) on the physical table that the write names, if it does. (2) there. (3) if its one field can hold the samples.
 *
 * Views are only known to who makes tables: making one of a view's name is refused.
 */
import { isFileTable } from "../../table/file-table.ts";
import type { LogicalTarget, WriteTables, WriteTarget } from "./write-target.ts";

/** See the file header. */
export type TableKind =
  | { readonly kind: "absent" }
  | { readonly kind: "ordinary" | "external" | "physical"; readonly target: WriteTarget }
  | { readonly kind: "logical"; readonly target: LogicalTarget };

const ABSENT: TableKind = { kind: "absent" };

/** What a name stands for now. */
export function tableKindOf(tables: Pick<WriteTables, "find" | "logical">, database: string, name: string): TableKind {
  const logical = tables.logical(database, name);
  if (logical !== undefined) return { kind: "logical", target: logical };
  const target = tables.find(database, name);
  if (target === undefined) return ABSENT;
  if (target.physical !== undefined) return { kind: "physical", target };
  return { kind: isFileTable(target.schema) ? "external" : "ordinary", target };
}
