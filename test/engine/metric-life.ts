/**
 * One long random life of logical tables on two physical ones beside the model: tables and labels come and go, rows arrive one table at a
 * time or for all of them in one request, on any of several threads, flushes and merges run, fail and stand still, the machine loses
 * power, and every scan of every table must answer what the model says. All from one seed.
 */
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../src/column/data-type.ts";
import type { Scalar } from "../../src/column/vector.ts";
import type { IngestThread } from "../../src/engine/threads/ingest-thread.ts";
import type { Table } from "../../src/table/catalog.ts";
import { ALL_TIME } from "../../src/table/scan.ts";
import { RowBatchBuilder } from "../../src/table/rows/row-batch-builder.ts";
import type { ColumnDefinition } from "../../src/table/schema.ts";
import { SeriesDictionary } from "../../src/table/series-dictionary.ts";
import type { WriteBatch, WriteOptions } from "../../src/table/write-batch.ts";
import { inParts } from "../support/in-parts.ts";
import { metricBatch, type Sample } from "../support/metric-batch.ts";
import { OldNumbers } from "./old-numbers.ts";
import { checkScan, startScan } from "./check-scan.ts";
import { Machine } from "./machine.ts";
import { type ModelRow, TableModel } from "./model.ts";
import { pick, type RandomTable, randomScan } from "./random-table.ts";

const DATABASE = "public";
const TIME: ColumnDefinition = { name: "greptime_timestamp", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false };
const VALUE: ColumnDefinition = { name: "greptime_value", type: FLOAT64, semantic: "field", nullable: true };
const CARRIERS = ["p0", "p1"] as const;
const TABLES_MAX = 6;
/** Ingest threads beside the engine's own. */
const THREADS_MAX = 2;
const NOW = 1_686_441_600_000;
const DAY = 86_400_000;

type Carrier = (typeof CARRIERS)[number];

interface Live {
  readonly name: string;
  readonly carrier: Carrier;
  readonly random: RandomTable;
  readonly model: TableModel;
}

const tagOf = (number: number): ColumnDefinition => ({ name: `tag${number}`, type: STRING, semantic: "tag", nullable: true });

/** Times that a write is sent again whose tables are made later. */
const TRIES = 20;

/**
 * Lives one life of `steps` steps, in one shard or some, over a meta store that answers at once or later.
 *
 * @throws Error with the seed and the step
 */
export async function liveMetrics(seed: number, steps: number, shards?: number, late?: "meta"): Promise<void> {
  const random = seededRandom(seed);
  const compaction = { isAutomatic: random.below(2) === 0, triggerFiles: pick(random, [2, 3]) };
  const threads = random.below(THREADS_MAX + 1);
  const segmentBytes = pick(random, [2000, 20_000, 1 << 20]);
  const later = late === undefined ? {} : { lateMeta: seededRandom(seed + 1), limits: { stallMillis: 10_000 } };
  const machine = await Machine.start({ segmentBytes, compaction, threads, ...later, ...(shards === undefined ? {} : { shards }) });
  const life = new MetricLife(random, machine, late !== undefined);
  await life.begin();
  for (let step = 0; step < steps; step++) {
    try {
      await life.step();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`metric seed ${seed}, step ${step} (${life.doing}): ${why}`, { cause: error });
    }
  }
  await machine.engine.close();
}

class MetricLife {
  doing = "";
  private readonly numbers: OldNumbers;
  private readonly random: Random;
  private readonly machine: Machine;
  private readonly tables: Live[] = [];
  /** One for all tables and restarts, as a connection of a real server would keep it. */
  private readonly dictionary = new SeriesDictionary();
  private created = 0;
  /** Whether a write may be sent again: then what changes its tables waits for it. */
  private readonly isLate: boolean;

  constructor(random: Random, machine: Machine, isLate: boolean) {
    this.isLate = isLate;
    this.random = random;
    this.machine = machine;
    this.numbers = new OldNumbers(random);
  }

  async begin(): Promise<void> {
    for (const name of CARRIERS) {
      const options: Record<string, string> = { physical_metric_table: "", ...(name === "p1" ? { append_mode: "true" } : {}) };
      const columns = [TIME, VALUE];
      await this.machine.engine.createTable({ database: DATABASE, name, columns, primaryKey: [], engine: "metric", options }, false);
    }
  }

