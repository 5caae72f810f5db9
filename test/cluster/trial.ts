/**
 * A trial: clients write and read all the time, and in each round something happens to one process.
 *
 * ```text
 *   round:  a write is acknowledged ─► fault ─► queries whole again? ─► restart, go on or heal ─► compare what was promised ─► …
 *   faults: kill -9 │ SIGSTOP, 6 s later SIGCONT │ no bytes in or out for as long: cut, or in silence
 * ```
 *
 * Every process has every fault in turn, in an order by the seed; in some rounds a second process is hurt at the same time, of those
 * without which the cluster still has to work: not two NATS servers, and a frontend stays. Promises: `check.ts`; and no request fails that
 * waits 30 s, and queries are whole again within that time. What is measured: from the fault to the end of the first query that began
 * after it.
 */
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { compare, type Figures, type Patience, readAlong, type Shared, writeAlong } from "./clients.ts";
import type { Door } from "./door.ts";
import { WriterModel } from "./model.ts";

/** What may happen to a process. */
export type FaultKind = "kill" | "stop" | "partition";
/** How bytes do not come through: connections end, or nothing is heard. */
export type Cut = "cut" | "silent";

/** A process that things happen to. */
export interface Target {
  readonly name: string;
  readonly faults: readonly FaultKind[];
  /** Where clients reach it; they ask others while something is wrong with it. */
  readonly door?: Door;
  kill(): Promise<void>;
  /** After `kill`. Resolves when it serves again, with the number of starts that failed before. @throws Error when it does not */
  restart(): Promise<number>;
  stop(): void;
  goOn(): void;
  cut(how: Cut): void;
  heal(): void;
  /**
   * Resolves when it has caught up with what it missed, after its fault ended. Reason: of three NATS servers two have to be whole, so the
   * next must not be hurt before. Absent: it has nothing to catch up with.
   */
  settled?(): Promise<void>;
  /** False when it ended though nobody killed it. */
  isRunning(): boolean;
}

/** What a trial is of. */
export interface TrialCluster {
  readonly doors: readonly Door[];
  readonly targets: readonly Target[];
}

/** How to run a trial. */
export interface TrialOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly writers: number;
  readonly readers: number;
  readonly faults: readonly FaultKind[];
  /** In each so many rounds two processes are hurt at once; absent: in none. */
  readonly pairEvery?: number | undefined;
  /** All batches are compared after each so many rounds, and at the end. */
  readonly fullCheckEvery: number;
  readonly patience: Patience;
  /** How long a process stands still or is cut off. */
  readonly faultMs: number;
  /** Longest time between a death and the start after it. */
  readonly downMsMax: number;
  readonly progress: (text: string) => void;
}

/** What came of one round. */
export interface Round {
  readonly fault: FaultKind;
  readonly target: string;
  /** What happened at the same time, "stop of nats-2"; absent: nothing. */
  readonly beside?: string;
  /** From the fault to the end of the first good query after it. */
  readonly wholeMs: number;
  /** Starts that ended by themselves, and were made again, as a supervisor does. */
  readonly failedStarts: number;
}

/** What a trial did. */
export interface TrialReport {
  readonly rounds: readonly Round[];
  readonly figures: Figures;
  /** Empty when every promise was kept; the trial stops after the round that finds one broken. */
  readonly violations: readonly string[];
}

const CLIENT_SEED_STEP = 7919;
/** Pauses of a client between two probes. */
const PROBE_PAUSES = 4;

/** Runs a trial. The tables are there. @throws Error when a process does not start again */
export async function runTrial(cluster: TrialCluster, options: TrialOptions): Promise<TrialReport> {
  const random = seededRandom(options.seed);
  const deck = new Deck(cluster.targets, options.faults, random);
  const shared = sharedOf(cluster, options);
  const models = Array.from({ length: options.writers }, (_, i) => new WriterModel(`w${i}`));
  const own = (i: number): Random => seededRandom(options.seed + CLIENT_SEED_STEP * (i + 1));
  const clients = [
    ...models.map((model, i) => writeAlong(shared, model, own(i))),
    ...Array.from({ length: options.readers }, (_, i) => readAlong(shared, models, own(options.writers + i))),
  ];
  // Whoever throws ends the trial; the others end with it.
  const ended = Promise.all(clients);
  ended.catch(() => (shared.isOver = true));
  const rounds: Round[] = [];
  try {
    while (rounds.length < options.rounds && shared.violations.length === 0 && !shared.isOver) {
      const hurt = [deck.next()];
      const { pairEvery } = options;
      if (pairEvery !== undefined && (rounds.length + 1) % pairEvery === 0) hurt.push(...deck.beside(hurt[0]!, cluster.doors.length));
      await nextAcknowledged(shared);
      const round = await runRound(cluster, options, shared, hurt, random);
      const { wholeMs } = round;
      rounds.push(round);
      const isFull = rounds.length % options.fullCheckEvery === 0 || rounds.length === options.rounds;
      if (isFull) for (const model of models) await compare(shared, model, 0, random);
      const { acknowledged, longestWriteMs } = shared.figures;
      options.progress(
        `round ${rounds.length}: ${hurt.map(textOf).join(" and ")}; queries whole again after ${seconds(wholeMs)} s, ` +
          `${acknowledged} requests acknowledged, longest wait of a write ${seconds(longestWriteMs)} s`,
      );
    }
  } finally {
    shared.isOver = true;
    await ended;
  }
  // Nothing is under way any more: this is what there is.
  if (shared.violations.length === 0) for (const model of models) await compare(shared, model, 0, random);
  return { rounds, figures: shared.figures, violations: shared.violations };
}

