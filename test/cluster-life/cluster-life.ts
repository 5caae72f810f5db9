/**
 * One long random life of a cluster beside the model: tables come, grow and go through either frontend, nodes die and give shards away in
 * the middle of writes and scans, frontends die, the port is slow, forgets and elects. What was acknowledged is there, once, in its newest
 * version, for whoever asks.
 *
 * Time is virtual and everything follows from the seed, so a failure is repeated by its seed.
 */
import { seededRandom } from "../../bench/macro/random.ts";
import { NO_COMPACTION, NO_LIMITS } from "../engine/machine.ts";
import { pick } from "../engine/random-table.ts";
import { ClusterMachine } from "../support/cluster/cluster-machine.ts";
import { NO_FAULTS } from "../support/cluster/memory-cluster.ts";
import { useVirtualTimers } from "../support/cluster/virtual-timers.ts";
import { VirtualTime } from "../support/cluster/virtual-time.ts";
import { LifeState } from "./life-state.ts";
import { readBesideWrite, remove, write, writeTwice } from "./row-steps.ts";
import { check, checkAll, checkCounts, scan, scanBeside } from "./scan-steps.ts";
import { changeTable, changeTtl, compact, create, drop, flush } from "./table-steps.ts";
import { trouble, type Weather } from "./troubles.ts";

const SHARDS = 3;
const NODES = 2;
const TABLES_MAX = 4;
/** 2023-07-01: twenty days after the times that most tables' rows begin at. */
const START_NANOS = 1_688_169_600n * 1_000_000_000n;

/** What a life was. */
export interface LifeFigures {
  /** What failed, and worked when it was tried again. */
  readonly failures: number;
  /** Of virtual time. */
  readonly seconds: number;
}

/** Lives one life of `steps` steps. @throws Error with the seed and the step */
export async function liveInCluster(seed: number, steps: number): Promise<LifeFigures> {
  const time = new VirtualTime();
  const restore = useVirtualTimers(time);
  let life: ClusterLife | undefined;
  let step = -1;
  try {
    life = await ClusterLife.begin(seed, time);
    for (step = 0; step < steps; step++) await life.step();
    await life.end();
    return { failures: life.state.failures, seconds: Math.round(time.monotonicMillis() / 1000) };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}, step ${step} (${life?.state.doing ?? "start"}): ${what}`, { cause: error });
  } finally {
    time.end();
    restore();
  }
}

class ClusterLife {
  readonly state: LifeState;
  private readonly weather: Weather;
  private readonly isCalm: boolean;
  /** Troubles under way. */
  private readonly troubles: Set<Promise<void>> = new Set();
  private readonly troubleFailures: unknown[] = [];

  private constructor(state: LifeState, weather: Weather, isCalm: boolean) {
    this.state = state;
    this.weather = weather;
    this.isCalm = isCalm;
  }

  static async begin(seed: number, time: VirtualTime): Promise<ClusterLife> {
    const random = seededRandom(seed);
    const frontends = 1 + random.below(2);
    const consistency = frontends === 1 && random.below(2) === 0 ? "session" : "all";
    const dice = random.below(4);
    const machine = await ClusterMachine.start({
      seed,
      time,
      shards: SHARDS,
      nodes: NODES,
      frontends,
      consistency,
      hasLeases: seed % 2 === 0,
      startNanos: START_NANOS,
      messageBytesMax: pick(random, [20_000, 1024 * 1024]),
      node: {
        limits: { ...NO_LIMITS, memtableBytes: pick(random, [30_000, NO_LIMITS.memtableBytes]) },
        compaction: { ...NO_COMPACTION, isAutomatic: random.below(2) === 0, triggerFiles: pick(random, [2, 3, 4]) },
        follow: { snapshotMessages: pick(random, [1, 4, 32]), trimMillis: pick(random, [0, 1000]) },
        ...(random.below(2) === 0 ? { seriesRenewal: { seriesMin: 0, restMillis: 0, isForced: true } } : {}),
      },
    });
    const weather = { isRough: dice >= 2, losesFrontends: consistency === "all" };
    return new ClusterLife(new LifeState(random, machine), weather, dice === 0);
  }

  async step(): Promise<void> {
    const { state } = this;
    if (!this.isCalm && state.random.below(6) === 0) this.beginTrouble(state.random.below(15));
    await this.something();
    this.checkBugs();
  }

  /** Nothing goes wrong any more, and all is there. */
  async end(): Promise<void> {
    const { state } = this;
    state.machine.cluster.rates = NO_FAULTS;
    await Promise.all(this.troubles);
    await state.machine.settled();
    await checkAll(state);
    await state.machine.close();
    this.checkBugs();
  }

  private async something(): Promise<void> {
    const { state } = this;
    const { random, tables } = state;
    if (tables.length === 0) return create(state);
    const table = pick(random, tables);
    const dice = random.below(100);
    if (dice < 30) await write(state, table);
    else if (dice < 34) await writeTwice(state, table);
    else if (dice < 38) await readBesideWrite(state, table);
    else if (dice < 60) return scan(state, table);
    else if (dice < 64) return checkCounts(state, table);
    else if (dice < 70) await remove(state, table);
    else if (dice < 76) await flush(state, table);
    else if (dice < 79) await compact(state, table);
    else if (dice < 82) return this.scanBesideOthers();
    else if (dice < 85) await this.keepUp();
    else if (dice < 90) await changeTable(state, table);
    else if (dice < 91) await changeTtl(state, table);
    else if (dice < 93) return checkAll(state);
    else if (dice < 96) return drop(state, table);
    else if (tables.length < TABLES_MAX) return create(state);
    if (random.below(2) === 0) await check(state, table);
  }

  /** A scan that stands still while rows go to files, shards to other nodes, or something goes wrong. */
  private async scanBesideOthers(): Promise<void> {
    const { state } = this;
    const table = pick(state.random, state.tables);
    const others = [() => flush(state, table), () => compact(state, table), () => this.keepUp()];
    const other = this.isCalm || state.random.below(2) === 0 ? pick(state.random, others) : () => trouble(state, this.weather);
    await scanBeside(state, table, other);
  }

  /** Series begin anew, at a frontend and in all shards. */
  private async keepUp(): Promise<void> {
    const { machine, random } = this.state;
    this.state.doing = "renew series";
    const engines = machine.hosts().map(({ engine }) => engine);
    await Promise.all([pick(random, machine.frontends).frontend.engine, ...engines].map((engine) => engine.keepUp()));
  }

  private beginTrouble(millis: number): void {
    const { state } = this;
    const begun = async (): Promise<void> => {
      await state.machine.cluster.time.sleep(millis);
      await trouble(state, this.weather);
    };
    const noted = begun()
      .catch((error: unknown) => {
        this.troubleFailures.push(error);
      })
      .finally(() => this.troubles.delete(noted));
    this.troubles.add(noted);
  }

  private checkBugs(): void {
    const { bugs } = this.state.machine;
    const [failure] = this.troubleFailures;
    if (failure !== undefined) throw new Error("a trouble failed", { cause: failure });
    if (bugs.length > 0) throw new Error(bugs.join("\n"));
  }
}
