/** Pipeline values as JSON text: keys in order, times as RFC 3339, floats that are whole with `.0`. */
import { invalidArguments } from "../../../base/error.ts";
import { VALUE_DEPTH_MAX } from "../limits.ts";
import { type PipelineObject, PipelineTime, type PipelineValue, WholeFloat, kindOf } from "../../common/value.ts";
import { formatTimestamp } from "../../../value/format-time.ts";
import { floatText } from "../../../value/number-text.ts";

/** The JSON of a value. @throws DbError InvalidArguments when it is nested too deeply */
export function jsonText(value: PipelineValue): string {
  return written(value, 0);
}

/** RFC 3339 in UTC with the digits that the fraction needs. */
function timeText({ value, unit }: PipelineTime): string {
  return `${formatTimestamp(value, unit)}Z`;
}

/** A value as text outside of JSON: strings and times bare. */
export function plainText(value: PipelineValue): string {
  if (typeof value === "string") return value;
  return value instanceof PipelineTime ? timeText(value) : jsonText(value);
}

function written(value: PipelineValue, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return "null";
    return kindOf(value) === "float" ? floatText(value) : String(value);
  }
  if (typeof value !== "object") return String(value);
  if (value instanceof WholeFloat) return floatText(value.value);
  if (value instanceof PipelineTime) return JSON.stringify(timeText(value));
  if (depth >= VALUE_DEPTH_MAX) {
    throw invalidArguments(`cannot write a value as JSON: it is nested deeper than ${VALUE_DEPTH_MAX} levels`);
  }
  if (Array.isArray(value)) return `[${value.map((item: PipelineValue) => written(item, depth + 1)).join(",")}]`;
  const object = value as PipelineObject; // the only kind that is left
  const parts = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${written(object[key], depth + 1)}`);
  return `{${parts.join(",")}}`;
}
