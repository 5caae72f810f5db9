/**
 * Keeps descriptors free for the log, flushes and reads, however many clients connect.
 *
 *   0 ────────────── in use ──────────────┬── crowded: looks often, marks ──┬── full: connections are dropped ──┬── the limit
 *                                        1/2                             limit - kept free                      EMFILE
 *
 * Those go first that have never said a word, then those that wait for nothing longest, then those in the middle of a request that does
 * not go on. One whose request is under way is left alone (marks.ts). Clients that are dropped while idle connect again by themselves.
 *
 * A crowd that comes at once is as busy as a client at work, and nobody has marks yet. Answers tell them apart: a writer between two
 * requests had many, a crowd none or one. What clients send would not, since they may send without end.
 */
import type { Counter } from "prom-client";
import type { Clock } from "../../base/clock.ts";
import { descriptorLimit, descriptorsInUse } from "../../base/process/descriptors.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import { type ClientSocket, type ClientSockets, kernelClientSockets } from "./client-sockets.ts";
import {
  AT_WORK_MS,
  CROWDED_LOOK_MS,
  CROWDED_PART,
  KEPT_FREE_MAX,
  KEPT_FREE_MIN,
  KEPT_FREE_PART,
  LOOK_MS,
  REST_PER_LOOK,
  ROOM_PART,
  TOLD_MS,
} from "./limits.ts";
import type { ConnectionMarks } from "./marks.ts";

/** What the guard asks of the process; tests give it another one. */
export interface DescriptorCount {
  readonly limit: number;
  inUse(): number | undefined;
}

/** What a guard needs. */
export interface GuardParts {
  /** Ports that clients connect to. */
  readonly ports: ReadonlySet<number>;
  readonly marks: ConnectionMarks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly count?: DescriptorCount;
  readonly sockets?: ClientSockets | undefined;
}

/** Why a connection goes. */
type Reason = "silent" | "idle" | "half";

/** See the file header. */
export class ConnectionGuard {
  private readonly parts: GuardParts;
  private readonly count: DescriptorCount;
  private readonly sockets: ClientSockets | undefined;
  private readonly dropped: Counter<"reason">;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What the last look took. */
  private lookedMs = 0;
  private droppedSinceTold = 0;
  private toldMs = Number.NEGATIVE_INFINITY;

  constructor(parts: GuardParts) {
    this.parts = parts;
    this.count = parts.count ?? { limit: descriptorLimit(), inUse: descriptorsInUse };
    this.sockets = "sockets" in parts ? parts.sockets : kernelClientSockets();
    this.dropped = parts.metrics.counter(
      "varve_connections_dropped_total",
      "connections that were dropped to keep descriptors free for files, by what they were doing",
      "reason",
    );
    if (this.sockets === undefined) {
      parts.logger.warn({ limit: this.count.limit }, "connections cannot be dropped on this system when descriptors run short");
    }
  }

  /** Descriptors that are kept free. */
  get keptFree(): number {
    return Math.min(KEPT_FREE_MAX, Math.max(KEPT_FREE_MIN, Math.floor(this.count.limit * KEPT_FREE_PART)));
  }

  /** Begins to look. */
  start(): void {
    const wait = Math.max(this.parts.marks.isWanted ? CROWDED_LOOK_MS : LOOK_MS, this.lookedMs * REST_PER_LOOK);
    this.timer = setTimeout(() => {
      const began = this.parts.clock.monotonicMillis();
      this.look();
      this.lookedMs = this.parts.clock.monotonicMillis() - began;
      this.start();
    }, wait);
    this.timer.unref();
  }

  /** Ends that. */
  close(): void {
    clearTimeout(this.timer);
  }

  /** Looks once; returns how many connections were dropped. */
  look(): number {
    const inUse = this.count.inUse() ?? 0;
    this.parts.marks.isWanted = inUse > this.count.limit * CROWDED_PART;
    const excess = inUse - (this.count.limit - this.keptFree);
    if (excess <= 0 || this.sockets === undefined) return 0;
    return this.drop(excess + Math.ceil(this.keptFree * ROOM_PART), this.sockets);
  }

  private drop(excess: number, sockets: ClientSockets): number {
    const { marks, clock, ports, logger } = this.parts;
    let listed: readonly ClientSocket[];
    try {
      listed = sockets.list(ports);
    } catch (error) {
      logger.warn({ error: errorText(error) }, "cannot look at the connections");
      return 0;
    }
    const now = clock.nowMillis();
    const first = listed
      .filter((socket) => !socket.hasSpoken || !marks.isMarked(socket.port, now))
      .sort((a, b) => rankOf(a) - rankOf(b) || answersOf(a) - answersOf(b) || b.restingMs - a.restingMs)
      .slice(0, excess);
    for (const socket of first) {
      sockets.drop(socket);
      this.dropped.inc({ reason: reasonOf(socket) });
    }
    this.tell(first.length);
    return first.length;
  }

  /** Not a line a look: a client that connects without end would fill the log. */
  private tell(count: number): void {
    this.droppedSinceTold += count;
    const now = this.parts.clock.monotonicMillis();
    if (now - this.toldMs < TOLD_MS) return;
    this.toldMs = now;
    const fields = { dropped: this.droppedSinceTold, limit: this.count.limit, keptFree: this.keptFree };
    this.parts.logger.warn(fields, "too many connections: idle ones are dropped to keep descriptors free for files (raise ulimit -n)");
    this.droppedSinceTold = 0;
  }
}

function reasonOf({ hasSpoken, isAnswered }: ClientSocket): Reason {
  if (!hasSpoken) return "silent";
  return isAnswered ? "idle" : "half";
}

/** In the order in which they go. */
const Rank = {
  silent: 0,
  idle: 1,
  half: 2,
  /** In the middle of a request, and it had answers before: the server may be slow, and its mark old. */
  knownHalf: 3,
  /** It moved just now, and never had an answer: a whole request has one soon, or a mark. */
  newcomer: 4,
  /** It moved just now, and had answers before: it is at work, and perhaps only between two requests. */
  atWork: 5,
} as const;

function rankOf(socket: ClientSocket): number {
  const isKnown = socket.answeredBytes > 0;
  if (socket.hasSpoken && socket.restingMs < AT_WORK_MS) return isKnown ? Rank.atWork : Rank.newcomer;
  const reason = reasonOf(socket);
  return reason === "half" && isKnown ? Rank.knownHalf : Rank[reason];
}

/** Of those at work the one that had least goes first: it has been here for the shortest time. */
function answersOf(socket: ClientSocket): number {
  return rankOf(socket) === Rank.atWork ? socket.answeredBytes : 0;
}
