/** Processors by name. */
import { isMapping, Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { vrlProcessor } from "../vrl/vrl.ts";
import { cmcdProcessor } from "./cmcd.ts";
import { csvProcessor } from "./csv.ts";
import { dateProcessor } from "./date.ts";
import { dissectProcessor } from "./dissect.ts";
import { epochProcessor } from "./epoch.ts";
import type { Processor } from "./processor.ts";
import { filterProcessor, jsonParseProcessor, jsonPathProcessor, selectProcessor, simpleExtractProcessor } from "./row-processors.ts";
import { decolorizeProcessor, digestProcessor, gsubProcessor, joinProcessor, letterProcessor, regexProcessor } from "./text-processors.ts";
import { urlencodingProcessor } from "./urlencoding.ts";

const COMPILERS: ReadonlyMap<string, (options: Options) => Processor> = new Map([
  ["cmcd", cmcdProcessor],
  ["csv", csvProcessor],
  ["date", dateProcessor],
  ["decolorize", decolorizeProcessor],
  ["digest", digestProcessor],
  ["dissect", dissectProcessor],
  ["epoch", epochProcessor],
  ["filter", filterProcessor],
  ["gsub", gsubProcessor],
  ["join", joinProcessor],
  ["json_parse", jsonParseProcessor],
  ["json_path", jsonPathProcessor],
  ["letter", letterProcessor],
  ["regex", regexProcessor],
  ["select", selectProcessor],
  ["simple_extract", simpleExtractProcessor],
  ["urlencoding", urlencodingProcessor],
  ["vrl", vrlProcessor],
]);

/** Compiles an entry of `processors`. @throws DbError InvalidArguments */
export function compileProcessor(entry: unknown): Processor {
  if (!isMapping(entry)) throw failure("a processor must be a mapping of its name to its options");
  const names = Object.keys(entry);
  const name = names[0];
  if (name === undefined || names.length > 1) {
    throw failure(`a processor must have a single key, its name, but has ${names.length === 0 ? "none" : names.join(", ")}`);
  }
  const compiler = COMPILERS.get(name);
  if (compiler === undefined) throw failure(`Unsupported ${name} processor`);
  const options = entry[name];
  if (!isMapping(options)) throw failure(`Processor ${name}: options must be a mapping`);
  return compiler(new Options(name, options));
}
