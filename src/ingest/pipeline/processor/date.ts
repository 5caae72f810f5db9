/** `date`: text to a moment by the first of its formats that fits. */
import type { Options } from "../definition.ts";
import { failure, quoted } from "../failure.ts";
import { compileTimeFormat } from "../strftime.ts";
import { timeZoneOf } from "../time-zone.ts";
import { type Processor, textProcessor } from "./processor.ts";

const DEFAULT_FORMATS: readonly string[] = [
  ...["", "%.3f", "%.6f", "%.9f"].flatMap((fraction) => ["%:z", "%z", ""].map((zone) => `%Y-%m-%dT%H:%M:%S${fraction}${zone}`)),
  "%Y-%m-%dT%H:%M:%SZ",
];

/** Compiles a `date` processor. @throws DbError InvalidArguments */
export function dateProcessor(options: Options): Processor {
  const given = options.texts("formats");
  // In the order of their text, since that is the order in which data that fits several of them has always been read.
  const texts = [...new Set(given.length === 0 ? DEFAULT_FORMATS : given)].sort();
  const formats = texts.map((text) => {
    const format = compileTimeFormat(text);
    if (format === undefined) throw options.refused("formats", `has a format that cannot be read: ${text}`);
    return format;
  });
  const zone = timeZoneOf(options.text("timezone") ?? "UTC");
  const processor = textProcessor(options, (text) => {
    for (const format of formats) {
      const time = format.parse(text, zone);
      if (time !== undefined) return time;
    }
    throw failure(`Processor date: failed to parse ${quoted(text)}`);
  });
  if (options.ignoreMissing) return processor;
  return { ...processor, times: options.fields().map(({ output }) => ({ name: output, unit: "nanosecond" })) };
}
