/**
 * What lanes, streams and a disk of the log do with each other, event by event, on one disk of one server:
 *
 *   requests ─► a record a lane ─► gather ─► at most 4 messages a lane under way ─► stream ─► sync, 7 messages of a stream at most ─► ack
 *
 * Simplified: a message waits for the sync of this disk alone, where really two of three servers answer; the disk syncs one stream after
 * the other; requests come evenly, each at a random time of its turn.
 */
import type { Figures } from "./costs.ts";
import { seededRandom } from "../macro/random.ts";

/** What is played through. */
export interface LaneLoad {
  readonly frontends: number;
  readonly shards: number;
  /** Shards that a request has rows for, at random. */
  readonly spread: number;
  /** Streams with a copy on the disk. */
  readonly streams: number;
  readonly rowsPerSecond: number;
  /** How long a lane gathers records before it sends a message; 0: it sends at once while it may. */
  readonly gatherMillis: number;
}

/** What came of it. */
export interface LaneResult {
  /** Of the disk. */
  readonly messagesPerSecond: number;
  readonly messageBytes: number;
  readonly syncsPerSecond: number;
  /** Part of the time that the disk works. */
  readonly busy: number;
  /** From a record's arrival at its lane to the answer. */
  readonly ackMillisP50: number;
  readonly ackMillisP99: number;
  /** Whether what came was taken: else lanes fill. */
  readonly isSteady: boolean;
}

interface Lane {
  /** Bytes and times of records that wait. */
  waitingBytes: number;
  readonly waitingSince: number[];
  underWay: number;
  isTimed: boolean;
}

interface Message {
  readonly lane: Lane;
  readonly bytes: number;
  readonly since: readonly number[];
}

interface Event {
  readonly at: number;
  readonly order: number;
  run(): void;
}

const WARM_MILLIS = 500;
const RUN_MILLIS = 2000;
const MIB: number = 1024 * 1024;
const SEED = 7;
/** Lanes hold less than this part of what came, or they fill. */
const LEFT_PART_MAX = 0.2;

/** Plays it through: the same for the same load. */
export function playLanes(load: LaneLoad, figures: Figures): LaneResult {
  return new Play(load, figures).run();
}

class Play {
  private readonly load: LaneLoad;
  private readonly figures: Figures;
  private readonly heap: Event[] = [];
  private order = 0;
  private now = 0;
  private readonly lanes: readonly (readonly Lane[])[];
  /** Messages that a stream has, by stream. */
  private readonly queues: readonly Message[][];
  private nextStream = 0;
  private isSyncing = false;
  private messages = 0;
  private bytes = 0;
  private syncs = 0;
  private busyMillis = 0;
  private arrived = 0;
  private readonly waits: number[] = [];

  constructor(load: LaneLoad, figures: Figures) {
    this.load = load;
    this.figures = figures;
    const newLane = (): Lane => ({ waitingBytes: 0, waitingSince: [], underWay: 0, isTimed: false });
    this.lanes = Array.from({ length: load.frontends }, () => Array.from({ length: load.streams }, newLane));
    this.queues = Array.from({ length: load.streams }, () => []);
  }

