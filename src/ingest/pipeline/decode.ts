/**
 * The way in: a pipeline's text or the built-in identity to something that runs rows.
 */
import { compileParts } from "./compile.ts";
import { parseDefinition } from "./definition.ts";
import { makeIdentity } from "./identity.ts";
import { Pipeline } from "./pipeline.ts";
import type { CompiledPipeline, IdentityOptions } from "./types.ts";

const BUILT_IN = identityOf({});

/**
 * Compiles the YAML text of a pipeline.
 *
 * @throws DbError InvalidArguments with processor, field and line
 */
export function compilePipeline(yaml: string): CompiledPipeline {
  return new Pipeline(compileParts(parseDefinition(yaml), yaml, BUILT_IN));
}

/** The built-in `greptime_identity`. @throws DbError InvalidArguments for a bad custom time index */
export function identityPipeline(options: IdentityOptions = {}): CompiledPipeline {
  return options.customTimeIndex === undefined && options.maxNestedLevels === undefined ? BUILT_IN : identityOf(options);
}

function identityOf(options: IdentityOptions): Pipeline {
  const parts = { processors: [], dispatcher: undefined, tableSuffix: undefined, isDeclared: false, identity: undefined };
  return new Pipeline({ ...parts, shape: makeIdentity(options) });
}
