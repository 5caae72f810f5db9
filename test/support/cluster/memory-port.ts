/** A client of a cluster in memory (`memory-cluster.ts`): the port's contract without servers. */
import { PortError, replaced, trimmed, wentBack } from "../../../src/cluster/port/port-error.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import {
  APPEND_BYTES_IN_FLIGHT_MAX,
  APPENDS_IN_FLIGHT_MAX,
  FOLLOW_CHECK_MILLIS,
  LEASE_VALUE_BYTES_MAX,
} from "../../../src/cluster/port/limits.ts";
import type { Lease, LeaseChanges, LeaseName, Leases, LeaseState } from "../../../src/cluster/port/leases.ts";
import type { LogService } from "../../../src/cluster/port/log-service.ts";
import type { CallOptions, StreamMessage } from "../../../src/cluster/port/message.ts";
import type { Ordered, OrderedName } from "../../../src/cluster/port/ordered.ts";
import type { StoredMessage } from "./memory-stream.ts";
import type { MemoryCluster } from "./memory-cluster.ts";

/** Longest that a call waits for its answer. */
const CALL_MILLIS = 5000;
/** Messages that a follower gets at once. */
const FOLLOW_MESSAGES = 64;
/** What a call waits before it asks again. */
const AGAIN_MILLIS = 50;

/** What `call` does when no answer comes. */
interface CallKind extends CallOptions {
  readonly isAppend?: boolean;
}

/** One client; `stop` and `cut` of the cluster know it by `identity`. */
export function memoryPort(cluster: MemoryCluster, identity: string): ClusterPort {
  return new MemoryPort(cluster, identity);
}

function streamNameOf(name: OrderedName): string {
  return name === "catalog" ? "CATALOG" : "MANIFEST";
}

class MemoryPort implements ClusterPort {
  readonly identity: string;
  readonly messageBytesMax: number;
  readonly log: LogService;
  readonly leases: Leases;
  readonly ordered: Ordered;
  private readonly cluster: MemoryCluster;
  private readonly closing: AbortController = new AbortController();
  private inFlight = 0;
  private bytesInFlight = 0;

  constructor(cluster: MemoryCluster, identity: string) {
    this.cluster = cluster;
    this.identity = identity;
    this.messageBytesMax = cluster.messageBytesMax;
    this.log = new MemoryLog(cluster, this);
    this.leases = new MemoryLeases(cluster, this);
    this.ordered = new MemoryOrdered(cluster, this);
  }

  get closed(): AbortSignal {
    return this.closing.signal;
  }

  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  /** An append: bounded, not tried again. */
  async append<T>(bytes: Uint8Array, apply: () => T, options: CallOptions = {}): Promise<T> {
    if (bytes.length > this.messageBytesMax) throw new PortError("too-large", `cannot append ${bytes.length} bytes: too many`);
    if (this.inFlight >= APPENDS_IN_FLIGHT_MAX || this.bytesInFlight + bytes.length > APPEND_BYTES_IN_FLIGHT_MAX) {
      throw new PortError("unavailable", "cannot append: too much is under way");
    }
    this.inFlight++;
    this.bytesInFlight += bytes.length;
    try {
      return await this.call(apply, { ...options, isAppend: true });
    } finally {
      this.inFlight--;
      this.bytesInFlight -= bytes.length;
    }
  }

  /** A request and its answer. */
  async call<T>(apply: () => T, { signal, isAppend = false }: CallKind = {}): Promise<T> {
    if (this.closed.aborted) throw new PortError("closed", "cannot ask the servers: the port is closed");
    if (signal?.aborted === true) throw new PortError("cancelled", "the call was cancelled");
    const ended = Promise.withResolvers<never>();
    const cancel = (): void => ended.reject(new PortError("cancelled", "the call was cancelled"));
    const close = (): void => ended.reject(new PortError("closed", "the port was closed"));
    const late = (): void => ended.reject(new PortError(isAppend ? "unknown" : "unavailable", "the servers do not answer"));
    const forget = this.cluster.time.after(CALL_MILLIS, () => void this.cluster.running(this.identity).then(late));
    signal?.addEventListener("abort", cancel);
    this.closed.addEventListener("abort", close);
    try {
      return await Promise.race([this.cluster.request(this.identity, apply), ended.promise]);
    } finally {
      forget();
      signal?.removeEventListener("abort", cancel);
      this.closed.removeEventListener("abort", close);
    }
  }

  /** As `call`, again and again until it is answered or the signal fires. */
  async insist<T>(apply: () => T, { signal }: CallOptions): Promise<T> {
    for (;;) {
      try {
        return await this.call(apply, { signal });
      } catch (error) {
        if (!(error instanceof PortError) || error.failure !== "unavailable") throw error;
      }
      await this.cluster.sleep(this.identity, AGAIN_MILLIS);
    }
  }

