/** A table has samples that are numbers, or native histograms: never both (contract ingest.md 2.2). */
import { invalidArguments } from "../../base/error.ts";
import { holdsHistograms } from "../../table/native-histogram.ts";
import type { ColumnDefinition } from "../../table/schema.ts";

type Column = Pick<ColumnDefinition, "name" | "type" | "semantic">;

/** Refuses fields of both kinds in one table. @throws DbError InvalidArguments */
export function checkSampleKind(table: string, columns: readonly Column[]): void {
  const fields = columns.filter(({ semantic }) => semantic === "field");
  const histograms = fields.find(holdsHistograms);
  const other = fields.find((field) => !holdsHistograms(field));
  if (histograms === undefined || other === undefined) return;
  const why = `native histograms (${histograms.name}) and other values (${other.name}) cannot share a table`;
  throw invalidArguments(`cannot write to table ${table}: ${why}; give one of the metrics another name`);
}
