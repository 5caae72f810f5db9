/**
 * Counts the memory that one query holds between batches: groups, sorted rows, distinct values; alone, and as one of all that run.
 *
 *   query ── part "sort" ── …        each operator counts on a part of its own: errors name who holds how much, and what is held goes
 *         └─ part "aggregate" ── …   back when the operator ends
 *
 * Operators that can write rows to disk ask `fits` before they hold more. They may share half of the limit: one alone takes all of that
 * half, and when it has, each of the others may still take its share. So all of them together stay below the limit, and what they need
 * for a while on top (arrays being joined, results) has room. The limit is that of the query, or what the memory of all queries has left
 * for it where that is less: a query spills before it is refused.
 */
import { DbError } from "../error.ts";
import type { MemoryAccount } from "./server-memory.ts";
import { StatusCode } from "../status-code.ts";

/** Most bytes one query holds. Reason: a grouping by a unique column must not take the process down. Error: RuntimeResourcesExhausted. */
export const QUERY_BYTES_MAX: number = 512 * 1024 * 1024;

/** Part of the limit from which on operators spill. */
const SPILL_RATIO = 0.5;
/** Most operators that an error names. */
const NAMED_MAX = 3;

/** What a budget counts into. */
export type BudgetAccount = Pick<MemoryAccount, "take" | "give" | "hasRoom" | "room" | "bytesMax">;

/** The budget of one query, or the part of one operator. Estimates, not exact counts. */
export class MemoryBudget {
  /** Whose part it is; "" is the query. */
  readonly name: string;
  private held = 0;
  private readonly limit: number;
  private readonly account: BudgetAccount | undefined;
  private readonly parent: MemoryBudget | undefined;
  private readonly parts: Set<MemoryBudget> = new Set();
  /** Operators that share what may be held before rows are spilled; of the query's budget. */
  private sharers = 1;

  /** @param account what this query holds of the memory of all queries; whoever opened it closes it */
  constructor(limit: number = QUERY_BYTES_MAX, account?: BudgetAccount, name = "", parent?: MemoryBudget) {
    this.limit = limit;
    this.account = account;
    this.name = name;
    this.parent = parent;
  }

  /** Bytes held. */
  get used(): number {
    return this.held;
  }

  /** Says how many operators may spill. */
  shareAmong(operators: number): void {
    this.sharers = Math.max(1, operators);
  }

  /** A part for one operator, to be closed by it. */
  part(name: string): MemoryBudget {
    const part = new MemoryBudget(this.limit, undefined, name, this);
    this.parts.add(part);
    return part;
  }

  /** Counts what the query holds already, on an account of somebody else's; until the query ends. */
  noteHeld(name: string, bytes: number): void {
    const part = new MemoryBudget(this.limit, undefined, name, this);
    part.held = bytes;
    this.parts.add(part);
    this.held += bytes;
  }

  /** Gives back all that the part holds. */
  close(): void {
    this.release(this.held);
    this.parent?.parts.delete(this);
  }

  /** Most bytes that the query holds. */
  get bytesMax(): number {
    return this.limit;
  }

  /** Counts `bytes` more. @throws DbError RuntimeResourcesExhausted */
  readonly reserve = (bytes: number): void => {
    this.held += bytes;
    try {
      if (this.parent === undefined) this.check(bytes);
      else this.parent.reserve(bytes);
    } catch (error) {
      this.held -= bytes;
      throw error;
    }
  };

  /** Gives `bytes` back. */
  readonly release = (bytes: number): void => {
    this.held -= bytes;
    if (this.parent === undefined) this.account?.give(bytes);
    else this.parent.release(bytes);
  };

  /** Whether an operator that can spill may hold `bytes` more before it does. */
  fits(bytes: number): boolean {
    const { root } = this;
    const allowed = root.limitNow * SPILL_RATIO;
    const hasShare = root.held + bytes <= allowed || this.held + bytes <= allowed / root.sharers;
    return hasShare && (root.account?.hasRoom(bytes) ?? true);
  }

  /** Bytes that an operator may hold at least before it spills; Infinity without a limit. */
  get share(): number {
    const { root } = this;
    return (Math.min(root.limit, root.account?.bytesMax ?? root.limit) * SPILL_RATIO) / root.sharers;
  }

  /** What the query may hold: less than its own limit while the memory of all queries is smaller, or others have it. */
  private get limitNow(): number {
    return this.account === undefined ? this.limit : Math.min(this.limit, this.held + this.account.room);
  }

  private get root(): MemoryBudget {
    return this.parent?.root ?? this;
  }

  private check(bytes: number): void {
    if (this.held > this.limit) {
      throw new DbError(
        StatusCode.RuntimeResourcesExhausted,
        `cannot run query: it needs more than the ${bytesText(this.limit)} of memory that query.memory_limit allows ` +
          `(${this.holders()}); narrow the time range, group by fewer values, or add a LIMIT`,
      );
    }
    if (this.account === undefined || this.account.take(bytes)) return;
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: all queries together hold as much memory as they may, half of memory.limit ` +
        `(this one: ${this.holders()}); run it again when others have ended`,
    );
  }

  /** Who holds how much, the most first. */
  private holders(): string {
    const largest = [...this.parts].sort((a, b) => b.held - a.held).slice(0, NAMED_MAX);
    const texts = largest.filter(({ held }) => held > 0).map(({ name, held }) => `${name} holds ${bytesText(held)}`);
    return texts.length === 0 ? `it holds ${bytesText(this.held)}` : texts.join(", ");
  }
}

/** Bytes for people: MiB, or KiB below one. */
function bytesText(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes >= 1 ? `${Math.floor(mebibytes)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
}