  async step(): Promise<void> {
    const { random } = this;
    if (this.tables.length === 0) return this.create();
    const table = pick(random, this.tables);
    if (random.below(12) === 0) return this.renew(table);
    const dice = random.below(100);
    if (dice < 25) await this.writeAll();
    else if (dice < 40) await this.writeOne(table);
    else if (dice < 60) await this.check(table);
    else if (dice < 63) await this.checkCarrier(table.carrier);
    else if (dice < 71) await this.flush(table);
    else if (dice < 75) await this.compact(table);
    else if (dice < 79) await this.besideFlush(table);
    else if (dice < 82) await this.addLabel(table);
    else if (dice < 84) await this.failWrite(table);
    else if (dice < 87) await this.drop(table);
    else if (dice < 88) await this.truncate(table);
    else if (dice < 94) await this.startAgain(dice < 91 ? "restart" : "crash");
    else if (this.tables.length < TABLES_MAX) await this.create();
  }

  private async create(): Promise<void> {
    const { random } = this;
    const freed = Array.from({ length: this.created }, (_, i) => `m${i}`).filter(
      (name) => !this.tables.some((table) => table.name === name),
    );
    const name = freed.length > 0 && random.below(2) === 0 ? pick(random, freed) : `m${this.created++}`;
    this.doing = `create ${name}`;
    const carrier = pick(random, CARRIERS);
    const tags = Array.from({ length: random.below(4) }, (_, i) => tagOf(i * 2 + random.below(2)));
    const columns = [...tags, TIME, VALUE];
    const mode = carrier === "p1" ? "append" : "last_row";
    const tagValues = pick(random, [1, 2, 5]);
    const table: RandomTable = { name, mode, unit: "millisecond", spread: "days", tagValues, columns };
    this.tables.push({ name, carrier, random: table, model: new TableModel(columns, mode) });
    if (random.below(3) === 0) return this.writeAll(); // Made by a write, unless that has no row of it.
    const primaryKey = tags.map((tag) => tag.name);
    const options = { on_physical_table: carrier };
    await this.machine.engine.createTable({ database: DATABASE, name, columns, primaryKey, engine: "metric", options }, false);
  }

  private rowsOf({ model, random }: Live, count: number): ModelRow[] {
    return Array.from({ length: count }, () => {
      const time = NOW + this.random.below(40) * DAY + this.random.below(3);
      const row = new Map<string, Scalar>([
        [TIME.name, BigInt(time)],
        [VALUE.name, this.random.below(50) / 2],
      ]);
      for (const name of model.tagNames) {
        row.set(name, this.random.below(4) === 0 ? undefined : `v${this.random.below(random.tagValues)}`);
      }
      return row;
    });
  }

  /** One request with rows of several tables of one physical table, as a metric protocol sends them. */
  private async writeAll(): Promise<void> {
    const carrier = pick(this.random, CARRIERS);
    this.doing = `write to all tables of ${carrier}`;
    const parts = this.tables.filter((table) => table.carrier === carrier).map((table) => ({ table, rows: this.rowsOf(table, 12) }));
    // A table of which every label is known from its first row, so that its key has the order of the model's tags.
    for (const { table, rows } of parts) {
      if (this.machine.engine.table(DATABASE, table.name) === undefined) rows[0] = new Map([...rows[0]!, ...allTags(table)]);
    }
    const samples = parts.flatMap(({ table, rows }) => rows.map((row) => sampleOf(table, row)));
    if (samples.length === 0) return;
    const shuffled = this.random.sample(samples.length, samples.length).map((i) => samples[i]!);
    // Rows of one series and time are in any order now; the model is told in the order of the request.
    await this.write(metricBatch(shuffled, carrier, this.dictionary), optionsOf(carrier));
    for (const { table, rows } of parts) {
      const of = new Map(rows.map((row) => [sampleKey(sampleOf(table, row)), row]));
      table.model.write(
        new Set([VALUE.name]),
        shuffled.filter(({ metric }) => metric === table.name).map((sample) => of.get(sampleKey(sample))!),
      );
    }
  }

  private send(table: Live, rows: readonly ModelRow[], thread?: number): Promise<unknown> {
    const { columns } = table.model;
    const builder = new RowBatchBuilder(table.name, columns);
    for (const row of rows) builder.add(columns.map(({ name }) => row.get(name)));
    return this.write(builder.batch(), optionsOf(table.carrier), thread);
  }

