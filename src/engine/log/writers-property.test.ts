/**
 * The property of writers.ts: whatever a log loses, delays, repeats and reorders, and however often its follower goes on from a saved
 * state, the rows of each writer count once and in order, none that was acknowledged is missing, and each is under the series that it was
 * written to.
 */
import { expect, test } from "bun:test";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { type LaneRecord, LossyLane } from "../../../test/support/lossy-lane.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";
import { Writers } from "./writers.ts";

const SEEDS = 500;
const STEPS = 400;
const LANES = 3;

/** What a follower has made of the log up to `position`. */
interface Followed {
  readonly position: number;
  readonly writers: MetaValue;
  readonly definitions: readonly (readonly [writer: number, definitions: readonly (readonly [number, string])[]])[];
  readonly rows: readonly (readonly [writer: number, rows: readonly number[]])[];
}

/** Takes the records of a log as the rule says. */
class Follower {
  readonly rows: Map<number, number[]>;
  private readonly writers: Writers;
  private readonly definitions: Map<number, Map<number, string>>;
  private position: number;

  constructor(from: Followed) {
    this.position = from.position;
    this.writers = Writers.restored(from.writers, "the test");
    this.definitions = new Map(from.definitions.map(([writer, definitions]) => [writer, new Map(definitions)]));
    this.rows = new Map(from.rows.map(([writer, rows]) => [writer, [...rows]]));
  }

  follow(log: readonly LaneRecord[]): void {
    for (; this.position < log.length; this.position++) this.take(log[this.position] as LaneRecord);
  }

  saved(): Followed {
    return JSON.parse(
      JSON.stringify({
        position: this.position,
        writers: this.writers.saved(),
        definitions: Array.from(this.definitions, ([writer, known]) => [writer, [...known]]),
        rows: [...this.rows],
      }),
    );
  }

  private take({ origin, definitions, rows }: LaneRecord): void {
    const verdict = this.writers.take(origin);
    if (verdict.kind === "gap" || verdict.kind === "older") return;
    const known = verdict.begins ? new Map<number, string>() : this.definitions.get(origin.writer);
    if (known === undefined) throw new Error(`a writer that is known began a segment; got ${origin.writer}`);
    this.definitions.set(origin.writer, known);
    for (const [number, series] of definitions) {
      if ((known.get(number) ?? series) !== series)
        throw new Error(`number ${number} is ${known.get(number)} in its segment; got ${series}`);
      known.set(number, series);
    }
    if (verdict.kind === "definitions") return;
    const taken = this.rows.get(origin.writer) ?? [];
    this.rows.set(origin.writer, taken);
    for (const { number, series, row } of rows) {
      if (known.get(number) !== series) throw new Error(`row ${row} is of ${series}; got ${known.get(number)}`);
      taken.push(row);
    }
  }
}

/** A log, those who write it, and the one who follows it. */
class World {
  readonly lanes: LossyLane[] = [];
  /** Lanes of processes that are gone: what they had not acknowledged may be there or not. */
  readonly gone: LossyLane[] = [];
  private readonly random: Random;
  private readonly wire: LaneRecord[] = [];
  private readonly answers: { readonly record: LaneRecord; readonly position: number }[] = [];
  private readonly log: LaneRecord[] = [];
  private saved: Followed = { position: 0, writers: [], definitions: [], rows: [] };
  private follower: Follower = new Follower(this.saved);
  private lastWriter = 0;
  private lastRow = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    for (let i = 0; i < LANES; i++) this.addLane();
  }

  /** One thing that may happen. */
  step(): void {
    const { random } = this;
    const lane = this.lanes[random.below(LANES)] as LossyLane;
    const what = random.below(100);
    if (what < 35) lane.write(Array.from({ length: 1 + random.below(3) }, () => ++this.lastRow));
    else if (what < 75) this.deliver();
    else if (what < 88) this.answer();
    else if (what < 92) lane.timedOut();
    else if (what < 95) this.follower.follow(this.log);
    else if (what < 97) this.saved = this.follower.saved();
    else if (what < 99) this.follower = new Follower(this.saved);
    else this.die(random.below(LANES));
  }

  /** From now on nothing gets lost; what is still on its way comes late. */
  settle(): void {
    while (this.lanes.some((lane) => !lane.isDone)) {
      for (const lane of this.lanes) lane.timedOut();
      while (this.wire.length > 0) this.append(this.takeFrom(this.wire), true);
      while (this.answers.length > 0) this.answer();
    }
  }

  /** Rows of a writer that count. */
  rowsOf(lane: LossyLane): readonly number[] {
    this.follower.follow(this.log);
    return this.follower.rows.get(lane.writer) ?? [];
  }

  /** Holds all of it against the lanes. */
  check(): void {
    for (const lane of [...this.lanes, ...this.gone]) {
      const rows = this.rowsOf(lane);
      expect(rows).toEqual(lane.written.slice(0, rows.length));
      expect(rows.length).toBeGreaterThanOrEqual(lane.acknowledged.length);
    }
  }

  private addLane(): void {
    this.lanes.push(new LossyLane(++this.lastWriter, this.random, (record) => this.wire.push(record)));
  }

  private die(index: number): void {
    this.gone.push(...this.lanes.splice(index, 1));
    this.addLane();
  }

  private deliver(): void {
    if (this.wire.length === 0) return;
    const fate = this.random.below(20);
    const record = this.takeFrom(this.wire);
    if (fate < 3) return; // It is lost.
    if (fate === 3) this.wire.push(record); // It comes once more.
    this.append(record, fate > 5);
  }

  /** In order, mostly. */
  private takeFrom(wire: LaneRecord[]): LaneRecord {
    return wire.splice(this.random.below(8) === 0 ? this.random.below(wire.length) : 0, 1)[0] as LaneRecord;
  }

  private append(record: LaneRecord, isAnswered: boolean): void {
    const position = this.log.push(record) - 1;
    if (isAnswered) this.answers.push({ record, position });
  }

  private answer(): void {
    const [answer] = this.answers.splice(this.random.below(4) === 0 ? this.random.below(this.answers.length) : 0, 1);
    if (answer === undefined) return;
    const { origin } = answer.record;
    const lane = this.lanes.find(({ writer }) => writer === Number(origin.writer));
    lane?.answered(origin, answer.position);
  }
}

test("rows count once, in order, under their series, and none is missing that was acknowledged", () => {
  let rows = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const world = new World(seed);
    for (let step = 0; step < STEPS; step++) {
      world.step();
      if (step % 40 === 0) world.check();
    }
    world.settle();
    world.check();
    for (const lane of world.lanes) {
      expect({ seed, rows: world.rowsOf(lane) }).toEqual({ seed, rows: lane.written });
      expect(lane.acknowledged).toEqual(lane.written);
      rows += lane.written.length;
    }
  }
  expect(rows).toBeGreaterThan(SEEDS * 20); // The worlds get on.
});
