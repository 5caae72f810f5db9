/**
 * What a random life of a cluster goes by: the cluster, its tables beside their models, what is wrong just now, and how often something is
 * tried that may fail while something is wrong.
 */
import type { Random } from "../../bench/macro/random.ts";
import { DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { InfluxDecoder } from "../../src/ingest/influx/decode.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { LiveTable } from "../engine/live-table.ts";
import { OldNumbers } from "../engine/old-numbers.ts";
import { pick } from "../engine/random-table.ts";
import { TtlLife } from "../engine/ttl-life.ts";
import type { ClusterMachine, MachineFrontend } from "../support/cluster/cluster-machine.ts";
import { NO_FAULTS } from "../support/cluster/memory-cluster.ts";

/** Of all tables of a life. */
export const DATABASE = "public";
/** Their time index. */
export const TIME = "greptime_timestamp";

/** How long a trouble is felt after it is over: what waited for its end, and what waited for that. */
const FELT_MILLIS = 60_000;
/** Longer than anything that was sent is under way: a slow request, kept by a connection that was cut. */
const UNDER_WAY_MILLIS = 45_000;
const AGAIN_MILLIS = 1000;
/** Tries after which nothing goes wrong any more, and those after which it has to work. */
const TRIES_ROUGH = 20;
const TRIES_MAX = 60;

/** What clients are told to try again after. "RequestOutdated": the table changed while a plan was on its way. */
const PASSING: ReadonlySet<StatusCode> = new Set([
  StatusCode.StorageUnavailable,
  StatusCode.RegionBusy,
  StatusCode.RequestOutdated,
  StatusCode.RateLimited,
]);

/** See the file header. */
export class LifeState {
  readonly random: Random;
  readonly machine: ClusterMachine;
  readonly tables: LiveTable[] = [];
  readonly ttls: TtlLife;
  /** Those that statements began with. */
  numbers: OldNumbers;
  /** What is done now, for whoever reads of a failure. */
  doing = "";
  created = 0;
  /** What failed and was tried again, so far. */
  failures = 0;
  /** Changes of columns, options and spreads, which writers have to know of. */
  private alterations = 0;
  private troubledUntil = 0;
  private readonly seen: WeakMap<MachineFrontend, number> = new WeakMap();
  private readonly decoders: WeakMap<MachineFrontend, InfluxDecoder> = new WeakMap();

  constructor(random: Random, machine: ClusterMachine) {
    this.random = random;
    this.machine = machine;
    this.ttls = new TtlLife(random, machine.clock);
    this.numbers = new OldNumbers(random);
  }

  /** One of the frontends, which knows what any of them was told before. @throws DbError StorageUnavailable */
  async frontend(): Promise<MachineFrontend> {
    while (this.machine.frontends.length === 0) await this.machine.cluster.time.sleep(AGAIN_MILLIS);
    const chosen = pick(this.random, this.machine.frontends);
    const { alterations } = this;
    await chosen.frontend.refresh();
    this.seen.set(chosen, alterations);
    return chosen;
  }

  /** One of the frontends, which may not have heard of tables that others made, dropped and renamed. */
  async writer(): Promise<MachineFrontend> {
    const chosen = pick(this.random, this.machine.frontends);
    if (chosen === undefined) return this.frontend(); // The only one has died.
    if (this.random.below(2) === 0 && this.seen.get(chosen) === this.alterations) return chosen;
    return this.frontend();
  }

  /** The decoder of a frontend's connection. */
  decoderOf(frontend: MachineFrontend): InfluxDecoder {
    const known = this.decoders.get(frontend) ?? new InfluxDecoder();
    this.decoders.set(frontend, known);
    return known;
  }

  /** A table as a frontend has it. */
  tableOf({ frontend }: MachineFrontend, { name }: LiveTable): Table {
    const table = frontend.engine.table(DATABASE, name);
    if (table === undefined) throw new Error(`table ${name} is gone`);
    return table;
  }

  /** Says that something goes wrong from now on, for so long. */
  trouble(millis: number): void {
    this.troubledUntil = Math.max(this.troubledUntil, this.now() + millis + FELT_MILLIS);
  }

  /** Whether requests may fail. */
  get isTroubled(): boolean {
    return this.machine.cluster.rates !== NO_FAULTS || this.now() < this.troubledUntil;
  }

  /** Resolves when nothing of what was sent before is under way any more. */
  async quiet(): Promise<void> {
    await this.machine.cluster.time.sleep(UNDER_WAY_MILLIS);
  }

  /** Does something again until it works. @param work is told how often it failed */
  async insist<T>(work: (tries: number) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      const wasTroubled = this.isTroubled;
      try {
        return await work(tries);
      } catch (error) {
        this.checkPassing(error, tries, wasTroubled);
      }
      await this.machine.cluster.time.sleep(AGAIN_MILLIS);
    }
  }

  /** A change of the catalogue through one of the frontends. @param change is told how often it failed */
  async alter(change: (engine: Engine, tries: number) => Promise<unknown>): Promise<void> {
    await this.insist(async (tries) => {
      const { frontend } = await this.frontend();
      await change(frontend.engine, tries);
    });
    this.alterations++;
  }

  /** @throws the error if it says nothing of trying again, or nothing was wrong, or it was tried often */
  checkPassing(error: unknown, tries: number, wasTroubled: boolean): void {
    if (!(error instanceof DbError) || !PASSING.has(error.code)) throw error;
    const isExpected = wasTroubled || this.isTroubled || error.code === StatusCode.RegionBusy;
    if (!isExpected) throw new Error(`it failed while nothing was wrong: ${error.message}`, { cause: error });
    if (tries >= TRIES_MAX) throw new Error(`it failed ${tries} times: ${error.message}`, { cause: error });
    if (tries >= TRIES_ROUGH) this.machine.cluster.rates = NO_FAULTS;
    this.failures++;
  }

  private now(): number {
    return this.machine.cluster.time.monotonicMillis();
  }
}
