/** Reads the log of a shard as its owner does, and keeps what of it counts: the oracle of tests of lanes. */
import type { WriterId } from "../../../src/base/units.ts";
import { decodeMessage } from "../../../src/cluster/log-message/log-message.ts";
import { MessageReader } from "../../../src/cluster/log-message/message-reader.ts";
import type { StreamMessage } from "../../../src/cluster/port/message.ts";
import { Writers } from "../../../src/engine/log/writers.ts";
import { renumber, SeriesTranslator } from "../../../src/engine/series/series-translator.ts";
import { Arena, SlabPool } from "../../../src/storage/memtable/arena.ts";
import type { Chunk } from "../../../src/storage/memtable/chunk.ts";
import { placeChunk } from "../../../src/storage/memtable/chunk-codec.ts";
import type { RecordOrigin } from "../../../src/storage/memtable/record-origin.ts";
import { decodeWriteRecord } from "../../../src/storage/memtable/write-record.ts";
import { SeriesRegistry } from "../../../src/storage/series/series-registry.ts";

/** A chunk whose rows count. */
export interface FollowedChunk {
  readonly tableId: number;
  readonly sequence: number;
  readonly writer: number;
  /** Its series are numbers of `LaneFollower.registry`. */
  readonly chunk: Chunk;
}

/** See the file header. */
export class LaneFollower {
  readonly chunks: FollowedChunk[] = [];
  /** Of all records, whether they count or not. */
  readonly origins: RecordOrigin[] = [];
  /** Writers whose last record came behind a gap. */
  readonly gaps: Set<WriterId> = new Set();
  /** Records that are lost for good. */
  missing = 0;
  /** Times that writers said that others should send again. */
  asked = 0;
  readonly reader: MessageReader = new MessageReader("LOG");
  private readonly registries = new Map<number, SeriesRegistry>();
  private readonly translators = new Map<number, SeriesTranslator>();
  private readonly writers: Writers = new Writers((writer) => this.translators.delete(writer));
  private readonly arena: Arena = new Arena(new SlabPool(0));

  take(messages: readonly StreamMessage[]): void {
    for (const { number, bytes } of messages) {
      const { records, resumption } = this.reader.take(number, bytes);
      if (resumption !== undefined) {
        this.missing += this.writers.resume(resumption);
        if (resumption.asks) this.asked++;
      }
      for (const { sequence, payload } of records) this.record(sequence, payload);
    }
  }

  /** Series of a table by numbers of the chunks. */
  registry(tableId: number): SeriesRegistry {
    let registry = this.registries.get(tableId);
    if (registry === undefined) this.registries.set(tableId, (registry = new SeriesRegistry(`${tableId}`)));
    return registry;
  }

  private record(sequence: number, payload: Uint8Array): void {
    const { origin, entries } = decodeWriteRecord(sequence, payload);
    if (origin === undefined) throw new Error("records say where they come from");
    this.origins.push(origin);
    const verdict = this.writers.take(origin);
    if (verdict.kind === "gap") this.gaps.add(origin.writer);
    if (verdict.kind === "gap" || verdict.kind === "older") return;
    this.gaps.delete(origin.writer);
    let translator = this.translators.get(origin.writer);
    if (translator === undefined) this.translators.set(origin.writer, (translator = new SeriesTranslator()));
    if (verdict.begins) translator.beginSegment();
    for (const entry of entries) {
      const registry = this.registry(entry.tableId);
      registry.setColumns(entry.columnIds.map((id) => ({ id, name: `tag${id}` })));
      const known = translator.define(entry, registry);
      if (verdict.kind === "definitions") continue;
      const chunk = renumber(placeChunk(entry.header, entry.bytes, this.arena), known.series);
      if (chunk === undefined) throw new Error(`record ${origin.number} of segment ${origin.segment} relies on what nobody defined`);
      this.chunks.push({ tableId: entry.tableId, sequence, writer: origin.writer, chunk });
    }
  }
}

/** Origins of the records of a message; of a part none. */
export function originsOf(message: Uint8Array): RecordOrigin[] {
  const read = decodeMessage(message);
  if (typeof read === "string") throw new Error(read);
  if (read.kind !== "records") return [];
  return read.records.map((record) => decodeWriteRecord(0, record).origin as RecordOrigin);
}
