/** `epoch`: numbers since 1970 to moments. */
import type { TimeUnit } from "../../../column/data-type.ts";
import { integerOfText } from "../../../value/number-text.ts";
import type { Options } from "../definition.ts";
import { kindOf, PipelineTime, type PipelineValue, timeIn, WholeFloat } from "../../common/value.ts";
import { type Processor, valueProcessor, wrongType } from "./processor.ts";

const UNITS: Readonly<Record<string, TimeUnit>> = {
  s: "second",
  sec: "second",
  second: "second",
  ms: "millisecond",
  milli: "millisecond",
  millisecond: "millisecond",
  us: "microsecond",
  micro: "microsecond",
  microsecond: "microsecond",
  ns: "nanosecond",
  nano: "nanosecond",
  nanosecond: "nanosecond",
};
const TIME_MAX = 2n ** 63n - 1n;
const TIME_MIN = -TIME_MAX;

/** The unit of a resolution's name; undefined when it is none. */
export function unitOf(name: string): TimeUnit | undefined {
  const lower = name.trim().toLowerCase();
  return Object.hasOwn(UNITS, lower) ? UNITS[lower] : undefined;
}

/** The moment of an int, a text of digits, a float (cut) or a moment; undefined when the value is none or exceeds 64 bits. */
export function epochTime(value: PipelineValue, unit: TimeUnit): PipelineTime | undefined {
  if (value instanceof PipelineTime && value.unit === unit) return isTime(value.value) ? value : undefined;
  const number = value instanceof WholeFloat ? value.value : value;
  let units: bigint;
  if (typeof number === "number") {
    if (!Number.isFinite(number)) return undefined;
    units = BigInt(Math.trunc(number));
  } else if (typeof number === "bigint") units = number;
  else if (number instanceof PipelineTime) units = timeIn(number, unit);
  else {
    const whole = typeof number === "string" ? integerOfText(number) : undefined;
    if (whole === undefined) return undefined;
    units = BigInt(whole);
  }
  return isTime(units) ? new PipelineTime(units, unit) : undefined;
}

function isTime(units: bigint): boolean {
  return units <= TIME_MAX && units >= TIME_MIN;
}

/** Compiles an `epoch` processor. @throws DbError InvalidArguments */
export function epochProcessor(options: Options): Processor {
  const resolution = options.text("resolution") ?? "ms";
  const unit = unitOf(resolution);
  if (unit === undefined) throw options.refused("resolution", `must be s, ms, us or ns, but is ${resolution}`);
  const processor = valueProcessor(options, (value) => {
    const time = epochTime(value, unit);
    if (time !== undefined) return time;
    throw wrongType("epoch", kindOf(value) === "string" ? "a string of digits as" : "number, time or string", value);
  });
  if (options.ignoreMissing) return processor;
  return { ...processor, times: options.fields().map(({ output }) => ({ name: output, unit })) };
}
