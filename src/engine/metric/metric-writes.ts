/**
 * Writes to logical tables, gathered: whatever tables a batch names, the rows of one physical table become one chunk.
 *
 *   TableWrite a logical table   ─┐
 *   TableWrite "tables of keys"  ─┴► one TableWrite a physical table ─► labels that are new ─► series (table id, label set) ─► chunk
 *
 * The usual batch of a metric protocol is one "tables of keys" write with known keys: it passes through untouched.
 */
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, FLOAT64, sameType, sqlName } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { fileTableRefusal } from "../../table/file-table.ts";
import { physicalWriteRefusal } from "../../table/metric.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { SeriesDictionary, TagShape } from "../../table/series-dictionary.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { FieldWrite, TableWrite, WriteOptions } from "../../table/write-batch.ts";
import { unresolvedKeys } from "../series/series-mapper.ts";
import { type TableKind, tableKindOf } from "../table/table-kind.ts";
import { takeWriteRows } from "../time/time-conversion.ts";
import { carrierName, type WriteRefusals } from "../table/write-refusals.ts";
import { columnSources } from "../table/write-rows.ts";
import type { LogicalTarget, WriteTables } from "../table/write-target.ts";
import { joinWrites } from "./join-writes.ts";
import type { LabelPlans } from "./label-plans.ts";

/** A batch being routed. */
export interface RoutedBatch {
  readonly database: string;
  readonly dictionary: SeriesDictionary;
  readonly options: WriteOptions;
  readonly seriesOfKey: Uint32Array;
  /** Keys of metrics whose table is not on the physical table that their write names, with that table; kept as long as the keys are. */
  readonly strays: Map<number, string>;
  /** Shapes of which a series is known: their tables exist, and where. */
  readonly plans: LabelPlans;
  /** Tables that cannot take their rows. */
  readonly refusals: WriteRefusals;
}

/** Fields of a table that an error shows. */
const SHOWN_FIELDS_MAX = 5;

/** See the file header. */
export class MetricWrites {
  private readonly tables: WriteTables;
  private readonly clock: Clock;

  constructor(tables: WriteTables, clock: Clock) {
    this.tables = tables;
    this.clock = clock;
  }

  /**
   * The writes with those of logical tables as one "tables of keys" write a physical table. What its one field is called does not matter.
   * Rows that their table cannot take are left out, and their tables refused.
   */
  route(writes: readonly TableWrite[], batch: RoutedBatch): readonly TableWrite[] {
    const plain: TableWrite[] = [];
    const keyed: TableWrite[] = [];
    const names: NamedTables = { carriers: carriersOf(writes, batch.options), claims: new Map() };
    for (const write of writes) {
      for (const part of this.parted(write, batch, names)) {
        const routed = this.routedOf(part, batch, names);
        if (routed !== undefined) (routed.tablesOfKeys === true ? keyed : plain).push(routed);
      }
    }
    if (keyed.length === 0) return plain;
    return [...plain, ...(keyed.length === 1 ? keyed : joinWrites(keyed))];
  }

  private parted(write: TableWrite, batch: RoutedBatch, names: NamedTables): readonly TableWrite[] {
    return write.tablesOfKeys === true ? this.withoutStrays(write, batch, names) : [write];
  }

  /** Where a write goes; undefined when it is refused. */
  private routedOf(write: TableWrite, { database, options, refusals }: RoutedBatch, { carriers }: NamedTables): TableWrite | undefined {
    const { table } = write;
    try {
      const is = tableKindOf(this.tables, database, table);
      if (write.tablesOfKeys === true) return onCarrier(write, is);
      switch (is.kind) {
        case "logical":
          return this.ofLogical(write, is.target, options);
        case "external":
          throw new DbError(StatusCode.Unsupported, fileTableRefusal(table));
        case "physical":
          throw new DbError(StatusCode.Unsupported, physicalWriteRefusal(table));
        case "ordinary":
          return write;
        case "absent":
          if (options.physicalTable === undefined) return write;
          if (carriers.has(table)) throw carrierToBe(table);
          return onCarrier(
            { ...write, table: options.physicalTable, tablesOfKeys: true },
            tableKindOf(this.tables, database, options.physicalTable),
          );
      }
    } catch (error) {
      refusals.refuse(write.tablesOfKeys === true ? carrierName(table) : table, error, write.rowCount);
      return undefined;
    }
  }

  /** A write to one logical table. A metric protocol's one field is the table's, whatever it is called. */
  private ofLogical(write: TableWrite, { schema, plan, physical }: LogicalTarget, options: WriteOptions): TableWrite {
    const own = schema.columns.find(({ semantic }) => semantic === "field");
    assert(own !== undefined, `logical table ${schema.name} has a field`);
    const fields = write.fields.map((field) => {
      const isOwn = field.name === own.name || (options.physicalTable !== undefined && write.fields.length === 1);
      if (isOwn && sameType(field.type, own.type)) return { ...field, name: own.name };
      const got = `${field.name} ${sqlName(field.type)}`;
      throw refused(write.table, `a logical table has one field, here ${own.name} ${sqlName(own.type)}; got ${got}`);
    });
    const [source] = columnSources(schema, plan, { ...write, fields }, this.clock);
    const vector = source?.vector ?? vectorOf(own.type, new Array<undefined>(write.rowCount).fill(undefined));
    return {
      ...write,
      table: physical.schema.name,
      tablesOfKeys: true,
      fields: [{ name: write.fields[0]?.name ?? own.name, type: own.type, vector }],
    };
  }

