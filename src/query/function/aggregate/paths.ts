/** `json_encode_path(latitude, longitude, time)`: places in the order of their times, as JSON. */
import { FLOAT64, STRING } from "../../../column/data-type.ts";
import { isNumeric } from "../signature/signature.ts";
import { compareValues, type Present, type Value } from "../value/value.ts";
import type { AggregateFunction } from "./accumulator.ts";
import { SortedRuns } from "./sorted-runs.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";

/** About what a place costs in memory, bytes. */
const PLACE_BYTES = 96;
/** Texts that are joined before others get a turn. */
const TEXTS_AT_ONCE = 4096;

/** Two numbers and a time. */
export const pathType: AggregateFunction["resolve"] = ([latitude, longitude, time, ...rest]) => {
  const numbers = [latitude, longitude].every((type) => type !== undefined && (isNumeric(type) || ["decimal", "null"].includes(type.kind)));
  if (!numbers || rest.length > 0 || time?.kind !== "timestamp") return undefined;
  return { args: [FLOAT64, FLOAT64, time], result: STRING };
};

/** Rows with a NULL are left out. */
export const jsonPath: AggregateFunction["create"] = (_, reserve) => {
  const places = new SortedRuns<{ readonly text: string; readonly time: Present }>((a, b) => compareValues(a.time, b.time));
  const steps = function* (): Generator<void, Value> {
    const sorted = yield* places.steps();
    const texts: string[] = [];
    for (let at = 0; at < sorted.length; at += TEXTS_AT_ONCE) {
      const some = sorted.slice(at, at + TEXTS_AT_ONCE);
      texts.push(some.map((place) => place.text).join(","));
      yield;
    }
    return `[${texts.join(",")}]`;
  };
  return {
    add([latitude, longitude, time]) {
      if (latitude === undefined || longitude === undefined || time === undefined) return;
      const text = JSON.stringify([longitude, latitude]);
      reserve(PLACE_BYTES + text.length * 2);
      places.add({ text, time });
    },
    result: () => atOnce(steps()),
    steps: () => (places.areMany ? steps() : undefined),
  };
};
