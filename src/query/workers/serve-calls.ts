/** The side of the thread of long calls: one call after the other. */
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { functionNamed } from "../function/registry.ts";
import type { FromCallThread, ToCallThread } from "./call-messages.ts";

/** The answer to a call. */
export function answerCall({ id, job }: ToCallThread): FromCallThread {
  try {
    const called = functionNamed(job.name);
    if (called === undefined) throw new Error(`a function of the registry; got ${job.name}`);
    return { kind: "value", id, value: called.evaluate(job.args, { type: job.type, environment: job.environment }) };
  } catch (error) {
    if (error instanceof DbError) return { kind: "failed", id, code: error.code, message: error.message, stack: undefined };
    const stack = error instanceof Error ? error.stack : undefined;
    return { kind: "failed", id, code: StatusCode.Internal, message: errorText(error), stack };
  }
}
