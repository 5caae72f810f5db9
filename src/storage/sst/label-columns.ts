/**
 * Label columns of a data file of a shared region: other readers see real columns, while series and their index know a label set as one
 * text (`../series/label-set.ts`). A column is given as runs of equal values over neighbouring series, so one that is NULL nearly
 * everywhere costs nearly nothing; a label that no row has is left out of the file.
 */
import { type TextTable, textAt, textTableOf } from "../../column/text-table.ts";
import type { TagRuns } from "../../format/parquet/types.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { decodeLabels, LABELS_COLUMN_ID } from "../series/label-set.ts";

/** Whether the column is a label: a tag that series do not know by itself. */
export function isLabelColumn(schema: Pick<TableSchema, "primaryKey">, { semantic, name }: ColumnSchema): boolean {
  return semantic === "tag" && !schema.primaryKey.includes(name);
}

/** Ids of the columns that label sets name. */
export function labelIdsOf(texts: TextTable): ReadonlySet<number> {
  const ids = new Set<number>();
  for (let code = 0; code < texts.size; code++) decodeLabels(textAt(texts, code), (columnId) => ids.add(columnId));
  return ids;
}

/** The schema that a file has: that of the table, or, in a shared region, without label sets and labels that do not occur. */
export function fileSchemaOf(schema: TableSchema, labelIds: ReadonlySet<number>): TableSchema {
  const columns = schema.columns.filter(
    (column) => column.id !== LABELS_COLUMN_ID && (labelIds.has(column.id) || !isLabelColumn(schema, column)),
  );
  return columns.length === schema.columns.length ? schema : { ...schema, columns };
}

/**
 * The label columns of some rows, by column id. Columns that no row has are missing: `noLabel` stands for them.
 *
 * @param texts label sets by code
 * @param codes label set of each run
 * @param ends row end of each run, ascending
 */
export function labelInputs(texts: TextTable, codes: Uint32Array, ends: Uint32Array): Map<number, TagRuns> {
  const labels = new LabelsOfCode(texts);
  let from = 0;
  for (let run = 0; run < ends.length; run++) {
    const to = ends[run] as number;
    labels.addTo(codes[run] as number, from, to);
    from = to;
  }
  const inputs = new Map<number, TagRuns>();
  for (const [columnId, column] of labels.columns) inputs.set(columnId, column.finish(from));
  return inputs;
}

/** A label column without a value. */
export function noLabel(rowCount: number): TagRuns {
  return { kind: "runs", ends: Uint32Array.of(rowCount), codes: Uint32Array.of(0), texts: textTableOf([undefined]) };
}

/** Reads each label set once, however many runs have it. */
class LabelsOfCode {
  readonly columns: Map<number, LabelColumn> = new Map();
  private readonly texts: TextTable;
  /** Where the labels of a code begin in `pairs`, plus one; 0 = not read yet. */
  private readonly starts: Uint32Array;
  private readonly counts: Uint32Array;
  private readonly pairs: { readonly column: LabelColumn; readonly code: number }[] = [];

  constructor(texts: TextTable) {
    this.texts = texts;
    this.starts = new Uint32Array(texts.size);
    this.counts = new Uint32Array(texts.size);
  }

  addTo(code: number, from: number, to: number): void {
    if (this.starts[code] === 0) this.read(code);
    const start = (this.starts[code] as number) - 1;
    const end = start + (this.counts[code] as number);
    for (let i = start; i < end; i++) {
      const pair = this.pairs[i] as (typeof this.pairs)[number];
      pair.column.add(pair.code, from, to);
    }
  }

  private read(code: number): void {
    this.starts[code] = this.pairs.length + 1;
    const text = textAt(this.texts, code);
    decodeLabels(text, (columnId, start, end) => {
      let column = this.columns.get(columnId);
      if (column === undefined) this.columns.set(columnId, (column = new LabelColumn()));
      this.pairs.push({ column, code: column.codeOf((text as string).slice(start, end)) });
    });
    this.counts[code] = this.pairs.length - (this.starts[code] as number) + 1;
  }
}

/** Runs of one label. Invariant: `ends` ascend, and neighbouring runs have different codes. */
class LabelColumn {
  private readonly dictionary: (string | undefined)[] = [undefined];
  private readonly known: Map<string, number> = new Map();
  private readonly ends: number[] = [];
  private readonly codes: number[] = [];
  private covered = 0;

  codeOf(value: string): number {
    let code = this.known.get(value);
    if (code === undefined) {
      code = this.dictionary.length;
      this.dictionary.push(value);
      this.known.set(value, code);
    }
    return code;
  }

  add(code: number, from: number, to: number): void {
    if (from > this.covered) this.push(0, from);
    this.push(code, to);
  }

  finish(rowCount: number): TagRuns {
    if (rowCount > this.covered) this.push(0, rowCount);
    return { kind: "runs", ends: Uint32Array.from(this.ends), codes: Uint32Array.from(this.codes), texts: textTableOf(this.dictionary) };
  }

  private push(code: number, to: number): void {
    const last = this.codes.length - 1;
    if (this.codes[last] === code) this.ends[last] = to;
    else {
      this.codes.push(code);
      this.ends.push(to);
    }
    this.covered = to;
  }
}