  /** Resolves after a change that `listen` tells of, or that came since the last look, after a while, or when the signal fires. */
  async change(listen: (wake: () => void) => () => void, hasChanged: () => boolean, { signal }: CallOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const quiet = listen(resolve);
    if (hasChanged()) resolve();
    const forget = this.cluster.time.after(FOLLOW_CHECK_MILLIS, resolve);
    const end = (): void => resolve();
    signal?.addEventListener("abort", end);
    this.closed.addEventListener("abort", end);
    await promise;
    signal?.removeEventListener("abort", end);
    this.closed.removeEventListener("abort", end);
    quiet();
    forget();
    await this.cluster.running(this.identity);
  }
}

/** What is followed, and how its numbers are. */
interface Followed extends CallOptions {
  readonly stream: string;
  readonly subject: string;
  /** Whether numbers have no holes. */
  readonly isDense: boolean;
}

/** What is read at once, and the newest message of the stream that was read so far, as it is there. */
interface Read {
  readonly list: readonly StreamMessage[];
  readonly newest: StoredMessage | undefined;
}

async function* follow(
  cluster: MemoryCluster,
  port: MemoryPort,
  after: number,
  { stream, subject, isDense, signal }: Followed,
): AsyncGenerator<readonly StreamMessage[]> {
  let at = after;
  let seen = 0;
  let newest: StoredMessage | undefined;
  while (signal?.aborted !== true) {
    const look = (): Read => {
      const there = cluster.stream(stream);
      seen = there.lastNumber;
      if (there.lastNumber < at) throw wentBack(stream, there.lastNumber, at);
      if (newest !== undefined && there.firstNumber <= at && there.stored(at) !== newest) throw replaced(stream, at);
      if (isDense && there.firstNumber > at + 1) throw trimmed(stream, at + 1, there.firstNumber);
      const list = there.above(subject, at, 1 + cluster.random.below(FOLLOW_MESSAGES));
      const last = list.at(-1);
      return { list, newest: last !== undefined && isDense ? there.stored(last.number) : newest };
    };
    let found: Read;
    try {
      found = await port.insist(look, { signal });
    } catch (error) {
      if (error instanceof PortError && error.failure === "cancelled") return;
      throw error;
    }
    const last = found.list.at(-1);
    if (last !== undefined) {
      at = last.number;
      ({ newest } = found);
      yield found.list;
    } else {
      const there = cluster.stream(stream);
      await port.change(
        (wake) => there.listen(wake),
        () => there.lastNumber !== seen,
        { signal },
      );
    }
  }
}

class MemoryLog implements LogService {
  private readonly cluster: MemoryCluster;
  private readonly port: MemoryPort;
  private readonly known = new Map<number, number>();

  constructor(cluster: MemoryCluster, port: MemoryPort) {
    this.cluster = cluster;
    this.port = port;
  }

  async append(shard: number, record: Uint8Array, options?: CallOptions): Promise<number> {
    const floor = this.known.get(shard) ?? 0;
    const number = await this.port.append(record, () => this.cluster.stream(`LOG${shard}`).append(`log.${shard}`, record), options);
    if (number === undefined) throw new PortError("full", `cannot append to the log of shard ${shard}: it is full`);
    return this.noted(shard, number, number > floor, floor);
  }

  async last(shard: number, options?: CallOptions): Promise<number> {
    const floor = this.known.get(shard) ?? 0;
    const number = await this.port.call(() => this.cluster.stream(`LOG${shard}`).lastNumber, options);
    return this.noted(shard, number, number >= floor, floor);
  }

  follow(shard: number, after: number, options?: CallOptions): AsyncIterable<readonly StreamMessage[]> {
    return follow(this.cluster, this.port, after, { ...options, stream: `LOG${shard}`, subject: `log.${shard}`, isDense: true });
  }

  async trim(shard: number, through: number, options?: CallOptions): Promise<void> {
    await this.port.call(() => this.cluster.stream(`LOG${shard}`).remove(`log.${shard}`, (number) => number <= through), options);
  }

  async lift(shard: number, through: number, options?: CallOptions): Promise<void> {
    await this.port.call(() => this.cluster.liftStream(`LOG${shard}`, through), options);
    this.known.set(shard, Math.max(through, this.known.get(shard) ?? 0));
  }

  private noted(shard: number, number: number, isSound: boolean, floor: number): number {
    this.known.set(shard, isSound ? Math.max(number, this.known.get(shard) ?? 0) : number);
    if (!isSound) throw wentBack(`LOG${shard}`, number, floor);
    return number;
  }
}

class MemoryOrdered implements Ordered {
  private readonly cluster: MemoryCluster;
  private readonly port: MemoryPort;

  constructor(cluster: MemoryCluster, port: MemoryPort) {
    this.cluster = cluster;
    this.port = port;
  }

