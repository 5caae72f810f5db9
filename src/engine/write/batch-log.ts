/**
 * Where the chunks of a batch go as records: all of them as one to the log of this thread. Where rows are elsewhere, as one to the lane of
 * each shard (`lanes-log.ts`).
 */
import type { TableId } from "../../base/units.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import { encodeWriteRecord, type RecordEntry } from "../../storage/memtable/write-record.ts";
import { abandonAll, type PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import type { LogWriter } from "../log/log-writer.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { WriteTarget } from "../table/write-target.ts";

/** Makes chunks of parts of a batch. */
export interface ChunkBuilder<P> {
  /** Builds the chunk of a part, with the series that the segment has not defined yet. */
  build(part: P, segment: number, sequence: number): BuiltChunk;
  /** Says that a record will not be logged: what its series were marked with does not hold. */
  forget(): void;
}

/** A chunk with what the record says of it. */
export interface BuiltChunk {
  readonly chunk: PreparedChunk;
  readonly entry: RecordEntry;
}

/** What tells a record from others, and what it says of its chunks. */
export interface LoggedRecord {
  readonly sequence: number;
  readonly segment: number;
  /** All of the record that stands before the chunks' memory. */
  readonly head: Uint8Array;
}

/** Chunks on their way. */
export interface LoggedChunks {
  /** Resolves when all of them are durable. */
  readonly durable: Promise<void>;
  readonly prepared: readonly PreparedChunk[];
  /** Undefined where they go elsewhere. */
  readonly record: LoggedRecord | undefined;
}

/** See the file header. */
export interface BatchLog {
  /** Builds the chunks of parts and appends them. Nothing waits. @throws what building them fails with; then nothing is appended */
  append<P extends { readonly target: WriteTarget }>(parts: readonly P[], chunks: ChunkBuilder<P>): LoggedChunks;
}

/** Does what builds chunks; when it throws, those that it made are dropped. */
export function building<T>(prepared: readonly PreparedChunk[], { forget }: Pick<ChunkBuilder<never>, "forget">, build: () => T): T {
  try {
    return build();
  } catch (error) {
    abandonAll(prepared);
    forget();
    throw error;
  }
}

/** What the log of a thread works with. */
export interface LocalLogParts {
  readonly wal: Wal;
  /** Numbers what goes to that log, whoever else writes it. */
  readonly writer: LogWriter;
  readonly sequences: SequenceCounter;
  /** From the append on, whatever fails ends the process: nobody knows whether the record will be read back. */
  readonly sure: SureSteps;
  /** Called when a record of these tables goes to the log, before it is durable. */
  noteLogged(segment: number, tableId: TableId, sequence: number): void;
}

/** See the file header. */
export class LocalLog implements BatchLog {
  private readonly parts: LocalLogParts;

  constructor(parts: LocalLogParts) {
    this.parts = parts;
  }

  append<P extends { readonly target: WriteTarget }>(parts: readonly P[], chunks: ChunkBuilder<P>): LoggedChunks {
    const { wal, writer, sequences } = this.parts;
    const segment = wal.beginRecord();
    const origin = writer.next(segment);
    const sequence = sequences.take();
    const prepared: PreparedChunk[] = [];
    const entries: RecordEntry[] = [];
    const record = building(prepared, chunks, () => {
      for (const part of parts) {
        const { chunk, entry } = chunks.build(part, segment, sequence);
        prepared.push(chunk);
        entries.push(entry);
      }
      return encodeWriteRecord(origin, entries);
    });
    const head = record[0] as Uint8Array; // A record begins with its head.
    const durable = this.parts.sure.run("a record is appended to the log", () => {
      for (const { tableId } of entries) this.parts.noteLogged(segment, tableId, sequence);
      writer.appended(origin);
      const appended = wal.append(sequence, record);
      failPoint("write.appended");
      return appended;
    });
    return { durable, prepared, record: { sequence, segment, head } };
  }
}
