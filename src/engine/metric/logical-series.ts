/**
 * The series of one logical table under numbers of their own, with a tag column for each of its labels. Made when the table is first
 * queried and kept up from there: tables that are only written to cost nothing here.
 */
import type { TableId } from "../../base/units.ts";
import { countingUp } from "../../base/bytes/counting-up.ts";
import { assert } from "../../base/assert.ts";
import { textAt } from "../../column/text-table.ts";
import { type NumberedSeries, seriesMeeting } from "../../storage/scan/select/series-selection.ts";
import { decodeLabelBytes, decodeLabels } from "../../storage/series/label-set.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { TagPredicate } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import { NumberList } from "./number-list.ts";
import type { PhysicalSeries, PhysicalTable } from "./physical-table.ts";
import { SeriesListing } from "./series-listing.ts";

/** Beside what the registry counts: its objects a label; the region's number and the place in the listing. */
const BYTES_PER_LABEL = 1024;
const BYTES_PER_SERIES = 16;

/** Invariant: series s of `registry` is series `regionSeries[s]` of the region. */
export class LogicalSeries {
  readonly registry: SeriesRegistry;
  /** The region's series, under the numbers that `regionSeries` has. */
  readonly region: PhysicalSeries;
  private readonly physical: PhysicalTable;
  private readonly tableId: TableId;
  private readonly regionSeries: NumberList = new NumberList();
  private readonly listing: SeriesListing = new SeriesListing((series) => this.region.hashOf(this.regionSeriesOf(series)));
  /** Position of a tag column by the id of its label on the physical table. */
  private positions: Map<number, number> = new Map();

  constructor(schema: TableSchema, physical: PhysicalTable) {
    this.registry = new SeriesRegistry(schema.name);
    this.physical = physical;
    this.region = physical.current;
    this.tableId = schema.id;
    this.setSchema(schema);
  }

  /** Takes a version of the schema with more labels. */
  setSchema(schema: TableSchema): void {
    const tags = schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []);
    this.registry.setColumns(tags);
    this.positions = new Map();
  }

  /** Learns of series that came since the last call. */
  catchUp(): void {
    const { region } = this;
    const list = region.byTable.seriesOf(this.tableId);
    if (list.length === this.regionSeries.length) return;
    const position = 1; // Label sets are the second tag of the region.
    const codes = region.registry.codesAt(position);
    const texts = region.registry.textsAt(position);
    const { registry } = this;
    registry.reserve(list.length);
    const tags = new Uint32Array(registry.columnCount);
    const { bytes, starts } = texts;
    const each = (columnId: number, start: number, end: number): void => {
      const position = this.positionOf(columnId);
      tags[position] = registry.encodeBytes(position, bytes, start, end);
    };
    for (let i = this.regionSeries.length; i < list.length; i++) {
      const regionSeries = list.values[i] as number;
      const code = codes[regionSeries] as number;
      tags.fill(0);
      const isAscii = code === 0 || decodeLabelBytes(bytes, starts[code] as number, starts[code + 1] as number, each);
      const series = isAscii ? registry.registerCodes(tags) : registry.register(this.valuesOf(textAt(texts, code) ?? ""));
      assert(series === this.regionSeries.length, `label sets of a table are distinct; got series ${series} twice`);
      this.regionSeries.push(regionSeries);
    }
  }

  private valuesOf(text: string): (string | undefined)[] {
    const values: (string | undefined)[] = [];
    decodeLabels(text, (columnId, start, end) => {
      values[this.positionOf(columnId)] = text.slice(start, end);
    });
    return values;
  }

  /** About what is held in memory. */
  get byteLength(): number {
    const { registry, regionSeries } = this;
    return registry.byteLength + regionSeries.length * BYTES_PER_SERIES + registry.columnCount * BYTES_PER_LABEL;
  }

  /** The region's number of one of the table's. */
  regionSeriesOf(series: number): number {
    assert(series < this.regionSeries.length, `a series below ${this.regionSeries.length}; got ${series}`);
    return this.regionSeries.values[series] as number;
  }

  /** Those of some, which are all known. */
  regionSeriesFor(numbers: Uint32Array): Uint32Array {
    const { values } = this.regionSeries;
    const { length } = numbers;
    const found = new Uint32Array(length);
    for (let i = 0; i < length; i++) found[i] = values[numbers[i] as number] as number;
    return found;
  }

  /** The series that meet predicates, for a scan. */
  wanted(predicates: readonly TagPredicate[]): NumberedSeries {
    this.catchUp();
    const { values, length } = this.regionSeries;
    const found = seriesMeeting(this.registry, predicates);
    if (found === undefined) return { numbers: countingUp(length), regionSeries: values.slice(0, length) };
    return { numbers: found, regionSeries: this.regionSeriesFor(found) };
  }

  /** Series as the table lists them. */
  listed(numbers: Uint32Array): Uint32Array | undefined {
    return this.listing.listed(numbers, this.regionSeries.length);
  }

  private positionOf(columnId: number): number {
    let position = this.positions.get(columnId);
    if (position === undefined) {
      position = this.registry.positionOfName(this.physical.labelName(columnId));
      assert(position >= 0, `label ${columnId} is a tag of table ${this.tableId}`);
      this.positions.set(columnId, position);
    }
    return position;
  }
}
