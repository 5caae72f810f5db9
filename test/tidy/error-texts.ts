/**
 * Messages of errors are for people: code asks an error's code or its details. Whoever looks into a message breaks when somebody writes a
 * better one. Found are methods of texts on `.message`, on `message` and on `errorText(…)`, messages handed to a regular expression, and
 * messages that are compared. What goes by another name first is not found.
 */
import { codeOf } from "./code-text.ts";
import { isTestOrBench, type SourceFile } from "./source-tree.ts";

const METHOD = "(?:startsWith|endsWith|includes|match|matchAll|search|indexOf|lastIndexOf|replace|slice|split|substring|at|charAt)";
const TEXT = String.raw`(?:\bmessage|\b(?:errorText|String)\((?:error|thrown|cause)\))`;

const LOOKS: readonly RegExp[] = [
  new RegExp(String.raw`${TEXT}\s*\??\.${METHOD}\(`),
  new RegExp(String.raw`\.(?:test|exec|includes|has|get)\(\s*(?:(?:\w+\.)*message\s*[,)]|errorText\()`),
  /\.message\s*(?:===|!==|==|!=)/,
  /(?:===|!==|==|!=)\s*(?:\w+\.)+message\b/,
  /\bswitch\s*\(\s*(?:\w+\.)+message\s*\)/,
];

/** Files that may, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/base/error.ts": "it makes messages, and cuts long ones",
  "src/config/file-layer.ts":
    "the package says why a file is no TOML in its message alone, and behind it quotes lines that may hold secrets",
  "src/query/copy/xz.ts": "the package tells its error's number in its message alone",
};

/** One line a place that looks into a message, and one an exception that is not needed any more. */
export function messageLooks(files: readonly SourceFile[], exceptions: Readonly<Record<string, string>> = EXCEPTIONS): readonly string[] {
  const found: string[] = [];
  const used = new Set<string>();
  for (const file of files) {
    if (!file.path.startsWith("src/") || !file.path.endsWith(".ts") || isTestOrBench(file)) continue;
    for (const [index, line] of codeOf(file.text).split("\n").entries()) {
      const look = LOOKS.map((pattern) => pattern.exec(line)?.[0]).find((match) => match !== undefined);
      if (look === undefined) continue;
      if (Object.hasOwn(exceptions, file.path)) used.add(file.path);
      else found.push(`${file.path}:${index + 1}: ${look.trim()} → the error's code or its details (base/error.ts)`);
    }
  }
  for (const path of Object.keys(exceptions)) if (!used.has(path)) found.push(`${path}: needs no exception in error-texts.ts any more`);
  return found;
}
