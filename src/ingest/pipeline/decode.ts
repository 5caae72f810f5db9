/**
 * The way in: a pipeline's text or the built-in identity to something that runs rows.
 */
import type { CompiledPipeline, IdentityOptions } from "./types.ts";

/**
 * Compiles the YAML text of a pipeline.
 *
 * @throws DbError InvalidArguments with processor, field and line
 */
export declare function compilePipeline(yaml: string): CompiledPipeline;

/** The built-in `greptime_identity`. @throws DbError InvalidArguments for a bad custom time index */
export declare function identityPipeline(options?: IdentityOptions): CompiledPipeline;