  /** Takes rows of metrics out whose table is not to lie on the physical table: it exists elsewhere, or cannot be made. */
  private withoutStrays(write: TableWrite, batch: RoutedBatch, names: NamedTables): readonly TableWrite[] {
    const { database, dictionary, seriesOfKey, strays } = batch;
    const registry = this.tables.find(database, write.table)?.registry;
    const settled = new Set<TagShape>();
    for (const key of unresolvedKeys(write.keys, write.rowCount, seriesOfKey)) {
      const shared = dictionary.sharedShapeOf(key);
      if (shared !== undefined && (settled.has(shared) || batch.plans.find(shared, registry, this.tables.dropEpoch) !== undefined))
        continue;
      const { table } = shared ?? dictionary.shapeOf(key);
      if (this.carrierOf(table, write.table, database, names) !== write.table) strays.set(key, table);
      else if (shared !== undefined) settled.add(shared);
    }
    if (strays.size === 0) return [write];
    const rowsOf = new Map<string | undefined, number[]>();
    for (let row = 0; row < write.rowCount; row++) {
      const table = strays.get(write.keys[row] as number);
      const rows = rowsOf.get(table);
      if (rows === undefined) rowsOf.set(table, [row]);
      else rows.push(row);
    }
    return Array.from(rowsOf, ([table, rows]) => {
      const part = takeWriteRows(write, Uint32Array.from(rows));
      return table === undefined ? [part] : this.stray(part, table, batch, names);
    }).flat();
  }

  /** The physical table that a metric's table lies on, or will when this batch is written; undefined when it lies on none. */
  private carrierOf(table: string, named: string, database: string, { carriers, claims }: NamedTables): string | undefined {
    const is = tableKindOf(this.tables, database, table);
    if (is.kind === "logical") return is.target.physical.schema.name;
    if (is.kind !== "absent" || carriers.has(table)) return undefined;
    const claimed = claims.get(table);
    if (claimed !== undefined) return claimed;
    const carrier = tableKindOf(this.tables, database, named).kind;
    if (carrier === "absent" || carrier === "physical") claims.set(table, named);
    return named;
  }

  /** Rows of one metric, as a write to its table; none when that refuses them. */
  private stray(write: TableWrite, table: string, { database, refusals }: RoutedBatch, names: NamedTables): readonly TableWrite[] {
    const carrier = this.carrierOf(table, write.table, database, names);
    if (carrier !== undefined) return [{ ...write, table: carrier }];
    const { tablesOfKeys: _, ...own } = write;
    const is = tableKindOf(this.tables, database, table);
    if (is.kind === "absent") refusals.refuse(table, carrierToBe(table), write.rowCount);
    else if (is.kind !== "ordinary")
      return [{ ...own, table }]; // Is refused as any write to it.
    else {
      const { schema } = is.target;
      const name = sampleField(schema, write.fields);
      if (name !== undefined) return [{ ...own, table, fields: write.fields.map((field) => ({ ...field, name })) }];
      refusals.refuse(table, refused(table, notOfSamples(schema, write.fields)), write.rowCount);
    }
    return [];
  }
}

/** What the names of a batch will stand for once it is written, where that is nothing now. */
interface NamedTables {
  /** Physical tables that metrics of the batch name. */
  readonly carriers: ReadonlySet<string>;
  /** Metrics whose table does not exist, and the physical table that named them first. */
  readonly claims: Map<string, string>;
}

function carriersOf(writes: readonly TableWrite[], { physicalTable }: WriteOptions): ReadonlySet<string> {
  const carriers = new Set<string>();
  for (const { tablesOfKeys, table } of writes) if (tablesOfKeys === true) carriers.add(table);
  if (physicalTable !== undefined) carriers.add(physicalTable);
  return carriers;
}

/** A "tables of keys" write whose physical table is what it says. @throws DbError InvalidArguments */
function onCarrier(write: TableWrite, is: TableKind): TableWrite {
  const { table, fields } = write;
  if (is.kind !== "physical" && is.kind !== "absent") {
    const what = { ordinary: "an ordinary table", external: "an external table", logical: "a logical table" }[is.kind];
    throw refused(table, `it is ${what} and cannot carry metrics; name another physical table`);
  }
  const [field] = fields;
  if (field !== undefined && fields.length === 1 && isSampleType(field.type)) return write;
  const got = fields.map(({ name, type }) => `${name} ${sqlName(type)}`).join(", ");
  throw refused(table, `tables of the metric engine have one field, a DOUBLE or native histograms; got ${got || "none"}`);
}

/** The one field of an ordinary table that can hold a metric's samples, whatever it is called (contract ingest.md 0.7). */
function sampleField({ columns }: TableSchema, [sent]: readonly FieldWrite[]): string | undefined {
  const [own, ...others] = columns.filter(({ semantic }) => semantic === "field");
  return own !== undefined && others.length === 0 && sent !== undefined && sameType(own.type, sent.type) ? own.name : undefined;
}

function notOfSamples({ columns }: TableSchema, [sent]: readonly FieldWrite[]): string {
  const own = columns.filter(({ semantic }) => semantic === "field").map(({ name, type }) => `${name} ${sqlName(type)}`);
  const shown = own.length > SHOWN_FIELDS_MAX ? `${own.slice(0, SHOWN_FIELDS_MAX).join(", ")}, …` : own.join(", ");
  const got = sent === undefined ? "samples" : `${sent.name} ${sqlName(sent.type)}`;
  return `it is an ordinary table with the fields ${shown || "(none)"}, and the metric of its name brings ${got}; rename one of them`;
}

function carrierToBe(table: string): DbError {
  return refused(table, "the request names it as a metric and as the physical table of metrics; give one of them another name");
}

function isSampleType(type: DataType): boolean {
  return sameType(type, FLOAT64) || sameType(type, NATIVE_HISTOGRAM);
}

function refused(table: string, why: string): DbError {
  return invalidArguments(`cannot write to table ${table}: ${why}`);
}