function sharedOf({ doors }: TrialCluster, { patience }: TrialOptions): Shared {
  const counts = {
    acknowledged: 0,
    clear: 0,
    retries: 0,
    longestWriteMs: 0,
    longestQueryMs: 0,
    queries: 0,
    batchesCompared: 0,
    keysCompared: 0,
  };
  return { doors, patience, violations: [], figures: counts, isOver: false };
}

/** Seconds, for people. */
export function seconds(millis: number): string {
  return (millis / 1000).toFixed(1);
}

/** What happens to a process. */
interface Hurt {
  readonly target: Target;
  readonly fault: FaultKind;
}

function textOf({ target, fault }: Hurt): string {
  return `${fault} of ${target.name}`;
}

/** "datanode" of "datanode-2". */
export function kindOf(name: string): string {
  return name.replace(/-\d+$/, "");
}

/** Every fault of every target, in an order by chance, then again. */
class Deck {
  private readonly all: readonly Hurt[];
  private readonly random: Random;
  private left: Hurt[] = [];

  constructor(targets: readonly Target[], faults: readonly FaultKind[], random: Random) {
    this.all = targets.flatMap((target) => target.faults.filter((fault) => faults.includes(fault)).map((fault) => ({ target, fault })));
    if (this.all.length === 0) throw new Error("no process has any of these faults");
    this.random = random;
  }

  next(): Hurt {
    if (this.left.length === 0) this.left = this.random.sample(this.all.length, this.all.length).map((i) => this.all[i]!);
    return this.left.pop()!;
  }

  /** Another that may happen at the same time; none where there is no such. @param doors how many there are */
  beside({ target }: Hurt, doors: number): readonly Hurt[] {
    const may = this.all.filter(({ target: other }) => {
      if (other === target || (kindOf(other.name) === "nats" && kindOf(target.name) === "nats")) return false;
      return other.door === undefined || target.door === undefined || doors > 2;
    });
    return may.length === 0 ? [] : [may[this.random.below(may.length)]!];
  }
}

/** Waits for one more acknowledged request, so that each round has some. */
async function nextAcknowledged({ figures, patience, violations }: Shared): Promise<void> {
  const before = figures.acknowledged;
  const started = performance.now();
  while (figures.acknowledged === before && violations.length === 0) {
    if (performance.now() - started > patience.request) violations.push(`no write was acknowledged for ${patience.request} ms`);
    await Bun.sleep(2);
  }
}

/** One fault or two at once, and their end. */
async function runRound(
  cluster: TrialCluster,
  options: TrialOptions,
  shared: Shared,
  hurt: readonly Hurt[],
  random: Random,
): Promise<Round> {
  const others = cluster.doors.filter((door) => hurt.every(({ target }) => door !== target.door));
  const doors = others.length === 0 ? cluster.doors : others;
  const downMs = random.next() * options.downMsMax;
  const how: Cut = random.below(2) === 0 ? "cut" : "silent";
  await Promise.all(
    hurt.map(async ({ target, fault }) => {
      if (fault === "kill") await target.kill();
      else if (fault === "stop") target.stop();
      else target.cut(how);
    }),
  );
  const probing = wholeAgain(shared, doors, seededRandom(random.below(2 ** 31)));
  const failed = await Promise.all(
    hurt.map(async ({ target, fault }) => {
      await Bun.sleep(fault === "kill" ? downMs : options.faultMs);
      if (fault === "kill") return target.restart();
      if (fault === "stop") target.goOn();
      else target.heal();
      return 0;
    }),
  );
  const wholeMs = await probing;
  for (const { target } of hurt) await target.settled?.();
  for (const { name, isRunning } of cluster.targets.map((each) => ({ name: each.name, isRunning: each.isRunning() })))
    if (!isRunning) shared.violations.push(`${name} ended by itself`);
  const [first, second] = hurt as readonly [Hurt, Hurt?];
  const round = { fault: first.fault, target: first.target.name, wholeMs, failedStarts: failed.reduce((sum, count) => sum + count, 0) };
  return second === undefined ? round : { ...round, beside: textOf(second) };
}

/**
 * Waits for a good query that began after now. One begins after the other, whether or not those before are answered: what waits for a
 * process that is gone may wait longer than a newcomer.
 */
async function wholeAgain({ patience, violations }: Shared, doors: readonly Door[], random: Random): Promise<number> {
  const started = performance.now();
  let goodMs: number | undefined;
  while (goodMs === undefined) {
    const good = (): void => void (goodMs ??= performance.now() - started);
    void doors[random.below(doors.length)]!.probe(patience.attempt).then(good, () => undefined); // Others follow.
    await Bun.sleep(patience.pause * PROBE_PAUSES);
    const millis = performance.now() - started;
    if (goodMs === undefined && millis > patience.request) {
      violations.push(`queries were not whole again after ${millis.toFixed(0)} ms`);
      return millis;
    }
  }
  return goodMs;
}
