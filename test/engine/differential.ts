/**
 * One long random life of an engine beside the model: tables come, grow and go, rows arrive late, twice and far apart, flushes succeed,
 * fail and stand still, the machine loses power, and every scan must answer what the model says.
 *
 * Everything follows from the seed, so a failure is repeated by its seed.
 */
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import type { IngestThread } from "../../src/engine/threads/ingest-thread.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { ColumnDefinition } from "../../src/table/schema.ts";
import { ALL_TIME } from "../../src/table/scan.ts";
import { InfluxDecoder } from "../../src/ingest/influx/decode.ts";
import { inParts } from "../support/in-parts.ts";
import { OldNumbers } from "./old-numbers.ts";
import { checkScan, type StartedScan, startScan } from "./check-scan.ts";
import { describe, refused } from "./life-words.ts";
import { LINE_TYPES, linesOf, sayable } from "./line-text.ts";
import { definitionOf, keyBatch, type LiveTable, newLiveTable, rowBatch, rowsFor, type RowsToWrite } from "./live-table.ts";
import { MovingClock } from "../support/moving-clock.ts";
import { decodedAndWritten } from "../../src/table/decoded-and-written.ts";
import { Machine } from "./machine.ts";
import { type ModelRow, TableModel } from "./model.ts";
import { keysOf } from "./row-keys.ts";
import { TtlLife } from "./ttl-life.ts";
import { fieldColumn, pick, randomColumn, randomRetype, randomRows, randomScan, randomValue } from "./random-table.ts";

const DATABASE = "public";
const TIME = "greptime_timestamp";
const TABLES_MAX = 4;
/** Ingest threads beside the engine's own. */
const THREADS_MAX = 2;
/** 2023-07-01: twenty days after the times that most tables' rows begin at. */
const START_NANOS = 1_688_169_600n * 1_000_000_000n;

/** What answers later than on one machine. */
export type Late = "catalog" | "meta";

/**
 * Lives one life of `steps` steps, over a catalogue and a meta store that answer at once or of which one does later, in one shard or some.
 *
 * @throws Error with the seed and the step
 */
