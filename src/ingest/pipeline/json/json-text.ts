/** Pipeline values as JSON text: keys in order, times as RFC 3339, floats that are whole with `.0`. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { VALUE_DEPTH_MAX } from "../limits.ts";
import { kindOf, PipelineTime, type PipelineObject, type PipelineValue, timeIn, WholeFloat } from "../../common/value.ts";

/** The JSON of a value. @throws DbError InvalidArguments when it is nested too deeply */
export function jsonText(value: PipelineValue): string {
  return written(value, 0);
}

/** A float as Rust prints it: `1.0`, not `1`. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** RFC 3339 in UTC with the digits that the fraction needs. */
function timeText(time: PipelineTime): string {
  const nanos = timeIn(time, "nanosecond");
  const seconds = timeIn(time, "second");
  const millis = Number(seconds) * 1000;
  if (Math.abs(millis) > 8.64e15) return String(time.value);
  const fraction = String(nanos - seconds * 1_000_000_000n).padStart(9, "0");
  const digits = fraction.replace(/(?:000)+$/, "");
  return `${new Date(millis).toISOString().slice(0, -5)}${digits === "" ? "" : `.${digits}`}Z`;
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
    throw new DbError(StatusCode.InvalidArguments, `cannot write a value as JSON: it is nested deeper than ${VALUE_DEPTH_MAX} levels`);
  }
  if (Array.isArray(value)) return `[${value.map((item: PipelineValue) => written(item, depth + 1)).join(",")}]`;
  const object = value as PipelineObject; // the only kind that is left
  const parts = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${written(object[key], depth + 1)}`);
  return `{${parts.join(",")}}`;
}
