/** A record on its way through a lane: what it says, how it was numbered, and what is known of where it went. */
import type { DbError } from "../../base/error.ts";
import type { TableId } from "../../base/units.ts";
import type { Chunk } from "../../storage/memtable/chunk.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import { TagMarks } from "../../storage/memtable/series-definitions.ts";
import { encodeWriteRecord, type RecordEntry } from "../../storage/memtable/write-record.ts";
import { recordBytes } from "../log-message/log-message.ts";

/** See the file header. */
export class LaneRecord {
  readonly entries: readonly RecordEntry[];
  readonly appendedAt: number;
  /** Settles when the record is durable, or given up. */
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: DbError) => void;
  /** What it counts in the lane's memory, however it is encoded later. */
  readonly countedBytes: number;
  origin: RecordOrigin;
  /** When its segment's first record was appended; of one that is sent alone, when it was first sent, undefined before. */
  segmentAt: number | undefined;
  /** Times that it was sent of which nobody knows that nothing came of them. */
  unsure = 0;
  private encoded: Uint8Array[] | undefined;

  /** @param encoded its bytes in the segment that its origin names; undefined: it defines all of its series */
  constructor(origin: RecordOrigin, entries: readonly RecordEntry[], encoded: Uint8Array[] | undefined, at: number, segmentAt?: number) {
    this.origin = origin;
    this.entries = entries;
    this.encoded = encoded;
    this.appendedAt = at;
    this.segmentAt = segmentAt;
    this.countedBytes = recordBytes(this.pieces());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Its bytes. */
  pieces(): readonly Uint8Array[] {
    this.encoded ??= encodeAlone(this.origin, this.entries);
    return this.encoded;
  }

  get byteLength(): number {
    return recordBytes(this.pieces());
  }

  /** Puts it under an origin whose segment it has for itself: it defines all that it uses. */
  setAlone(origin: RecordOrigin): void {
    this.origin = origin;
    this.encoded = undefined;
    this.segmentAt = undefined;
  }
}

/** A record that defines all of its series and tag values, whatever records before it said. */
function encodeAlone(origin: RecordOrigin, entries: readonly RecordEntry[]): Uint8Array[] {
  const defined = new Map<TableId, { readonly tagMarks: TagMarks; readonly series: Set<number> }>();
  const alone = entries.map((entry): RecordEntry => {
    let known = defined.get(entry.tableId);
    if (known === undefined) defined.set(entry.tableId, (known = { tagMarks: new TagMarks(), series: new Set() }));
    return { ...entry, tagMarks: known.tagMarks, newSeries: unknownSeries(entry.chunk, known.series) };
  });
  return encodeWriteRecord(origin, alone);
}

/** Series of the chunk that are not in `known`, which has them from then on. */
function unknownSeries({ series, rowCount }: Chunk, known: Set<number>): number[] {
  const unknown: number[] = [];
  for (let i = 0; i < rowCount; i++) {
    const one = series[i] as number;
    if (known.has(one)) continue;
    known.add(one);
    unknown.push(one);
  }
  return unknown;
}
