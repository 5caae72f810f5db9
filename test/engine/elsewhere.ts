/**
 * Rows that are not in the engine that takes them: what its lanes took is read back by an engine that has them, as the logs of so many
 * threads.
 */
import type { RowsElsewhere } from "../../src/engine/elsewhere.ts";
import { LogWriter } from "../../src/engine/log/log-writer.ts";
import type { RecordLane } from "../../src/engine/log/record-lane.ts";
import { encodeWriteRecord, type RecordEntry } from "../../src/storage/memtable/write-record.ts";
import { type MemoryWal, memoryWal } from "../../src/storage/wal/memory-wal.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { TimeRange } from "../../src/table/scan.ts";
import type { TableSchema } from "../../src/table/schema.ts";
import { Machine, type MachineOptions } from "./machine.ts";

/** A lane that keeps its records in a log. */
export class WalLane implements RecordLane {
  readonly wal: MemoryWal = memoryWal();
  /** Tables of the chunks of each record, by id. */
  readonly records: (readonly number[])[] = [];
  isBusy = false;
  /** What the next appends fail with. */
  fails: Error | undefined;
  admitted = 0;
  /** Set: records are appended once it has resolved. */
  gate: Promise<void> | undefined;
  private readonly writer: LogWriter = new LogWriter(() => 0);

  async open(): Promise<void> {
    await this.wal.recover(() => undefined);
  }

  beginRecord(): number {
    return this.wal.beginRecord();
  }

  endSegment(): void {
    this.wal.endSegment();
  }

  async append(entries: readonly RecordEntry[]): Promise<void> {
    if (this.fails !== undefined) {
      this.endSegment();
      throw this.fails;
    }
    const origin = this.writer.next(this.wal.beginRecord());
    this.writer.appended(origin);
    this.records.push(entries.map(({ tableId }) => tableId));
    const appended = this.wal.append(entries[0]?.chunk.sequence ?? 0, encodeWriteRecord(origin, entries));
    if (this.gate !== undefined) await this.gate;
    await appended;
  }

  admit(): Promise<void> {
    this.admitted++;
    return Promise.resolve();
  }

  failure(): string | undefined {
    return this.fails?.message;
  }
}

/** What was asked for, and of which table. */
export type Asked = readonly [what: string, table: string];

/** See the file header. */
export class FakeElsewhere<L extends RecordLane> implements RowsElsewhere {
  readonly lanes: readonly L[];
  readonly asked: Asked[] = [];
  readonly forgotten: number[] = [];
  bounds: TimeRange | undefined;
  /** What others do before the catalogue is refreshed. */
  onRefresh: () => Promise<unknown> = () => Promise.resolve();
  private readonly shown = new Map<number, Table>();

  constructor(lanes: readonly L[]) {
    this.lanes = lanes;
  }

  table(id: number, schema: () => TableSchema): Table {
    let table = this.shown.get(id);
    if (table === undefined) {
      table = {
        get schema() {
          return schema();
        },
        timeBounds: () => this.bounds,
      } as Table; // Nobody reads its rows here.
      this.shown.set(id, table);
    }
    return table;
  }

  forget(id: number): void {
    this.shown.delete(id);
    this.forgotten.push(id);
  }

  async refreshed(): Promise<void> {
    await this.onRefresh();
  }

  timeBounds(schema: TableSchema): Promise<TimeRange | undefined> {
    this.asked.push(["bounds", schema.name]);
    return Promise.resolve(this.bounds);
  }

  flush(schema: TableSchema): Promise<void> {
    return this.note("flush", schema);
  }

  compact(schema: TableSchema): Promise<void> {
    return this.note("compact", schema);
  }

  buildIndexes(schema: TableSchema): Promise<void> {
    return this.note("build-indexes", schema);
  }

  truncate(schema: TableSchema): Promise<void> {
    return this.note("truncate", schema);
  }

  deleteBatch(database: string): Promise<{ readonly rowCount: number }> {
    this.asked.push(["delete", database]);
    return Promise.resolve({ rowCount: 7 });
  }

  private note(what: string, { name }: TableSchema): Promise<void> {
    this.asked.push([what, name]);
    return Promise.resolve();
  }
}

/** A machine without rows, and what has them. */
export interface Frontend<L extends RecordLane> {
  readonly machine: Machine;
  readonly elsewhere: FakeElsewhere<L>;
  /** Ends the engine, and starts one that has the rows of logs, one a shard. */
  readonly rows: (logs: readonly MemoryWal[]) => Promise<void>;
}

/** Starts a machine whose rows go to lanes, one a shard. */
export async function startFrontend<L extends RecordLane>(lanes: readonly L[], options: MachineOptions = {}): Promise<Frontend<L>> {
  const elsewhere = new FakeElsewhere(lanes);
  let isRowless = true;
  const machine = await Machine.start({ ...options, shards: lanes.length, elsewhere: () => (isRowless ? elsewhere : undefined) });
  const rows = async (logs: readonly MemoryWal[]): Promise<void> => {
    isRowless = false;
    await machine.engine.close();
    for (const [i, wal] of logs.entries()) machine.threadWals.set(i + 1, wal);
    await machine.crash();
  };
  return { machine, elsewhere, rows };
}

/** The same over lanes that keep records in logs. */
export async function startWithWals(shards: number, options: MachineOptions = {}): Promise<Frontend<WalLane>> {
  const lanes = Array.from({ length: shards }, () => new WalLane());
  for (const lane of lanes) await lane.open();
  return startFrontend(lanes, options);
}
