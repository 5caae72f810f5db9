import type { Options } from "../definition.ts";
import type { Processor } from "../processor/processor.ts";
export function vrlProcessor(options: Options): Processor { throw options.refused("source", "x"); }
