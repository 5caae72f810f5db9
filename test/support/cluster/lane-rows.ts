/** Rows for lanes of shards: tables whose one tag and one field say which row it is, numbered as an engine numbers series. */
import { tableId } from "../../../src/base/units.ts";
import { INT64 } from "../../../src/column/data-type.ts";
import type { RecordLane } from "../../../src/engine/log/record-lane.ts";
import { Arena, SlabPool } from "../../../src/storage/memtable/arena.ts";
import { TagMarks } from "../../../src/storage/memtable/series-definitions.ts";
import type { RecordEntry } from "../../../src/storage/memtable/write-record.ts";
import { SeriesRegistry } from "../../../src/storage/series/series-registry.ts";
import { chunkOf } from "../storage/rows.ts";
import type { LaneFollower } from "./lane-follower.ts";

const TAG = 1;
const FIELD = { id: 2, type: INT64 } as const;

/** A row: what its tag is, and its number among all. */
export interface LaneRow {
  readonly tag: string;
  readonly id: number;
}

/** A table as a writer knows it. */
export class LaneTable {
  readonly id: number;
  private readonly arena: Arena = new Arena(new SlabPool(0));
  private registry!: SeriesRegistry;
  private marks!: number[];
  private tagMarks!: TagMarks;

  constructor(id: number) {
    this.id = id;
    this.renew();
  }

  /** Numbers series anew. */
  renew(): void {
    this.registry = new SeriesRegistry(`${this.id}`);
    this.registry.setColumns([{ id: TAG, name: `tag${TAG}` }]);
    this.marks = [];
    this.tagMarks = new TagMarks();
  }

  /** An entry of a record of a segment. */
  entry(rows: readonly LaneRow[], segment: number): RecordEntry {
    const newSeries: number[] = [];
    const numbered = rows.map(({ tag, id }) => {
      const series = this.registry.register([tag]);
      if (this.marks[series] !== segment) newSeries.push(series);
      this.marks[series] = segment;
      return { series, time: BigInt(id), values: [id] };
    });
    const chunk = chunkOf(1, { rows: numbered, columnIds: [FIELD.id] }, [FIELD], this.arena);
    return { tableId: tableId(this.id), registry: this.registry, newSeries, tagMarks: this.tagMarks, chunk };
  }
}

/** Appends rows of a table as one record. */
export function appendRows(lane: RecordLane, table: LaneTable, rows: readonly LaneRow[]): Promise<void> {
  return lane.append([table.entry(rows, lane.beginRecord())]);
}

/** All rows that a follower has taken, or those of one writer, in the order of the log. */
export function rowsOf(follower: LaneFollower, of?: number): (LaneRow & { readonly table: number })[] {
  return follower.chunks.flatMap(({ tableId: table, chunk, writer }) => {
    if (of !== undefined && writer !== of) return [];
    const registry = follower.registry(table);
    return Array.from({ length: chunk.rowCount }, (_, i) => {
      const tag = registry.tagOf(`tag${TAG}`, chunk.series[i] as number) ?? "";
      return { table, tag, id: Number(chunk.timeBase) + (chunk.times[i] as number) * chunk.timeScale };
    });
  });
}
