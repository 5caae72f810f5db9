/** `csv`: the first record of a text to fields. */
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { setField } from "../../common/value.ts";
import { eachField, type Processor, wrongType } from "./processor.ts";

/** Compiles a `csv` processor. @throws DbError InvalidArguments */
export function csvProcessor(options: Options): Processor {
  const separator = oneByte(options, "separator", ",");
  const quote = oneByte(options, "quote", '"');
  const trim = options.flag("trim", false);
  const emptyValue = options.text("empty_value") ?? null;
  const targets = (options.text("target_fields") ?? "").split(",").map((name) => name.trim());
  if (targets.some((name) => name === "")) throw options.refused("target_fields", "must name columns, separated by commas");
  return eachField(options, (row, value) => {
    if (typeof value !== "string") throw wrongType("csv", "string", value);
    const cells = firstRecord(value, separator, quote);
    if (cells === undefined) throw failure("Processor csv: no record in the text");
    for (let i = 0; i < targets.length; i++) {
      const cell = cells[i];
      setField(row, targets[i] ?? "", cell === undefined ? emptyValue : trim ? cell.trim() : cell);
    }
  });
}

function oneByte(options: Options, name: string, fallback: string): string {
  const text = options.text(name) ?? fallback;
  if (text.length !== 1 || text.charCodeAt(0) > 0x7f) throw options.refused(name, `must be one byte, but is '${text}'`);
  return text;
}

/** Cells of the first record; undefined for a text of line ends. Twice a quote in quotes is a quote. */
function firstRecord(text: string, separator: string, quote: string): readonly string[] | undefined {
  let at = 0;
  while (text[at] === "\n" || text[at] === "\r") at++;
  if (at >= text.length) return undefined;
  const cells: string[] = [];
  for (;;) {
    let cell = "";
    if (text[at] === quote) {
      at++;
      for (;;) {
        const close = text.indexOf(quote, at);
        if (close < 0) {
          cell += text.slice(at);
          at = text.length;
          break;
        }
        cell += text.slice(at, close);
        at = close + 1;
        if (text[at] !== quote) break;
        cell += quote;
        at++;
      }
    }
    const start = at;
    while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
    cells.push(cell + text.slice(start, at));
    if (text[at] !== separator) return cells;
    at++;
  }
}
