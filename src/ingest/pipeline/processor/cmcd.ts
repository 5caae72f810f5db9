/** `cmcd`: Common Media Client Data (CTA-5004), `key=value` pairs between commas. */
import { fitsInt64 } from "../../../value/integer-range.ts";
import { integerOfText, numberOfText } from "../../../value/number-text.ts";
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { type PipelineValue, floatValue, setField } from "../../common/value.ts";
import { eachField, type Processor, wrongType } from "./processor.ts";
import { percentDecoded } from "./urlencoding.ts";

const KEYS: ReadonlyMap<string, "flag" | "int" | "text" | "url" | "float"> = new Map([
  ...["bs", "su"].map((key) => [key, "flag"] as const),
  ...["br", "bl", "d", "dl", "mtp", "rtp", "tb"].map((key) => [key, "int"] as const),
  ...["cid", "nrr", "ot", "sf", "sid", "st", "v"].map((key) => [key, "text"] as const),
  ["nor", "url"],
  ["pr", "float"],
]);

/** Compiles a `cmcd` processor. @throws DbError InvalidArguments */
export function cmcdProcessor(options: Options): Processor {
  return eachField(options, (row, value, { output }) => {
    if (typeof value !== "string") throw wrongType("cmcd", "string", value);
    for (const pair of value.split(",")) {
      const equals = pair.indexOf("=");
      const key = (equals < 0 ? pair : pair.slice(0, equals)).trim();
      const kind = KEYS.get(key);
      if (kind !== undefined) setField(row, `${output}_${key}`, read(kind, key, equals < 0 ? undefined : pair.slice(equals + 1), value));
    }
  });
}

function read(kind: string, key: string, text: string | undefined, whole: string): PipelineValue {
  if (kind === "flag") return true;
  if (text === undefined) throw failure(`Cmcd ${key} missing value in ${whole.slice(0, 120)}`);
  if (kind === "text") return text;
  if (kind === "url") return percentDecoded(text, "cmcd");
  if (kind === "int") {
    const whole = integerOfText(text);
    if (whole === undefined || !fitsInt64(whole)) throw noNumber(key, text, "an integer");
    return whole;
  }
  const number = numberOfText(text);
  if (number === undefined) throw noNumber(key, text, "a float");
  return floatValue(number);
}

function noNumber(key: string, text: string, what: string): Error {
  return failure(`Processor cmcd: failed to parse ${key}=${text.slice(0, 120)} as ${what}`);
}