  run(): LaneResult {
    const { frontends, rowsPerSecond, spread } = this.load;
    const { requestRows, rowLogBytes } = this.figures;
    const every = (frontends * requestRows * 1000) / rowsPerSecond;
    const recordBytes = (requestRows * rowLogBytes) / spread;
    const random = seededRandom(SEED);
    const next = (): number => random.next();
    for (const lanes of this.lanes) this.arrive(lanes, recordBytes, every, next() * every, next);
    const end = WARM_MILLIS + RUN_MILLIS;
    for (let event = this.take(); event !== undefined && event.at <= end; event = this.take()) {
      this.now = event.at;
      event.run();
    }
    const left = this.lanes.flat().reduce((sum, lane) => sum + lane.waitingSince.length, 0);
    const waits = this.waits.toSorted((a, b) => a - b);
    const quantile = (part: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? Number.NaN;
    const seconds = RUN_MILLIS / 1000;
    return {
      messagesPerSecond: this.messages / seconds,
      messageBytes: this.messages === 0 ? 0 : this.bytes / this.messages,
      syncsPerSecond: this.syncs / seconds,
      busy: Math.min(1, this.busyMillis / RUN_MILLIS),
      ackMillisP50: quantile(0.5),
      ackMillisP99: quantile(0.99),
      isSteady: left < this.arrived * LEFT_PART_MAX,
    };
  }

  /** A request of a client: a record for each shard that its table is on, of those whose stream is on this disk. */
  private arrive(lanes: readonly Lane[], recordBytes: number, every: number, at: number, next: () => number): void {
    this.at(at, () => {
      const { spread, shards } = this.load;
      for (const [stream, lane] of lanes.entries()) {
        if (spread < shards && next() >= spread / shards) continue;
        lane.waitingBytes += recordBytes;
        lane.waitingSince.push(this.now);
        this.arrived++;
        this.send(lane, stream);
      }
      this.arrive(lanes, recordBytes, every, this.now + every * (0.5 + next()), next);
    });
  }

  private send(lane: Lane, stream: number): void {
    const { gatherMillis } = this.load;
    const { laneMessages, messageBytes, networkMillis } = this.figures;
    const oldest = lane.waitingSince[0];
    if (oldest === undefined || lane.underWay >= laneMessages) return;
    const isFull = lane.waitingBytes >= messageBytes;
    const dueAt = oldest + gatherMillis;
    if (!isFull && this.now < dueAt) {
      if (lane.isTimed) return;
      lane.isTimed = true;
      return this.at(dueAt, () => {
        lane.isTimed = false;
        this.send(lane, stream);
      });
    }
    const each = lane.waitingBytes / lane.waitingSince.length;
    const count = Math.max(1, Math.min(lane.waitingSince.length, Math.floor(messageBytes / each)));
    const since = lane.waitingSince.splice(0, count);
    lane.waitingBytes -= count * each;
    lane.underWay++;
    this.at(this.now + networkMillis / 2, () => {
      this.queues[stream]?.push({ lane, bytes: count * each, since });
      this.sync();
    });
    this.send(lane, stream);
  }

  private sync(): void {
    if (this.isSyncing) return;
    const { syncMillis, messagesASync, diskFactor, diskBytes, networkMillis } = this.figures;
    const count = this.queues.length;
    for (let step = 0; step < count; step++) {
      const stream = (this.nextStream + step) % count;
      const queue = this.queues[stream] as Message[];
      if (queue.length === 0) continue;
      this.nextStream = (stream + 1) % count;
      const group = queue.splice(0, messagesASync);
      const bytes = group.reduce((sum, message) => sum + message.bytes, 0);
      const millis = syncMillis + (bytes * diskFactor * 1000) / (diskBytes * MIB);
      this.isSyncing = true;
      return this.at(this.now + millis, () => {
        this.isSyncing = false;
        this.count(group, bytes, millis);
        this.at(this.now + networkMillis / 2, () => this.answer(group, stream));
        this.sync();
      });
    }
  }

  private count(group: readonly Message[], bytes: number, millis: number): void {
    if (this.now < WARM_MILLIS) return;
    this.messages += group.length;
    this.bytes += bytes;
    this.syncs++;
    this.busyMillis += millis;
  }

  private answer(group: readonly Message[], stream: number): void {
    for (const { lane, since } of group) {
      lane.underWay--;
      if (this.now >= WARM_MILLIS) for (const at of since) this.waits.push(this.now - at);
      this.send(lane, stream);
    }
  }

  private at(at: number, run: () => void): void {
    push(this.heap, { at, order: this.order++, run });
  }

  private take(): Event | undefined {
    return pop(this.heap);
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const other = heap[parent] as Event;
    if (!isBefore(event, other)) break;
    heap[at] = other;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
    if (!isBefore(heap[child] as Event, last)) break;
    heap[at] = heap[child] as Event;
    at = child;
  }
  heap[at] = last;
  return first;
}
