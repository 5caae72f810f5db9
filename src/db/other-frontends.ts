/** The other frontends of a cluster, as far as one asks them about their statements; `cluster/statements` has them. */
import type { RunningStatement } from "../query/system-facts.ts";
import type { KillOutcome } from "./running-statements.ts";

/** What runs elsewhere. */
export interface StatementsElsewhere {
  readonly statements: readonly RunningStatement[];
  /** What is missing among them, in words; empty: nothing is. */
  readonly gaps: readonly string[];
}

/** See the file header. */
export interface OtherFrontends {
  /** Name of this one: ids of its statements begin with it. */
  readonly self: string;
  /** Names of the others that live, in order. */
  names(): readonly string[];
  /**
   * Asks all of them what runs there; those that do not answer soon are left out.
   *
   * @param of the account whose statements they are; undefined: all
   * @throws DbError Cancelled
   */
  list(of: string | undefined, signal: AbortSignal): Promise<StatementsElsewhere>;
  /**
   * Has one of them end a statement.
   *
   * @param of the account that may end its own only; undefined: any
   * @throws DbError StorageUnavailable: it does not answer; Cancelled
   */
  kill(frontend: string, id: string, of: string | undefined, signal: AbortSignal): Promise<KillOutcome>;
}