export async function live(seed: number, steps: number, late?: Late, shards?: number): Promise<void> {
  const random = seededRandom(seed);
  const segmentBytes = pick(random, [2000, 20_000, 1 << 20]);
  const compaction = { isAutomatic: random.below(2) === 0, triggerFiles: pick(random, [2, 3, 4]) };
  const clock = new MovingClock(START_NANOS);
  const threads = random.below(THREADS_MAX + 1);
  const isLate = late !== undefined;
  const lateRandom = seededRandom(seed + 1);
  const lates = late === "meta" ? { lateMeta: lateRandom } : { lateCatalog: lateRandom };
  const later = isLate ? { ...lates, limits: { stallMillis: 10_000 } } : {};
  const life = new Life(
    random,
    await Machine.start({ segmentBytes, compaction, clock, threads, ...later, ...(shards === undefined ? {} : { shards }) }),
    clock,
    isLate,
  );
  for (let step = 0; step < steps; step++) {
    try {
      await life.step();
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step} (${life.doing}): ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  await life.machine.engine.close();
}

class Life {
  readonly machine: Machine;
  doing = "";
  private readonly numbers: OldNumbers;
  private readonly random: Random;
  private readonly tables: LiveTable[] = [];
  /** One a thread, for all tables and restarts, as a connection of a real server would keep it. */
  private readonly decoders = Array.from({ length: THREADS_MAX + 1 }, () => new InfluxDecoder());
  private readonly ttls: TtlLife;
  /** Whether writes may wait for their columns: then those that bring some are not in the order in which they were begun. */
  private readonly isLate: boolean;
  private created = 0;

  constructor(random: Random, machine: Machine, clock: MovingClock, isLate: boolean) {
    this.isLate = isLate;
    this.random = random;
    this.machine = machine;
    this.numbers = new OldNumbers(random);
    this.ttls = new TtlLife(random, clock);
  }

  async step(): Promise<void> {
    const { random } = this;
    if (this.tables.length === 0) return this.create();
    const table = pick(random, this.tables);
    if (random.below(12) === 0) return this.renew(table);
    const dice = random.below(100);
    if (dice < 34) await this.write(table);
    else if (dice < 38) await this.delete(table);
    else if (dice < 39) await this.changeTtl(table);
    else if (dice < 66) await this.scan(table);
    else if (dice < 73) await this.flush(table);
    else if (dice < 75) await this.compact(table);
    else if (dice < 76) await this.compactBesideOthers(table);
    else if (dice < 80) await this.failFlush(table);
    else if (dice < 84) await this.scanBesideOthers(table);
    else if (dice < 87) await this.scanBesideFlush(table);
    else if (dice < 89) await this.addColumn(table);
    else if (dice < 90) await this.changeSchema(table);
    else if (dice < 92) await this.failWrite(table);
    else if (dice < 94) await this.restart();
    else if (dice < 96) await this.crash();
    else if (dice < 98) await this.drop(table);
    else if (this.tables.length < TABLES_MAX) await this.create();
  }

  private tableOf({ name }: LiveTable): Table {
    const table = this.machine.engine.table(DATABASE, name);
    if (table === undefined) throw new Error(`table ${name} is gone`);
    return table;
  }

  private async create(): Promise<void> {
    const { random } = this;
    this.doing = "create";
    const number = this.created++;
    const name = random.below(3) === 0 && number > 0 ? this.freeName() : `t${number}`;
    const live = newLiveTable(random, name, TIME);
    live.model.livingFrom = () => this.ttls.livingFrom(live.ttl, live.random.unit);
    this.tables.push(live);
    await this.machine.engine.createTable(definitionOf(live, DATABASE), false);
  }

  /** The name of a table that was dropped, if there is one. */
  private freeName(): string {
    for (let i = 0; i < this.created; i++) if (!this.tables.some(({ name }) => name === `t${i}`)) return `t${i}`;
    return `t${this.created}`;
  }

  /** Writes rows, or those of them that the table's way in can say. The model learns of them when the write is acknowledged. */
  private async put(table: LiveTable, given: ReadonlySet<string>, rows: readonly ModelRow[]): Promise<void> {
    await this.putAll(table, [{ given, rows }]);
  }

  /** Writes begin in the order given, which decides what is newer; threads acknowledge them in any order. */
  private async putAll(table: LiveTable, batches: readonly RowsToWrite[]): Promise<void> {
    if (this.isLate && table.isLines && batches.length > 1) {
      for (const batch of batches) await this.putAll(table, [batch]);
      return;
    }
    const begun = batches.map(({ given, rows }) => {
      const said = table.isLines ? sayable(table.model, rows) : rows;
      return { given, said, done: table.isLines ? this.sendLines(table, said) : this.send(table, given, said) };
    });
    await Promise.all(begun.map(({ done }) => done));
    for (const { given, said } of begun) table.model.write(given, said);
  }

  /** Any thread, in the state that a request finds it in. */
  private pickThread(): number {
    const thread = this.random.below(this.machine.threads.length + 1);
    if (thread > 0) (this.machine.writer(thread) as IngestThread).refresh();
    return thread;
  }

  private async sendLines(table: LiveTable, rows: readonly ModelRow[]): Promise<void> {
    const thread = this.pickThread();
    const writer = this.machine.writer(thread);
    const bytes = new TextEncoder().encode(linesOf(table.name, table.model, rows));
    const options = { database: DATABASE, precision: "ns" as const, defaultTimeNanos: 0n, schemas: writer, timeColumn: TIME };
    const once = async (): Promise<void> => {
      const { batch, errors } = (this.decoders[thread] as InfluxDecoder).decode(bytes, options);
      if (errors.length > 0) throw new Error(`line refused: ${errors[0]?.reason}: ${errors[0]?.text}`);
      await writer.write(DATABASE, batch, { autoCreate: true, tableOptions: {} });
    };
    if (!this.isLate) return once();
    await decodedAndWritten(async () => {
      if (thread > 0) (writer as IngestThread).refresh();
      await once();
    });
  }

  private send(
    table: LiveTable,
    given: ReadonlySet<string>,
    rows: readonly ModelRow[],
    thread: number = this.pickThread(),
  ): Promise<unknown> {
    return this.machine.writer(thread).write(DATABASE, rowBatch(table, { given, rows }), { autoCreate: true, tableOptions: {} });
  }

  private async write(table: LiveTable): Promise<void> {
    this.doing = `write ${table.name}`;
    await this.putAll(
      table,
      // Together, so that they share a group of the log.
      Array.from({ length: 1 + this.random.below(3) }, () => rowsFor(this.random, table)),
    );
  }

  /** Single rows, ranges, whole series or everything; keys that are there and keys that are not. @param mayFlush whether flushes go on */
  private async delete(table: LiveTable, mayFlush: boolean = true): Promise<void> {
    const { random } = this;
    this.doing = `delete from ${table.name}`;
    if (table.model.mode === "append") return this.deleteRefused(table);
    if (!table.isLines && this.machine.threads.length > 0 && random.below(3) === 0) await this.deleteBesideWrite(table, mayFlush);
    else if (random.below(3) === 0 && !(this.isLate && table.isLines)) await this.deleteByValue(table, mayFlush);
    else if (random.below(2) === 0) await this.deleteRange(table);
    else await this.deleteKeys(table);
    await this.check(table);
  }

  /** Rows that a scan found, some of them written again by any thread before they are deleted: those stay, and are said to be left out. */
  private async deleteByValue(table: LiveTable, mayFlush: boolean): Promise<void> {
    const { random, machine } = this;
    const { model } = table;
    this.doing = `delete from ${table.name} by value`;
    const engineTable = this.tableOf(table);
    const watch = engineTable.watchOverwrites(ALL_TIME);
    const found = model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
    const chosen = found.map(() => random.below(2) === 0);
    const keys = await keysOf(engineTable, model.timeName, chosen);
    const { given, rows } = rowsFor(this.random, table);
    const isHeld = random.below(2) === 0;
    if (isHeld) machine.holdLogs();
    const batches = rows.map((row, i) => {
      const key = found[i];
      return key === undefined || random.below(2) === 0 ? row : model.withKey(row, key);
    });
    const said = table.isLines ? sayable(model, batches) : batches;
    const written = table.isLines ? this.sendLines(table, said) : this.send(table, given, said);
    const between = [written];
    if (mayFlush && random.below(2) === 0) between.push(machine.engine.flushTable(DATABASE, table.name));
    if (!isHeld) await Promise.all(between);
    const deletes = keys.map((part) => engineTable.deleteRows(part, watch));
    if (isHeld) setImmediate(() => machine.releaseLogs());
    const leftOut = await Promise.all(deletes);
    await Promise.all(between);
    watch.end();
    const isWritten = model.keySet(said);
    const gone = found.filter((row, i) => chosen[i] === true && !isWritten(row));
    const want = chosen.filter((is) => is).length - gone.length;
    const got = leftOut.reduce((sum, count) => sum + count, 0);
    // Where series got other numbers meanwhile all are left out, and looked at again.
    if (watch.isFull) await this.sendKeys(table, gone);
    else if (got !== want) throw new Error(`${got} rows were left out; want ${want}`);
    model.write(given, said);
    model.delete(gone);
  }

  private async deleteKeys(table: LiveTable): Promise<void> {
    const { random } = this;
    const there = table.model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
    const some = there.filter(() => random.below(5) === 0);
    const keys = [...some, ...randomRows(random, table.random, table.model, [], random.below(4))];
    await this.sendKeys(table, keys);
    table.model.delete(keys);
  }

  private async sendKeys(table: LiveTable, keys: readonly ModelRow[]): Promise<void> {
    if (keys.length === 0) return;
    await this.machine.engine.delete(DATABASE, keyBatch(table, keys));
  }

  /** Rows that a thread numbers before the delete and tells of after it, with or without a flush that waits for them. */
  private async deleteBesideWrite(table: LiveTable, mayFlush: boolean): Promise<void> {
    const { random, machine } = this;
    const thread = 1 + random.below(machine.threads.length);
    (machine.writer(thread) as IngestThread).refresh();
    const keys = table.model.scan({ timeRange: ALL_TIME, tagPredicates: [] }).filter(() => random.below(3) === 0);
    const { given, rows } = rowsFor(this.random, table);
    machine.logOf(thread).hold();
    const written = this.send(table, given, rows, thread);
    const flushed = mayFlush && random.below(2) === 0 ? machine.engine.flushTable(DATABASE, table.name) : undefined;
    await this.sendKeys(table, keys);
    machine.logOf(thread).release();
    await Promise.all([written, flushed]);
    table.model.write(given, rows);
    table.model.delete(keys); // Of rows that were there: their series are known.
  }

  private async deleteRange(table: LiveTable): Promise<void> {
    const { timeRange, tagPredicates } = randomScan(this.random, table.random, table.model);
    const gone = table.model.scan({ timeRange, tagPredicates });
    const count = await this.tableOf(table).deleteRange({ timeRange, tagPredicates });
    if (count !== gone.length) throw new Error(`deleted ${count} rows; want ${gone.length}`);
    table.model.delete(gone);
  }

  private async deleteRefused(table: LiveTable): Promise<void> {
    await refused(this.tableOf(table).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] }));
  }

  /** Another ttl, or time passes. What has expired is gone for good before a ttl may become longer. */
  private async changeTtl(table: LiveTable): Promise<void> {
    const { engine } = this.machine;
    for (const live of this.tables) {
      await engine.flushTable(DATABASE, live.name);
      await engine.compactTable(DATABASE, live.name);
      live.model.removeExpired();
    }
    const change = this.ttls.next();
    this.doing = `ttl of ${table.name}: ${JSON.stringify(change)}`;
    if (change.kind === "table") {
      table.ttl = change.ttl;
      await engine.alterTable(DATABASE, table.name, { kind: "set-options", options: { ttl: change.ttl } });
    } else if (change.kind === "database") await engine.alterDatabase(DATABASE, { ttl: change.ttl });
    for (const live of this.tables) await this.check(live);
  }

  private async failWrite(table: LiveTable): Promise<void> {
    this.doing = `fail a write of ${table.name}`;
    const { given, rows } = rowsFor(this.random, table);
    const taken = new TableModel(table.model.columns, "append");
    taken.livingFrom = table.model.livingFrom;
    taken.write(given, rows);
    if (taken.rowCount === 0) return; // Rows that have expired are not logged.
    const thread = this.pickThread();
    this.machine.logOf(thread).failNextWrite("no space left");
    await refused(this.send(table, given, rows, thread));
    await this.check(table);
  }

  private async scan(table: LiveTable): Promise<void> {
    await this.check(table);
    const bounds = this.tableOf(table).timeBounds();
    const times = table.model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
    for (const row of times) {
      const time = row.get(TIME) as bigint;
      if (bounds === undefined || time < bounds.start || time >= bounds.end) throw new Error(`time bounds hold ${time}`);
    }
  }

  private async check(table: LiveTable): Promise<void> {
    const request = randomScan(this.random, table.random, table.model);
    this.doing = `${this.doing.slice(0, 40)}; scan ${table.name} (${table.model.mode}) ${describe(request)}`;
    const found = this.tableOf(table);
    const asked = { ...request, numbers: this.numbers.of(found) };
    await checkScan(found, table.model, asked);
    await checkScan(inParts(found, this.machine.store), table.model, asked);
  }

  private async flush(table: LiveTable): Promise<void> {
    this.doing = `flush ${table.name}`;
    await this.machine.engine.flushTable(DATABASE, table.name);
    await this.check(table);
  }

  private async compact(table: LiveTable): Promise<void> {
    this.doing = `compact ${table.name}`;
    const { machine } = this;
    const isFailing = this.random.below(4) === 0;
    if (isFailing && this.random.below(2) === 0) machine.mergeFailure = "no space left";
    else if (isFailing) machine.commitFailure = "disk is full";
    await machine.engine.compactTable(DATABASE, table.name).catch((error: unknown) => {
      if (!(error instanceof DbError)) throw error;
    });
    machine.mergeFailure = undefined;
    machine.commitFailure = undefined;
    await this.check(table);
  }

  /** Scans, writes, flushes, drops and power cuts while a merge has written its file and is not known yet. */
  private async compactBesideOthers(table: LiveTable): Promise<void> {
    this.doing = `use ${table.name} while its compaction stands still`;
    const { machine } = this;
    const scan = await this.begin(table);
    machine.holdMerge();
    const compacted = machine.engine.compactTable(DATABASE, table.name);
    await this.write(table);
    if (this.random.below(2) === 0) await this.delete(table);
    if (this.random.below(2) === 0) await machine.engine.flushTable(DATABASE, table.name);
    if (this.random.below(4) === 0) return this.crash();
    const isDropped = this.random.below(4) === 0;
    if (isDropped) await this.drop(table);
    machine.releaseMerge();
    await compacted;
    await scan.finish();
    if (!isDropped) await this.check(table);
  }

  private async failFlush(table: LiveTable): Promise<void> {
    this.doing = `fail a flush of ${table.name}`;
    const { machine } = this;
    if (this.random.below(2) === 0) machine.flushFailure = "no space left";
    else machine.commitFailure = "disk is full";
    await machine.engine.flushTable(DATABASE, table.name).catch((error: unknown) => {
      if (!(error instanceof DbError)) throw error;
    });
    machine.flushFailure = undefined;
    machine.commitFailure = undefined;
    await this.check(table);
  }

  /** A scan sees its snapshot, whatever happens after its first batch. */
  private async scanBesideOthers(table: LiveTable): Promise<void> {
    this.doing = `scan ${table.name} beside a write and a flush`;
    const scan = await this.begin(table);
    const { given, rows } = rowsFor(this.random, table);
    await this.put(table, given, rows);
    if (this.random.below(2) === 0) await this.machine.engine.flushTable(DATABASE, table.name);
    if (this.random.below(4) === 0) await this.drop(table);
    await scan.finish();
  }

  /** Series begin anew beside a scan, a write that is being logged, a delete and a flush. */
  private async renew(table: LiveTable): Promise<void> {
    this.doing = `renew the series of ${table.name}`;
    const { machine, random } = this;
    const scan = await this.begin(table);
    const { given, rows } = rowsFor(this.random, table);
    if (random.below(2) === 0) machine.holdLogs();
    const write = this.put(table, given, rows);
    const renewed = machine.engine.keepUp();
    if (random.below(2) === 0) await renewed;
    machine.releaseLogs();
    await write;
    if (random.below(3) === 0) await machine.engine.flushTable(DATABASE, table.name);
    if (random.below(3) === 0) await this.delete(table);
    await renewed;
    await scan.finish();
    await this.check(table);
  }

  private begin(table: LiveTable): Promise<StartedScan> {
    return startScan(this.tableOf(table), table.model, randomScan(this.random, table.random, table.model));
  }

  private async scanBesideFlush(table: LiveTable): Promise<void> {
    this.doing = `use ${table.name} while its flush stands still`;
    const { machine } = this;
    machine.holdFlush();
    const flushed = machine.engine.flushTable(DATABASE, table.name);
    const scan = await this.begin(table);
    await this.write(table);
    if (this.random.below(2) === 0) await this.delete(table, false); // Flushes stand still.
    if (this.random.below(4) === 0) return this.crash();
    const isDropped = this.random.below(6) === 0;
    const dropped = isDropped ? machine.engine.dropTable(DATABASE, table.name, false) : undefined;
    if (isDropped) this.forget(table);
    machine.releaseFlush();
    await flushed;
    await dropped;
    await scan.finish();
    if (!isDropped) await this.check(table);
  }

  private async addColumn(table: LiveTable): Promise<void> {
    this.doing = `add a column to ${table.name}`;
    if (table.isLines) return this.addColumnByLine(table);
    const column = randomColumn(this.random, table.nextColumn++);
    const { machine } = this;
    const { given, rows } = rowsFor(this.random, table);
    const isBeside = this.random.below(2) === 0;
    if (isBeside) machine.holdLogs();
    const write = isBeside ? this.send(table, given, rows) : undefined;
    await machine.engine.alterTable(DATABASE, table.name, { kind: "add-columns", columns: [column], ifNotExists: false });
    machine.releaseLogs();
    await write;
    if (isBeside) table.model.write(given, rows);
    table.model.addColumn(column); // The write is older than the column: it was logged before.
    await this.check(table);
  }

  private async changeSchema(table: LiveTable): Promise<void> {
    const steps = [
      () => this.dropColumn(table),
      () => this.changeType(table),
      () => this.changeType(table),
      () => this.changeDefault(table),
      () => this.changeSpread(table),
      () => this.rename(table),
      () => this.truncate(table),
    ];
    await pick(this.random, steps)();
    await this.check(table);
  }

  private fieldsOf({ model }: LiveTable): ColumnDefinition[] {
    return model.columns.filter(({ semantic }) => semantic === "field");
  }

  /** Half of the time another column takes its name at once. */
  private async dropColumn(table: LiveTable): Promise<void> {
    const { engine } = this.machine;
    const fields = this.fieldsOf(table);
    if (fields.length < 2) return;
    const { name } = pick(this.random, fields);
    this.doing = `drop column ${name} of ${table.name}`;
    await engine.alterTable(DATABASE, table.name, { kind: "drop-columns", names: [name] });
    table.model.dropColumn(name);
    table.retyped.delete(name);
    if (table.isLines || this.random.below(2) === 0) return;
    const column = { ...randomColumn(this.random, 0), name, semantic: "field" as const };
    await engine.alterTable(DATABASE, table.name, { kind: "add-columns", columns: [column], ifNotExists: false });
    table.model.addColumn(column);
  }

  /** Beside a write that was logged before, or a flush that stands still, or neither. */
  private async changeType(table: LiveTable): Promise<void> {
    const { machine, random } = this;
    const column = pick(random, this.fieldsOf(table));
    const type = randomRetype(random, column.type, table.isLines, table.model.mode === "last_non_null");
    if (type === undefined || table.retyped.has(column.name)) return;
    this.doing = `make ${column.name} of ${table.name}, ${column.type.kind}, ${JSON.stringify(type)}`;
    table.retyped.add(column.name);
    const { given, rows } = rowsFor(this.random, table);
    const isBesideWrite = !table.isLines && random.below(2) === 0;
    const isBesideFlush = random.below(3) === 0;
    if (isBesideFlush) machine.holdFlush();
    const flushed = isBesideFlush ? machine.engine.flushTable(DATABASE, table.name) : undefined;
    if (isBesideWrite) machine.holdLogs();
    const write = isBesideWrite ? this.send(table, given, rows) : undefined;
    await machine.engine.alterTable(DATABASE, table.name, { kind: "change-type", column: column.name, type });
    machine.releaseLogs();
    await write;
    machine.releaseFlush();
    await flushed;
    if (isBesideWrite) table.model.write(given, rows);
    table.model.changeType(column.name, type);
  }

  /** Which changes nothing that is seen while there is one shard. */
  private async changeSpread(table: LiveTable): Promise<void> {
    const { engine } = this.machine;
    const spread = pick(this.random, [undefined, 1, 8]);
    this.doing = `spread ${table.name} over ${spread} shards`;
    const from = BigInt(this.random.below(1000));
    await engine.alterTable(DATABASE, table.name, { kind: "set-spread", spread, from });
    const { options } = this.tableOf(table).schema;
    if (options["spread"] !== spread?.toString()) throw new Error(`the spread is ${options["spread"]}`);
  }

  private async changeDefault(table: LiveTable): Promise<void> {
    if (table.isLines) return;
    const { name, type } = pick(this.random, this.fieldsOf(table));
    const value = this.random.below(3) === 0 ? undefined : randomValue(this.random, type);
    this.doing = `set the default of ${name} of ${table.name}`;
    const chosen = value === undefined ? undefined : { kind: "literal" as const, value };
    await this.machine.engine.alterTable(DATABASE, table.name, { kind: "set-default", column: name, default: chosen });
    table.model.setDefault(name, value);
  }

  private async rename(table: LiveTable): Promise<void> {
    const name = `t${this.created++}`;
    this.doing = `rename ${table.name} to ${name}`;
    await this.machine.engine.alterTable(DATABASE, table.name, { kind: "rename", name });
    table.name = name;
  }

  /** Rows that are being logged go with the others; what a scan has begun to read stays for it. */
  private async truncate(table: LiveTable): Promise<void> {
    this.doing = `truncate ${table.name}`;
    const { machine } = this;
    const scan = await this.begin(table);
    machine.holdLogs();
    const { given, rows } = rowsFor(this.random, table);
    const write = this.send(table, given, rows);
    const truncated = machine.engine.truncateTable(DATABASE, table.name);
    machine.releaseLogs();
    await Promise.all([write, truncated]);
    table.model.clear();
    await scan.finish();
  }

  private async addColumnByLine(table: LiveTable): Promise<void> {
    const column = fieldColumn(`field${table.nextColumn++}`, pick(this.random, LINE_TYPES));
    if (table.model.livingFrom() !== undefined) return; // A row that has expired makes no column.
    const row = sayable(table.model, rowsFor(this.random, table).rows)[0];
    const value = column.type.kind === "string" ? "first" : column.type.kind === "boolean" ? true : 1;
    if (row === undefined) return;
    table.model.addColumn(column);
    const rows = [new Map([...row, [column.name, value] as const])];
    await this.sendLines(table, rows);
    table.model.write(new Set(), rows);
    await this.check(table);
  }

  /** The next start has another number of threads now and then. */
  private rethread(): void {
    if (this.random.below(3) === 0) this.machine.threadCount = this.random.below(THREADS_MAX + 1);
  }

  private async restart(): Promise<void> {
    this.doing = "restart";
    this.rethread();
    await this.machine.restart();
    await this.checkAll();
  }

  private async crash(): Promise<void> {
    this.doing = "crash";
    this.rethread();
    await this.machine.crash();
    await this.checkAll();
  }

  private async checkAll(): Promise<void> {
    const names = this.machine.engine.tables(DATABASE).map(({ schema }) => schema.name);
    const want = this.tables.map(({ name }) => name);
    if (names.sort().join() !== want.sort().join()) throw new Error(`tables ${want.join()}; got ${names.join()}`);
    for (const table of this.tables) await this.check(table);
  }

  private async drop(table: LiveTable): Promise<void> {
    this.doing = `drop ${table.name}`;
    this.forget(table);
    await this.machine.engine.dropTable(DATABASE, table.name, false);
  }

  private forget(table: LiveTable): void {
    this.tables.splice(this.tables.indexOf(table), 1);
  }
}
