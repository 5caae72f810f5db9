/**
 * A cluster's servers in memory, and the network before them. Clients (`memoryPort`) see what clients of NATS see when things go wrong:
 *
 * | fault                      | seen as                                                                                          |
 * |----------------------------|--------------------------------------------------------------------------------------------------|
 * | slow                       | answers out of order; requests that take effect after their caller has given up                  |
 * | request or answer lost     | nothing comes: `unknown`, `unavailable`                                                          |
 * | doubled                    | a request takes effect twice, the second time later                                              |
 * | refused                    | `unavailable` at once: nobody serves the stream                                                  |
 * | election                   | for a time all of that, for everybody, and nothing takes effect                                  |
 * | cut off                    | for a time nothing of one client arrives, or late                                                |
 * | stopped                    | for a time one client does nothing; then everything at once                                      |
 *
 * All by one seeded generator and one clock, which is virtual unless another is given.
 */
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import type { LeaseState } from "../../../src/cluster/port/leases.ts";
import { PortError } from "../../../src/cluster/port/port-error.ts";
import { MemoryStream } from "./memory-stream.ts";
import type { ClusterTime } from "./cluster-time.ts";
import { VirtualTime } from "./virtual-time.ts";

/** How often requests go wrong: shares of 1 each. */
export interface FaultRates {
  readonly slow: number;
  readonly requestLost: number;
  readonly answerLost: number;
  readonly doubled: number;
  readonly refused: number;
}

/** Nothing goes wrong. */
export const NO_FAULTS: FaultRates = { slow: 0, requestLost: 0, answerLost: 0, doubled: 0, refused: 0 };

/** What a cluster is made of. */
export interface MemoryClusterOptions {
  readonly seed?: number;
  readonly rates?: FaultRates;
  readonly messageBytesMax?: number;
  /** Room of each stream. */
  readonly streamBytesMax?: number;
  readonly leaseTtlMillis?: number;
  /** Default: a virtual one. Engines over files and sockets need the real one. */
  readonly time?: ClusterTime;
}

/** A lease at the servers. */
export interface HeldLease extends LeaseState {
  readonly endsAt: number;
}

/** Longest that a slow request is under way: longer than its caller waits. */
const SLOW_MILLIS_MAX = 12_000;

/** See the file header. */
export class MemoryCluster {
  readonly time: ClusterTime;
  readonly random: Random;
  readonly messageBytesMax: number;
  readonly leaseTtlMillis: number;
  rates: FaultRates;
  readonly leases: Map<string, HeldLease> = new Map();
  private readonly streams = new Map<string, MemoryStream>();
  private readonly gone = new Set<string>();
  private readonly streamBytesMax: number;
  private readonly cutOff = new Map<string, number>();
  private readonly stopped = new Map<string, number>();
  private electionEnds = 0;
  private leaseNumber = 0;
  /** Counts what became of leases. */
  leaseChanges = 0;
  private readonly leaseListeners = new Set<() => void>();

  constructor(options: MemoryClusterOptions = {}) {
    this.time = options.time ?? new VirtualTime();
    this.random = seededRandom(options.seed ?? 1);
    this.rates = options.rates ?? NO_FAULTS;
    this.messageBytesMax = options.messageBytesMax ?? 1024 * 1024;
    this.streamBytesMax = options.streamBytesMax ?? 1024 * 1024 * 1024;
    this.leaseTtlMillis = options.leaseTtlMillis ?? 5000;
  }

  /** @throws PortError vanished */
  stream(name: string): MemoryStream {
    if (this.gone.has(name)) throw new PortError("vanished", `cannot use stream ${name}: it does not exist`);
    let stream = this.streams.get(name);
    if (stream === undefined) this.streams.set(name, (stream = new MemoryStream(this.streamBytesMax)));
    return stream;
  }

  /** Makes the stream where it is gone, and lets its numbers go on behind `through`. */
  liftStream(name: string, through: number): void {
    this.gone.delete(name);
    this.stream(name).lift(through);
  }

  /** Whether the stream was not deleted. */
  hasStream(name: string): boolean {
    return !this.gone.has(name);
  }

