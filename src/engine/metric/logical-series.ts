/**
 * The series of one logical table under numbers of their own, with a tag column for each of its labels. Made when the table is first
 * queried and kept up from there: tables that are only written to cost nothing here.
 */
import type { TableId } from "../../base/units.ts";
import { countingUp } from "../../base/bytes/counting-up.ts";
import { assert } from "../../base/assert.ts";
import { type NumberedSeries, seriesMeeting } from "../../storage/scan/select/series-selection.ts";
import { encodeLabels } from "../../storage/series/label-set.ts";
import type { TagPredicate } from "../../table/scan.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import type { TableSchema } from "../../table/schema.ts";
import { checkTags } from "../series/series-mapper.ts";
import { LabelColumns } from "./label-columns.ts";
import type { NumberList } from "../../base/bytes/number-list.ts";
import type { PhysicalSeries, PhysicalTable } from "./physical-table.ts";
import { SeriesListing } from "./series-listing.ts";

/** Beside what the columns count: their objects. */
const BYTES_PER_LABEL = 1024;

/** Position of the label sets among the region's tags. */
const LABELS = 1;

/** Invariant: series s of `tags` is series `list.values[s]` of the region. */
export class LogicalSeries {
  readonly tags: LabelColumns;
  /** The region's series, under the numbers that `list` has. */
  readonly region: PhysicalSeries;
  private readonly physical: PhysicalTable;
  private readonly tableId: TableId;
  /** Of the region; it grows, and those from `tags.count` on are not known here yet. */
  private list: NumberList;
  private readonly listing: SeriesListing = new SeriesListing((series) => this.hashOf(series));

  constructor(schema: TableSchema, physical: PhysicalTable) {
    this.region = physical.current;
    this.tableId = schema.id;
    this.list = this.region.byTable.seriesOf(schema.id);
    const { registry } = this.region;
    this.physical = physical;
    this.tags = new LabelColumns({
      sets: () => ({ texts: registry.textsAt(LABELS), codes: registry.codesAt(LABELS), regionSeries: this.list.values }),
      labelId: (name) => physical.labelId(name),
    });
    this.setSchema(schema);
  }

  /** Takes a version of the schema with more labels. */
  setSchema(schema: TableSchema): void {
    this.tags.setColumns(schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []));
  }

  /** Learns of series that came since the last call. */
  catchUp(): void {
    this.list = this.region.byTable.seriesOf(this.tableId);
    this.tags.grow(this.list.length);
  }

  /** About what is held in memory. The list of the region's numbers is the region's. */
  get byteLength(): number {
    return this.tags.byteLength + this.tags.columnCount * BYTES_PER_LABEL;
  }

  /** The region's number of one of the table's. */
  regionSeriesOf(series: number): number {
    assert(series < this.tags.count, `a series below ${this.tags.count}; got ${series}`);
    return this.list.values[series] as number;
  }

  /** Hash of the labels of one, as `__tsid` shows it. */
  hashOf(series: number): bigint {
    return this.region.hashOf(this.regionSeriesOf(series));
  }

  /** Those of some, which are all known. */
  regionSeriesFor(numbers: Uint32Array): Uint32Array {
    const { values } = this.list;
    const { length } = numbers;
    const found = new Uint32Array(length);
    for (let i = 0; i < length; i++) found[i] = values[numbers[i] as number] as number;
    return found;
  }

  /**
   * The region's number of a tag set, or -1 when no series known so far has it.
   *
   * @throws DbError TableColumnNotFound for a tag that the table has not
   */
  regionSeriesWith(tags: TagSet): number {
    checkTags(tags, this.tags);
    const labels = tags.names.map((name, t) => ({ id: this.physical.labelId(name), value: tags.values[t] as string }));
    labels.sort((a, b) => a.id - b.id);
    const text = encodeLabels(
      labels.map(({ id }) => id),
      labels.map(({ value }) => value),
    );
    return this.region.registry.find([String(this.tableId), text]);
  }

  /** The series that meet predicates, for a scan. */
  wanted(predicates: readonly TagPredicate[]): NumberedSeries {
    this.catchUp();
    const found = seriesMeeting(this.tags, predicates);
    if (found !== undefined) return { numbers: found, regionSeries: this.regionSeriesFor(found) };
    const { count } = this.tags;
    return { numbers: countingUp(count), regionSeries: this.list.values.slice(0, count) };
  }

  /** Series as the table lists them. */
  listed(numbers: Uint32Array): Uint32Array | undefined {
    return this.listing.listed(numbers, this.tags.count);
  }
}
