/** Values of a row to the cells of a column of a declared type (contract ingest.md 8.8). */
import { unreachable } from "../../base/assert.ts";
import type { DataType, TimeUnit } from "../../column/data-type.ts";
import { INT64_MAX, exactInteger } from "../../column/exact-integer.ts";
import type { Scalar } from "../../column/vector.ts";
import { boundsOf, fits, type IntegerType, wholeOfFloat } from "../../value/integer-range.ts";
import { floatOfText, integerOfText } from "../../value/number-text.ts";
import { failure, quoted } from "./failure.ts";
import { jsonText, plainText } from "./json/json-text.ts";
import { kindOf, PipelineTime, type PipelineValue, timeIn, WholeFloat } from "../common/value.ts";

/** Turns a value that is not null into a cell; `REFUSED` where the type has no such value. */
type Coercion = (value: PipelineValue) => Scalar | typeof REFUSED;

/** No cell: `refusal` says why. */
export const REFUSED: unique symbol = Symbol("refused");

/** The coercion to a type. */
export function coercionTo(type: DataType): Coercion {
  switch (type.kind) {
    case "int":
      return toInt(type);
    case "float":
      return type.bits === 32 ? (value) => narrow(toFloat(value)) : toFloat;
    case "boolean":
      return toBoolean;
    case "string":
      return toText;
    case "timestamp":
      return toTime(type.unit);
    default:
      return (value) => (typeof value === "object" && isStructured(value) ? jsonText(value) : REFUSED);
  }
}

/** The error of a value that a coercion refused. `name` is the type's as clients know it. */
export function refusal(value: PipelineValue, name: string, isTime: boolean): Error {
  if (typeof value === "string") {
    if (isTime) return failure("Failed to coerce value: Type: String value not supported for Epoch");
    return failure(`Failed to coerce string value '${quoted(value)}' to type '${name}'`);
  }
  return failure(`Failed to coerce value: cannot turn the ${kindOf(value)} ${quoted(value)} into ${name}`);
}

function isStructured(value: PipelineValue): boolean {
  const kind = kindOf(value);
  return kind === "array" || kind === "object";
}

/** Other than `CAST`, floats beyond the type become its nearest value and NaN becomes 0 (contract ingest.md 8.8). */
function toInt(type: IntegerType): Coercion {
  const { min, max } = boundsOf(type);
  const [low, high] = [Number(min), Number(max)];
  const saturated = (value: number): Scalar => {
    if (Number.isNaN(value)) return 0;
    const whole = Math.trunc(value);
    if (whole <= low) return exactInteger(min);
    return whole >= high ? exactInteger(max) : wholeOfFloat(whole);
  };
  const within = (value: number | bigint | undefined): Scalar | typeof REFUSED =>
    value !== undefined && fits(value, type) ? value : REFUSED;
  return (value) => {
    switch (typeof value) {
      case "number":
        if (kindOf(value) === "float") return saturated(value);
        return value < low || value > high ? REFUSED : value;
      case "bigint":
        return within(exactInteger(value));
      case "boolean":
        return value ? 1 : 0;
      case "string":
        return within(integerOfText(value));
      default:
        return value instanceof WholeFloat ? saturated(value.value) : REFUSED;
    }
  };
}

function toFloat(value: PipelineValue): number | typeof REFUSED {
  switch (typeof value) {
    case "number":
      return value;
    case "bigint":
      return Number(value);
    case "boolean":
      return value ? 1 : 0;
    case "string":
      return floatOfText(value) ?? REFUSED;
    default:
      return value instanceof WholeFloat ? value.value : REFUSED;
  }
}

function narrow(value: number | typeof REFUSED): number | typeof REFUSED {
  return value === REFUSED ? REFUSED : Math.fround(value);
}

/** Other than `CAST`, the words are exactly `true` and `false` (contract ingest.md 8.8). */
function toBoolean(value: PipelineValue): boolean | typeof REFUSED {
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      return value !== 0;
    case "bigint":
      return value !== 0n;
    case "string":
      return value === "true" ? true : value === "false" ? false : REFUSED;
    default:
      return value instanceof WholeFloat ? value.value !== 0 : REFUSED;
  }
}

function toText(value: PipelineValue): string | typeof REFUSED {
  if (typeof value === "string") return value;
  const kind = kindOf(value);
  return kind === "time" || kind === "array" || kind === "object" ? REFUSED : plainText(value);
}

function toTime(unit: TimeUnit): Coercion {
  return (value) => {
    if (value instanceof PipelineTime) {
      const units = timeIn(value, unit);
      return units > INT64_MAX || units < -INT64_MAX ? REFUSED : units;
    }
    if (typeof value === "number" && kindOf(value) === "int") return BigInt(value);
    return typeof value === "bigint" && value <= INT64_MAX && value >= -INT64_MAX ? value : REFUSED;
  };
}

/** What `on_failure: default` gives where no default is declared. */
export function zeroOf(type: DataType): Scalar {
  switch (type.kind) {
    case "int":
    case "float":
      return 0;
    case "boolean":
      return false;
    case "string":
      return "";
    case "timestamp":
      return 0n;
    case "json":
      return "null";
    case "null":
    case "binary":
    case "date":
    case "time":
    case "duration":
    case "interval":
    case "decimal":
    case "vector":
    case "list":
    case "struct":
    case "map":
      return undefined;
    default:
      return unreachable(type);
  }
}
