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
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, FLOAT64, sameType, sqlName } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { fileTableRefusal, isFileTable } from "../../table/file-table.ts";
import { physicalWriteRefusal } from "../../table/metric.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { SeriesDictionary, TagShape } from "../../table/series-dictionary.ts";
import type { TableWrite, WriteOptions } from "../../table/write-batch.ts";
import { unresolvedKeys } from "../series-mapper.ts";
import { takeWriteRows } from "../time-conversion.ts";
import { columnSources } from "../write-rows.ts";
import type { LogicalTarget, WriteTables } from "../write-target.ts";
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
}

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
   *
   * @throws DbError Unsupported for a write to a physical table itself, InvalidArguments for fields that a logical table does not have
   */
  route(writes: readonly TableWrite[], batch: RoutedBatch): readonly TableWrite[] {
    const plain: TableWrite[] = [];
    const keyed: TableWrite[] = [];
    const claims = new Map<string, string>();
    for (const write of writes) {
      const parts = write.tablesOfKeys === true ? this.withoutStrays(this.checked(write), batch, claims) : [write];
      for (const part of parts) {
        const routed = this.routedOf(part, batch);
        (routed.tablesOfKeys === true ? keyed : plain).push(routed);
      }
    }
    if (keyed.length === 0) return writes;
    for (const { table } of keyed) {
      const entry = this.tables.find(batch.database, table);
      if (entry === undefined || entry.physical !== undefined) continue;
      throw refused(table, "it is an ordinary table and cannot carry metrics; name another physical table");
    }
    return [...plain, ...(keyed.length === 1 ? keyed : joinWrites(keyed))];
  }

  private routedOf(write: TableWrite, { database, options }: RoutedBatch): TableWrite {
    if (write.tablesOfKeys === true) return write;
    const logical = this.tables.logical(database, write.table);
    if (logical !== undefined) return this.ofLogical(write, logical, options);
    const entry = this.tables.find(database, write.table);
    if (entry !== undefined && isFileTable(entry.schema)) throw new DbError(StatusCode.Unsupported, fileTableRefusal(write.table));
    if (entry?.physical !== undefined) throw new DbError(StatusCode.Unsupported, physicalWriteRefusal(write.table));
    if (entry !== undefined || options.physicalTable === undefined) return write;
    return { ...this.checked(write), table: options.physicalTable, tablesOfKeys: true };
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

  private checked(write: TableWrite): TableWrite {
    const [field] = write.fields;
    if (field !== undefined && write.fields.length === 1 && isSampleType(field.type)) return write;
    const got = write.fields.map(({ name, type }) => `${name} ${sqlName(type)}`).join(", ");
    throw refused(write.table, `tables of the metric engine have one field, a DOUBLE or native histograms; got ${got || "none"}`);
  }

  /** Takes rows of metrics out whose table exists elsewhere: on another physical table, or as an ordinary table. */
  private withoutStrays(write: TableWrite, batch: RoutedBatch, claims: Map<string, string>): readonly TableWrite[] {
    const { database, dictionary, seriesOfKey, strays } = batch;
    const registry = this.tables.find(database, write.table)?.registry;
    const settled = new Set<TagShape>();
    for (const key of unresolvedKeys(write.keys, write.rowCount, seriesOfKey)) {
      const shared = dictionary.sharedShapeOf(key);
      if (shared !== undefined && (settled.has(shared) || batch.plans.find(shared, registry, this.tables.dropEpoch) !== undefined))
        continue;
      const { table } = shared ?? dictionary.shapeOf(key);
      const logical = this.tables.logical(database, table);
      const isOrdinary = logical === undefined && this.tables.find(database, table) !== undefined;
      if (!isOrdinary && logical === undefined && !claims.has(table)) claims.set(table, write.table);
      const carrier = logical?.physical.schema.name ?? claims.get(table);
      if (isOrdinary || carrier !== write.table) strays.set(key, table);
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
      return table === undefined ? part : this.stray(part, table, database, claims.get(table));
    });
  }

  /** @param claim physical table of a logical table that this batch makes */
  private stray({ tablesOfKeys: _, ...write }: TableWrite, table: string, database: string, claim: string | undefined): TableWrite {
    const carrier = this.tables.logical(database, table)?.physical.schema.name ?? claim;
    if (carrier !== undefined) return { ...write, table: carrier, tablesOfKeys: true };
    const ordinary = this.tables.find(database, table);
    assert(ordinary !== undefined, `table ${table} of a stray key exists`);
    const fields = ordinary.schema.columns.filter(({ semantic }) => semantic === "field");
    const name = fields.length === 1 ? fields[0]?.name : undefined;
    return { ...write, table, fields: name === undefined ? write.fields : write.fields.map((field) => ({ ...field, name })) };
  }
}

function isSampleType(type: DataType): boolean {
  return sameType(type, FLOAT64) || sameType(type, NATIVE_HISTOGRAM);
}

function refused(table: string, why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `cannot write to table ${table}: ${why}`);
}
