/** Regular expressions of pipelines: linear in the text, since a pattern that a user stores runs on text that anyone sends. */
import { compileLinearRegex, type Regex } from "../../base/text/linear-regex.ts";
import { failure } from "./failure.ts";

/** Compiles a pattern. @throws DbError InvalidArguments, the text begins with `what` */
export function compileRegex(pattern: string, what: string): Regex {
  const compiled = compileLinearRegex(pattern);
  if (compiled.ok) return compiled.value;
  throw failure(`${what}: cannot compile the pattern '${pattern}': ${compiled.reason}`);
}