  /** As a request to any of the threads. */
  private write(
    batch: WriteBatch,
    options: WriteOptions,
    thread: number = this.anyThread(),
    tries = this.isLate ? TRIES : 0,
  ): Promise<unknown> {
    if (thread > 0) (this.machine.writer(thread) as IngestThread).refresh();
    const written = this.machine.writer(thread).write(DATABASE, batch, options);
    if (tries === 0) return written;
    return written.catch((error: unknown) => {
      if (!(error instanceof DbError) || error.code !== StatusCode.RegionBusy) throw error;
      return this.write(batch, options, thread, tries - 1);
    });
  }

  private anyThread(): number {
    return this.random.below(this.machine.threads.length + 1);
  }

  private async writeOne(table: Live): Promise<void> {
    this.doing = `write ${table.name}`;
    if (this.tableOf(table) === undefined) return this.writeAll();
    const rows = this.rowsOf(table, 1 + this.random.below(30));
    await this.send(table, rows);
    table.model.write(new Set([VALUE.name]), rows);
  }

  private async failWrite(table: Live): Promise<void> {
    this.doing = `fail a write of ${table.name}`;
    if (this.tableOf(table) === undefined) return;
    const thread = this.anyThread();
    this.machine.logOf(thread).failNextWrite("no space left");
    await mayFail(this.send(table, this.rowsOf(table, 5), thread));
    await this.check(table);
  }

  private tableOf({ name }: Live): Table | undefined {
    return this.machine.engine.table(DATABASE, name);
  }

  private async check(table: Live): Promise<void> {
    const found = this.tableOf(table);
    if (found === undefined && table.model.rowCount === 0) return; // No write has made it yet.
    if (found === undefined) throw new Error(`table ${table.name} is gone`);
    const request = randomScan(this.random, table.random, table.model);
    this.doing = `${this.doing.slice(0, 40)}; scan ${table.name} (${table.model.mode})`;
    const asked = { ...request, numbers: this.numbers.of(found) };
    await checkScan(found, table.model, asked);
    await checkScan(inParts(found, this.machine.store), table.model, asked);
  }

