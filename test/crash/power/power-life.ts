/**
 * One random life on a machine that loses power: writes in groups, flushes, merges and changes of tables until the process dies somewhere
 * in between; after each death a start, and the question whether every promise was kept.
 *
 * Promises: the start succeeds; a write that was acknowledged is there, whole, with its values, once; one that was not is there whole or
 * not at all over its tables, and stays as it was found; a change of a table is made or not; no file is there that nobody knows.
 *
 * What `wal.sync` takes off that: with `interval` a power loss, and only that, takes what was acknowledged since the last sync; with
 * `never` a power loss may take anything, so that such a life has none, but a dead process loses nothing.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { DbError } from "../../../src/base/error.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { WalSync } from "../../../src/storage/wal/wal.ts";
import { put, read } from "../../engine/lines.ts";
import { PowerMachine } from "./power-machine.ts";

const TABLES = ["one", "two", "three"];
const WRITERS_MAX = 10;
const ROWS_MAX = 60;
/** A process dies after so many calls at most: soon, in the midst of its first steps, or later. */
const CALLS_MAX = [16, 90];
const DAY_NANOS = 86_400 * 1e9;
/** Longer than a log waits before it looks whether its disk works again. */
const HEAL_MS = 120;
/** Calls to a disk that is slow for a while, and how slow: some take as long as a log waits before it heals. */
const SLOW_CALLS_MAX = 12;
const SLOW_MS_MAX = 60;
/** Several times as long as a log waits for its next sync with `interval`. */
const SYNC_WAIT_MS = 12;
/** Longest life of a process: a log that cannot heal, or a step that waits for nothing. */
const PROCESS_MS_MAX = 15_000;

/** One request: rows of the same number in some tables. */
interface Batch {
  readonly id: number;
  readonly tables: readonly string[];
  readonly rows: number;
}

/** What was promised of one table. */
interface TableModel {
  readonly batches: Map<number, Batch>;
  /** Whether a removal of all rows was asked for and not answered. */
  isBeingEmptied: boolean;
}

/** What a life came across. */
export interface PowerReport {
  readonly deaths: number;
  readonly deathsInStart: number;
  readonly powerLosses: number;
  readonly acknowledged: number;
  readonly unansweredFound: number;
  readonly unansweredGone: number;
}

/** How a life is lived. */
export interface PowerLifeOptions {
  /** Default: each record is on disk before its answer. */
  readonly sync?: WalSync;
  /** Ingest threads of which one number is drawn; default none, one or two. */
  readonly threads?: readonly number[];
}

/** Lives one life of so many deaths in `folder`, which must not exist. @throws Error with the seed and the death */
export async function livePower(seed: number, deaths: number, folder: string, of: PowerLifeOptions = {}): Promise<PowerReport> {
  const { sync = "always", threads = [0, 1, 2] } = of;
  const random = seededRandom(seed);
  const options = { sync, segmentBytes: 200 << random.below(8), threads: threads[random.below(threads.length)] ?? 0 };
  const life = new PowerLife(random, new PowerMachine(folder, random, options), sync);
  for (let death = 0; death < deaths; death++) {
    try {
      await life.liveAndDie();
    } catch (error) {
      throw new Error(`seed ${seed}, death ${death + 1} of a log synced ${sync}, ${life.doing}: ${String(error)}`, { cause: error });
    }
  }
  return life.report;
}

class PowerLife {
  doing = "";
  readonly report: { -readonly [K in keyof PowerReport]: PowerReport[K] } = {
    deaths: 0,
    deathsInStart: 0,
    powerLosses: 0,
    acknowledged: 0,
    unansweredFound: 0,
    unansweredGone: 0,
  };
  private readonly random: Random;
  private readonly machine: PowerMachine;
  private readonly sync: WalSync;
  /** Requests that a sync must have covered, although they were acknowledged before it. */
  private readonly settled: Set<number> = new Set();
  private hasLostPower = false;
  private readonly tables: Map<string, TableModel> = new Map(TABLES.map((name) => [name, newTable()]));
  /** Requests without an answer, or that a failing disk refused. */
  private unanswered: Batch[] = [];
  /** Whether calls of this process to its disk were made to fail. */
  private isFailing = false;
  private nextBatch = 1;

  constructor(random: Random, machine: PowerMachine, sync: WalSync) {
    this.random = random;
    this.machine = machine;
    this.sync = sync;
  }

