/** Functions that read the states of sketches (`aggregate/sketches.ts`). */
import { BINARY, FLOAT64, UINT64 } from "../../../column/data-type.ts";
import { hyperLogLogCount } from "../sketch/hyper-log-log.ts";
import { UddSketch } from "../sketch/udd-sketch.ts";
import { type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isNumeric } from "../signature/signature.ts";
import type { Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";

const bytes = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array());

function portionOf(value: Value): number {
  const portion = Number(value);
  if (portion >= 0 && portion <= 1) return portion;
  throw executionError(`the portion of uddsketch_calc must be 0.0..1.0, got ${portion}`);
}

/** The functions of this file. */
export const SKETCH_FUNCTIONS: readonly ScalarFunction[] = [
  strict(
    "hll_count(state)",
    (args) => (args.length === 1 && ["binary", "null"].includes(args[0]?.kind ?? "") ? { args: [BINARY], result: UINT64 } : undefined),
    ([state]) => hyperLogLogCount(bytes(state)),
  ),
  strict(
    "uddsketch_calc(portion, state)",
    ([portion, state, ...rest]) => {
      if (rest.length > 0 || portion === undefined || !["binary", "null"].includes(state?.kind ?? "")) return undefined;
      return isNumeric(portion) || portion.kind === "null" ? { args: [FLOAT64, BINARY], result: FLOAT64 } : undefined;
    },
    ([portion, state]) => UddSketch.decoded(bytes(state)).quantile(portionOf(portion)),
  ),
];
