/** Calls that run elsewhere since they take long: what is asked, of whom, and for whom (`row-values.ts` asks). */
import type { Environment } from "../function/signature/environment.ts";
import { isInterval, type Value } from "../function/value/value.ts";

/** An expression and what it reads of a row, as plain data. */
export interface CallJob {
  /** The same for the same expression: a thread that has it is not sent it again. */
  readonly expressionId: number;
  /** Its bytes. */
  readonly expression: Uint8Array<ArrayBuffer>;
  readonly row: readonly (readonly [column: number, value: Value])[];
  readonly environment: Pick<Environment, "now" | "timeZone" | "database">;
}

/** Who waits for a job. */
export interface CallOwner {
  readonly signal: AbortSignal;
  /** Counts the bytes of a result before it is copied. @throws DbError RuntimeResourcesExhausted */
  readonly reserve: (bytes: number) => void;
}

/** Where long calls run. */
export interface LongCalls {
  /** What may be spent here before a call goes there, where that is not the usual. */
  readonly allowance?: number;
  /** @throws DbError what the functions throw, what `reserve` throws, Cancelled when the signal fires */
  call(job: CallJob, owner: CallOwner): Promise<Value>;
}

/** About how many bytes a value takes once it is copied. */
export function bytesOfValue(value: Value): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.byteLength;
  return value !== undefined && isInterval(value) ? 32 : 8;
}