  /** Starts, checks, does things until the process dies, sometimes within the start. */
  async liveAndDie(): Promise<void> {
    this.doing = "start";
    this.isFailing = false;
    const { machine, random } = this;
    const isShort = random.below(4) === 0;
    const isReady = await machine.start(isShort ? random.below(12) : Number.POSITIVE_INFINITY);
    if (isReady && machine.engine !== undefined) {
      await this.check(machine.engine);
      machine.attached.dieAfter(random.below(CALLS_MAX[random.below(2)]!));
      const deadline = performance.now() + PROCESS_MS_MAX;
      while (!machine.attached.isDead) {
        await this.step(machine.engine);
        if (machine.attached.misuse !== undefined) throw new Error(machine.attached.misuse);
        if (performance.now() > deadline)
          throw new Error(`no step comes to the disk any more: ${machine.engine.failure() ?? "no failure"}`);
      }
    } else {
      this.report.deathsInStart++;
    }
    this.report.deaths++;
    if (random.below(3) === 0 || this.sync === "never") return machine.kill();
    machine.losePower();
    this.hasLostPower = true;
    this.report.powerLosses++;
  }

  /** One step, or as much of it as the process lives to see. */
  private async step(engine: Engine): Promise<void> {
    const dice = this.random.below(100);
    const name = TABLES[this.random.below(TABLES.length)]!;
    if (this.random.below(14) === 0) this.failSome();
    if (this.random.below(14) === 0) this.machine.attached.slowSome(this.random.below(SLOW_CALLS_MAX), SLOW_MS_MAX, this.random);
    // A log that heals beside upkeep and a flush, which trim it, and writes to all logs.
    if (this.isFailing && this.random.below(3) === 0) {
      const beside = this.random.below(2) === 0 ? [this.flushKnown(engine, name), engine.keepUp(), this.writeGroup(engine)] : [];
      await this.whileAlive("heal beside a trim", Promise.all([Bun.sleep(HEAL_MS), ...beside]));
    }
    if (this.sync === "interval" && dice % 8 === 0) await this.waitForSync();
    if (dice < 65) await this.writeGroup(engine);
    else if (dice < 80) await this.whileAlive(`flush ${name}`, this.known(engine, name) ? engine.flushTable("public", name) : undefined);
    else if (dice < 88) await this.whileAlive(`merge ${name}`, this.known(engine, name) ? engine.compactTable("public", name) : undefined);
    else if (dice < 93)
      await this.empty(name, `truncate ${name}`, this.known(engine, name) ? engine.truncateTable("public", name) : undefined);
    else if (dice < 97) await this.empty(name, `drop ${name}`, engine.dropTable("public", name, true));
    else await this.whileAlive("write beside a flush", Promise.all([this.writeGroup(engine), this.flushKnown(engine, name)]));
  }

  /** With a log that is synced from time to time: until all that was acknowledged must be durable. */
  private async waitForSync(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await this.whileAlive("wait for a sync", Bun.sleep(SYNC_WAIT_MS));
    if (this.isFailing || this.machine.attached.isDead) return;
    for (const { batches } of this.tables.values()) for (const id of batches.keys()) this.settled.add(id);
  }

  private failSome(): void {
    this.isFailing = true;
    this.machine.attached.failSome(this.random.below(12), 1 + this.random.below(4), this.random);
  }

  private known(engine: Engine, name: string): boolean {
    return engine.table("public", name) !== undefined;
  }

  private async flushKnown(engine: Engine, name: string): Promise<void> {
    if (this.known(engine, name)) await engine.flushTable("public", name);
  }

  /** Several requests at once, which share groups of the log. */
  private async writeGroup(engine: Engine): Promise<void> {
    const writers = Array.from({ length: 1 + this.random.below(WRITERS_MAX) }, () => this.write(engine));
    await this.whileAlive("write", Promise.all(writers));
  }

  private async write(engine: Engine): Promise<void> {
    const { random } = this;
    const tables = TABLES.filter(() => random.below(2) === 0);
    const batch = { id: this.nextBatch++, tables: tables.length === 0 ? [TABLES[0]!] : tables, rows: 1 + random.below(ROWS_MAX) };
    this.unanswered.push(batch);
    const { writers } = this.machine;
    const writer = writers[random.below(writers.length)] ?? engine;
    const isTaken = await put(writer, linesOf(batch)).then(
      () => true,
      (error: unknown) => {
        if (!this.isFailing || !(error instanceof DbError)) throw error;
        return false;
      },
    );
    if (this.machine.attached.isDead || !isTaken) return;
    this.unanswered = this.unanswered.filter(({ id }) => id !== batch.id);
    this.report.acknowledged++;
    for (const name of batch.tables) this.tables.get(name)?.batches.set(batch.id, batch);
  }

  private async empty(name: string, what: string, work: Promise<unknown> | undefined): Promise<void> {
    if (work === undefined) return;
    const table = this.tables.get(name)!;
    table.isBeingEmptied = true;
    await this.whileAlive(what, work);
    const { engine, attached } = this.machine;
    if (attached.isDead || engine === undefined) return;
    const isEmpty = !this.known(engine, name) || (await rowsOfBatches(engine, name)).size === 0;
    table.isBeingEmptied = false;
    if (!isEmpty) {
      if (!this.isFailing) throw new Error(`${name} has rows after ${what}`);
      return;
    }
    table.batches.clear();
    // A request that was refused may come back after a death, without the rows that were removed meanwhile.
    this.unanswered = this.unanswered.map((batch) => ({ ...batch, tables: batch.tables.filter((table) => table !== name) }));
  }

