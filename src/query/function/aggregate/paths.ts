/** `json_encode_path(latitude, longitude, time)`: places in the order of their times, as JSON. */
import { FLOAT64, STRING } from "../../../column/data-type.ts";
import { isNumeric } from "../signature/signature.ts";
import { compareValues, type Present } from "../value/value.ts";
import type { AggregateFunction } from "./accumulator.ts";

/** About what a place costs in memory, bytes. */
const PLACE_BYTES = 96;

/** Two numbers and a time. */
export const pathType: AggregateFunction["resolve"] = ([latitude, longitude, time, ...rest]) => {
  const numbers = [latitude, longitude].every((type) => type !== undefined && (isNumeric(type) || ["decimal", "null"].includes(type.kind)));
  if (!numbers || rest.length > 0 || time?.kind !== "timestamp") return undefined;
  return { args: [FLOAT64, FLOAT64, time], result: STRING };
};

/** Rows with a NULL are left out. */
export const jsonPath: AggregateFunction["create"] = (_, reserve) => {
  const places: { readonly text: string; readonly time: Present }[] = [];
  return {
    add([latitude, longitude, time]) {
      if (latitude === undefined || longitude === undefined || time === undefined) return;
      const text = JSON.stringify([longitude, latitude]);
      reserve(PLACE_BYTES + text.length * 2);
      places.push({ text, time });
    },
    result() {
      places.sort((a, b) => compareValues(a.time, b.time));
      return `[${places.map((place) => place.text).join(",")}]`;
    },
  };
};