  async append(name: OrderedName, entry: Uint8Array, last: number, options?: CallOptions): Promise<number | "refused"> {
    const apply = (): number | "refused" | undefined => {
      const stream = this.cluster.stream(streamNameOf(name));
      return (name === "catalog" ? stream.lastNumber : stream.lastOf(name)) === last ? stream.append(name, entry) : "refused";
    };
    const number = await this.port.append(entry, apply, options);
    if (number === undefined) throw new PortError("full", `cannot append to ${name}: it is full`);
    return number;
  }

  async read(name: OrderedName, after: number, options?: CallOptions): Promise<readonly StreamMessage[]> {
    return await this.port.call(() => {
      const stream = this.cluster.stream(streamNameOf(name));
      if (stream.lastNumber < after) throw wentBack(streamNameOf(name), stream.lastNumber, after);
      const found = stream.above(name, after, Number.POSITIVE_INFINITY);
      const first = found[0]?.number ?? after + 1;
      if (name === "catalog" && after > 0 && first > after + 1) throw trimmed("CATALOG", after + 1, first);
      return found;
    }, options);
  }

  follow(name: OrderedName, after: number, options?: CallOptions): AsyncIterable<readonly StreamMessage[]> {
    const followed = { ...options, stream: streamNameOf(name), subject: name, isDense: name === "catalog" };
    return follow(this.cluster, this.port, after, followed);
  }

  async trim(name: OrderedName, number: number, options?: CallOptions): Promise<void> {
    await this.port.call(() => {
      const stream = this.cluster.stream(streamNameOf(name));
      const last = stream.lastOf(name);
      stream.remove(name, (each) => each < number && each < last);
    }, options);
  }
}

class MemoryLeases implements Leases {
  readonly ttlMillis: number;
  private readonly cluster: MemoryCluster;
  private readonly port: MemoryPort;

  constructor(cluster: MemoryCluster, port: MemoryPort) {
    this.cluster = cluster;
    this.port = port;
    this.ttlMillis = cluster.leaseTtlMillis;
  }

  async take(name: LeaseName, value: string, options?: CallOptions): Promise<Lease | "held"> {
    if (!/^(?:lease|node|frontend)\.[\w-]{1,64}$/.test(name)) throw new PortError("denied", "cannot hold a lease of this name");
    return (await this.put(name, value, 0, options)) ?? "held";
  }

  async renew(lease: Lease, value: string, options?: CallOptions): Promise<Lease | "lost"> {
    return (await this.put(lease.name, value, lease.number, options)) ?? "lost";
  }

  async release(lease: Lease, options?: CallOptions): Promise<void> {
    await this.put(lease.name, undefined, lease.number, options);
  }

  async *watch(options: CallOptions = {}): AsyncGenerator<LeaseChanges> {
    let told = new Map<string, LeaseState>();
    let seen = 0;
    for (let isFirst = true; options.signal?.aborted !== true; isFirst = false) {
      let now: Map<string, LeaseState>;
      try {
        const read = (): Map<string, LeaseState> => {
          seen = this.cluster.leaseChanges;
          return new Map(this.cluster.leases);
        };
        now = await this.port.insist(read, options);
      } catch (error) {
        if (error instanceof PortError && error.failure === "cancelled") return;
        throw error;
      }
      const before = told;
      const differs = (name: string): boolean => {
        const [old, its] = [before.get(name), now.get(name)];
        return old?.holder !== its?.holder || old?.value !== its?.value;
      };
      const changed = new Set([...before.keys(), ...now.keys()].filter(differs));
      told = now;
      if (isFirst || changed.size > 0) yield { leases: now, changed };
      else {
        const hasChanged = (): boolean => this.cluster.leaseChanges !== seen;
        await this.port.change((wake) => this.cluster.onLease(wake), hasChanged, options);
      }
    }
  }

  /**
   * Sets a lease whose last message is `expected` (0: it is free), or a later one of this port, of which it heard nothing.
   *
   * @param value undefined: it is free
   */
  private async put(name: LeaseName, value: string | undefined, expected: number, options?: CallOptions): Promise<Lease | undefined> {
    const bytes = new TextEncoder().encode(value ?? "");
    if (bytes.length > LEASE_VALUE_BYTES_MAX) throw new PortError("too-large", `cannot hold ${name}: its value is too large`);
    const { cluster, port } = this;
    for (let last = expected; ; ) {
      const endsAtMillis = cluster.time.monotonicMillis() + this.ttlMillis;
      const apply = (): number | LeaseState | undefined => {
        const held = cluster.leases.get(name);
        return (held?.number ?? 0) === last ? cluster.putLease(name, port.identity, value) : held;
      };
      const result = await port.append(bytes, apply, options);
      if (typeof result === "number") return { name, number: result, endsAtMillis };
      if (result?.holder !== port.identity || result.number <= last) return undefined;
      last = result.number;
    }
  }
}