  /** Waits for work or death. A refusal is fine only from a process that is dying. */
  private async whileAlive(what: string, work: Promise<unknown> | undefined): Promise<void> {
    this.doing = what;
    const { attached } = this.machine;
    try {
      await within(Promise.race([work, attached.died]), what);
    } catch (error) {
      if (!attached.isDead && !this.isFailing) throw error;
      if (!(error instanceof DbError)) throw error;
    }
  }

  private async check(engine: Engine): Promise<void> {
    this.doing = "check after a start";
    const found = new Map<string, Map<number, number>>();
    for (const name of TABLES) found.set(name, this.known(engine, name) ? await rowsOfBatches(engine, name) : new Map<number, number>());
    this.settle(found);
    for (const [name, table] of this.tables) {
      const rows = found.get(name)!;
      if (table.isBeingEmptied && rows.size === 0) table.batches.clear();
      table.isBeingEmptied = false;
      if (this.sync !== "always" && this.hasLostPower) this.forgetLost(table, rows);
      for (const batch of table.batches.values()) wantWhole(name, batch, rows);
      for (const id of rows.keys())
        if (!table.batches.has(id)) throw new Error(`${name} holds batch ${id}, which was removed or never sent`);
    }
    // With a log that may lose its end, a flush that was cut short may leave a file whose rows nothing else has: it stays.
    const strays = strayFiles(this.machine).filter((name) => this.sync === "always" || name.startsWith("missing: "));
    if (strays.length > 0) throw new Error(`files that do not match their entries: ${strays.join(", ")}`);
    this.hasLostPower = false;
  }

  /** A power loss may have taken what no sync had covered. */
  private forgetLost(table: TableModel, found: ReadonlyMap<number, number>): void {
    for (const id of table.batches.keys()) if (!found.has(id) && !this.settled.has(id)) table.batches.delete(id);
  }

  /** Unanswered batches are whole over their tables, apart from tables that were being emptied, or absent. */
  private settle(found: ReadonlyMap<string, ReadonlyMap<number, number>>): void {
    for (const batch of this.unanswered) {
      const names = batch.tables.filter((name) => !this.tables.get(name)!.isBeingEmptied || found.get(name)!.has(batch.id));
      const held = names.filter((name) => found.get(name)!.has(batch.id));
      if (held.length > 0 && held.length < names.length) throw new Error(`batch ${batch.id} is in ${held.join()} of ${names.join()}`);
      for (const name of held) this.tables.get(name)!.batches.set(batch.id, batch);
      if (held.length > 0) this.report.unansweredFound++;
      else this.report.unansweredGone++;
    }
    this.unanswered = [];
  }
}

/** Waits, but not for ever: a step that stands still is a failure. */
async function within(work: Promise<unknown>, what: string): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} stands still`)), PROCESS_MS_MAX);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function newTable(): TableModel {
  return { batches: new Map(), isBeingEmptied: false };
}

function wantWhole(name: string, { id, rows }: Batch, found: ReadonlyMap<number, number>): void {
  const count = found.get(id) ?? 0;
  if (count !== rows) throw new Error(`${name} holds ${count} of the ${rows} rows of batch ${id}, which was acknowledged or found before`);
}

const valueOf = (id: number, row: number): number => id * 1000 + row;
/** Batches lie days apart, so that flushes make several files. */
const timeOf = (id: number, row: number): number => (id % 5) * 40 * DAY_NANOS + id * 1000 + row;

function linesOf({ id, tables, rows }: Batch): string {
  const lines = tables.flatMap((name) =>
    Array.from({ length: rows }, (_, row) => `${name},batch=b${id},seat=s${row % 7} v=${valueOf(id, row)}i ${timeOf(id, row)}`),
  );
  return lines.join("\n");
}

/** Rows of each batch in a table. @throws Error when one is there twice or has another value */
async function rowsOfBatches(engine: Engine, name: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const seen = new Set<string>();
  for (const text of await read(engine, name, { projection: ["batch", "v", "greptime_timestamp"] })) {
    if (seen.has(text)) throw new Error(`${name} holds ${text} twice`);
    seen.add(text);
    const [batch = "", value, time] = text.split("|");
    const id = Number(batch.slice(2, -1));
    const row = Number(value) - id * 1000;
    if (Number(time) !== timeOf(id, row)) throw new Error(`${name} holds ${text}, which nobody sent`);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function strayFiles(machine: PowerMachine): string[] {
  const root = join(machine.root, "data");
  const entries = existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [];
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const known = new Set(machine.fileEntries());
  return [...found.filter((name) => !known.delete(name)), ...[...known].map((name) => `missing: ${name}`)];
}