  deleteStream(name: string): void {
    this.gone.add(name);
    this.streams.delete(name);
  }

  /** For `millis` from now nobody serves anything. */
  elect(millis: number): void {
    this.electionEnds = Math.max(this.electionEnds, this.time.nowMillis() + millis);
  }

  /** For `millis` from now nothing goes between this client and the servers. */
  cut(client: string, millis: number): void {
    this.cutOff.set(client, this.time.nowMillis() + millis);
  }

  /** For `millis` from now this client stands still. */
  stop(client: string, millis: number): void {
    this.stopped.set(client, this.time.nowMillis() + millis);
  }

  /** Resolves when the client runs. */
  async running(client: string): Promise<void> {
    for (;;) {
      const left = (this.stopped.get(client) ?? 0) - this.time.nowMillis();
      if (left <= 0) return;
      await this.time.sleep(left);
    }
  }

  /** Waits as a client does, which may be stopped meanwhile. */
  async sleep(client: string, millis: number): Promise<void> {
    await this.time.sleep(millis);
    await this.running(client);
  }

  /** Sets a lease, or takes it away, and tells watchers. @param value undefined: it is free */
  putLease(name: string, holder: string, value: string | undefined): number {
    const number = ++this.leaseNumber;
    if (value === undefined) this.leases.delete(name);
    else {
      this.leases.set(name, { holder, value, number, endsAt: this.time.nowMillis() + this.leaseTtlMillis });
      this.time.after(this.leaseTtlMillis, () => this.endLease(name, number));
    }
    this.tellWatchers();
    return number;
  }

  /** Calls back after each change until the returned function is called. */
  onLease(listener: () => void): () => void {
    this.leaseListeners.add(listener);
    return () => this.leaseListeners.delete(listener);
  }

  /**
   * Takes a request to the servers and its answer back.
   *
   * @param apply what it does there, at once; it may throw a `PortError`
   * @returns what it answers; nothing comes of what is lost
   */
  request<T>(client: string, apply: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const answer = (settle: () => void): void => {
      if (this.happens(this.rates.answerLost)) return;
      this.travel(client, () => void this.running(client).then(settle));
    };
    // A refusal says that nothing comes of the request: none is told once its double was taken, and nothing is taken once one was told.
    let fate: "open" | "applied" | "refused" = "open";
    const arrive = (): void => {
      if (this.isElecting() || this.happens(this.rates.refused)) {
        if (this.random.below(2) === 0 && fate !== "applied") {
          fate = "refused";
          answer(() => reject(new PortError("unavailable", "cannot ask the servers: no leader")));
        }
        return;
      }
      if (fate === "refused") return;
      fate = "applied";
      try {
        const result = apply();
        answer(() => resolve(result));
      } catch (error) {
        answer(() => reject(error as Error));
      }
    };
    if (!this.happens(this.rates.requestLost)) this.travel(client, arrive);
    if (this.happens(this.rates.doubled)) this.travel(client, arrive);
    return promise;
  }

  private isElecting(): boolean {
    return this.time.nowMillis() < this.electionEnds;
  }

  private happens(rate: number): boolean {
    return rate > 0 && this.random.next() < rate;
  }

  /** Calls back when something that one side sends arrives at the other, if it does. */
  private travel(client: string, arrive: () => void): void {
    const millis = this.happens(this.rates.slow) ? this.random.below(SLOW_MILLIS_MAX) : 1 + this.random.below(3);
    const deliver = (): void => {
      const cutFor = (this.cutOff.get(client) ?? 0) - this.time.nowMillis();
      if (cutFor <= 0) return arrive();
      if (this.random.below(2) === 0) this.time.after(cutFor + 1, deliver); // Kept by a socket that outlives it.
    };
    this.time.after(millis, deliver);
  }

  private endLease(name: string, number: number): void {
    if (this.leases.get(name)?.number !== number) return;
    this.leases.delete(name);
    this.tellWatchers();
  }

  private tellWatchers(): void {
    this.leaseChanges++;
    for (const listener of this.leaseListeners) listener();
  }
}
