/** The side of a thread of long calls: one call after the other. A large value waits until there is room for it over there. */
import { assert } from "../../base/assert.ts";
import { toldError } from "../../base/told-error.ts";
import { evaluate } from "../expression/interpreter.ts";
import { bytesOfValue } from "../expression/long-calls.ts";
import { decodeExpression } from "../expression/expression-shape.ts";
import type { TypedExpression } from "../expression/expression.ts";
import type { Value } from "../function/value/value.ts";
import { type FromCallThread, KEPT_EXPRESSIONS_MAX, type ToCallThread } from "./call-messages.ts";

/** Bytes up to which a value is sent without a question. */
const SMALL_BYTES: number = 64 * 1024;

/** Answers messages. Keeps expressions, and the value of the last call until it is taken. */
export class CallServer {
  private readonly expressions = new Map<number, TypedExpression>();
  private held: { readonly id: number; readonly value: Value } | undefined;

  /** The answer to a message, if it has one. */
  answer(message: ToCallThread): FromCallThread | undefined {
    if (message.kind === "call") return this.called(message);
    const { held } = this;
    this.held = undefined;
    if (message.kind === "drop") return undefined;
    assert(held?.id === message.id, `the value of the last call is asked for; got ${message.id}`);
    return { kind: "value", id: held.id, value: held.value };
  }

  private called({ id, job, expression }: Extract<ToCallThread, { kind: "call" }>): FromCallThread {
    try {
      const { expressions } = this;
      if (expression !== undefined) {
        const [first] = expressions.keys();
        if (expressions.size >= KEPT_EXPRESSIONS_MAX && first !== undefined) expressions.delete(first);
        expressions.set(job.expressionId, decodeExpression(expression));
      }
      const known = expressions.get(job.expressionId);
      if (known === undefined) throw new Error(`an expression that was sent; got ${job.expressionId}`);
      const row = new Map(job.row);
      const value = evaluate(known, (column) => row.get(column), job.environment);
      const bytes = bytesOfValue(value);
      if (bytes <= SMALL_BYTES) return { kind: "value", id, value };
      this.held = { id, value };
      return { kind: "computed", id, bytes };
    } catch (error) {
      return { kind: "failed", id, error: toldError(error) };
    }
  }
}