  /** The physical table has the rows of all its tables, and no others. */
  private async checkCarrier(carrier: Carrier): Promise<void> {
    this.doing = `count the rows of ${carrier}`;
    const found = this.machine.engine.table(DATABASE, carrier);
    if (found === undefined) throw new Error(`table ${carrier} is gone`);
    const all = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "none", projection: [VALUE.name] } as const;
    let rows = 0;
    for await (const batch of found.scan(all)) rows += batch.rowCount;
    let want = 0;
    for (const table of this.tables) if (table.carrier === carrier) want += table.model.scan(all).length;
    if (rows !== want) throw new Error(`${want} rows in ${carrier}; got ${rows}`);
  }

  private async flush(table: Live): Promise<void> {
    this.doing = `flush ${table.carrier}`;
    const { machine } = this;
    const outcome = this.random.below(6);
    if (outcome === 0) machine.flushFailure = "no space left";
    if (outcome === 1) machine.commitFailure = "disk is full";
    await mayFail(machine.engine.flushTable(DATABASE, table.carrier));
    machine.flushFailure = undefined;
    machine.commitFailure = undefined;
    await this.check(table);
  }

  private async compact(table: Live): Promise<void> {
    this.doing = `compact ${table.carrier}`;
    const { machine } = this;
    if (this.random.below(4) === 0) machine.mergeFailure = "no space left";
    await mayFail(machine.engine.compactTable(DATABASE, table.carrier));
    machine.mergeFailure = undefined;
    await this.check(table);
    await this.checkCarrier(table.carrier);
  }

  /** A scan sees its snapshot, whatever is written and dropped while a flush or a merge stands still. */
  private async besideFlush(table: Live): Promise<void> {
    this.doing = `use ${table.name} while a flush and a merge stand still`;
    const { machine, random } = this;
    const found = this.tableOf(table);
    if (found === undefined) return;
    machine.holdFlush();
    machine.holdMerge();
    const work = [machine.engine.flushTable(DATABASE, table.carrier), machine.engine.compactTable(DATABASE, table.carrier)];
    const scan = await startScan(found, table.model, randomScan(random, table.random, table.model));
    await this.writeAll();
    if (random.below(4) === 0) {
      void Promise.allSettled(work); // What was under way fails late, or never ends.
      return this.afterwards("crash", machine.crash());
    }
    const dropped = random.below(3) === 0 ? this.drop(table) : undefined;
    machine.releaseFlush();
    machine.releaseMerge();
    await Promise.all([...work, dropped]);
    await scan.finish();
    await this.checkCarrier(table.carrier);
  }

  /** Series begin anew beside a scan, writes that are being logged and a flush. */
  private async renew(table: Live): Promise<void> {
    this.doing = `renew the series beside ${table.name}`;
    const { machine, random } = this;
    const found = this.tableOf(table);
    const scan = found === undefined ? undefined : await startScan(found, table.model, randomScan(random, table.random, table.model));
    if (random.below(2) === 0) machine.holdLogs();
    const write = this.writeAll();
    const renewed = machine.engine.keepUp();
    if (random.below(2) === 0) await renewed;
    machine.releaseLogs();
    await write;
    if (random.below(3) === 0) await this.flush(table);
    await renewed;
    await scan?.finish();
    await this.check(table);
    await this.checkCarrier(table.carrier);
  }

  private async addLabel(table: Live): Promise<void> {
    this.doing = `add a label to ${table.name}`;
    if (this.tableOf(table) === undefined) return;
    const column = tagOf(this.random.below(12));
    if (table.model.columns.some(({ name }) => name === column.name)) return;
    const change = { kind: "add-columns", columns: [column], ifNotExists: false } as const;
    const write = this.random.below(2) === 0 ? this.writeAll() : undefined;
    if (this.random.below(2) === 0) await this.machine.engine.alterTable(DATABASE, table.name, change);
    else {
      const row = this.rowsOf(table, 1)[0]!;
      const labelled = new Map([...row, [column.name, "new"] as const]);
      const samples = [sampleOf({ ...table, model: new TableModel([...table.model.columns, column], table.model.mode) }, labelled)];
      await this.write(metricBatch(samples, table.carrier, this.dictionary), optionsOf(table.carrier));
      await write;
      table.model.addColumn(column);
      table.model.write(new Set([VALUE.name]), [labelled]);
      return this.check(table);
    }
    await write;
    table.model.addColumn(column);
    await this.check(table);
  }

  private async drop(table: Live): Promise<void> {
    this.doing = `drop ${table.name}`;
    this.tables.splice(this.tables.indexOf(table), 1);
    await this.machine.engine.dropTable(DATABASE, table.name, true);
  }

  private async truncate(table: Live): Promise<void> {
    this.doing = `truncate ${table.name}`;
    const found = this.tableOf(table);
    if (found === undefined) return;
    const scan = await startScan(found, table.model, randomScan(this.random, table.random, table.model));
    const write = this.writeAll();
    if (this.isLate) await write;
    await this.machine.engine.truncateTable(DATABASE, table.name);
    await write;
    table.model.clear();
    await scan.finish();
    await this.check(table);
  }

  /** The next start has another number of threads now and then. */
  private async startAgain(how: "restart" | "crash"): Promise<void> {
    if (this.random.below(3) === 0) this.machine.threadCount = this.random.below(THREADS_MAX + 1);
    await this.afterwards(how, this.machine[how]());
  }

  private async afterwards(what: string, work: Promise<void>): Promise<void> {
    this.doing = what;
    await work;
    for (const table of this.tables) await this.check(table);
    for (const carrier of CARRIERS) await this.checkCarrier(carrier);
  }
}

function optionsOf(physicalTable: Carrier): WriteOptions {
  return { autoCreate: true, tableOptions: {}, physicalTable };
}

function allTags({ model }: Live): [string, Scalar][] {
  return model.tagNames.map((name) => [name, "v0"]);
}

function sampleOf({ name, model }: Live, row: ModelRow): Sample {
  const labels = model.tagNames.flatMap((tag) => (typeof row.get(tag) === "string" ? [[tag, String(row.get(tag))] as const] : []));
  return { metric: name, labels: Object.fromEntries(labels), time: Number(row.get(TIME.name)), value: Number(row.get(VALUE.name)) };
}

function sampleKey(sample: Sample): string {
  return JSON.stringify(sample);
}

async function mayFail(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof DbError)) throw error;
  });
}
