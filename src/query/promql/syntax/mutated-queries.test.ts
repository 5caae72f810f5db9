/**
 * Queries that went wrong on their way: words of random ones are dropped, doubled, swapped, replaced or cut. Each gives a tree that prints
 * and is parsed as before, or an error with a place in the text. `VARVE_FUZZ_QUERIES=1000000` runs more of them.
 */
import { expect, test } from "bun:test";
import { RandomPromql } from "../../../../test/support/random-promql.ts";
import { parsePromql } from "./parse.ts";
import { formatPromql, printPromql } from "./printer.ts";
import { treeJson } from "./tree-json.ts";

const QUERIES = Number(process.env["VARVE_FUZZ_QUERIES"] ?? "10000");
const WORDS = [
  ..."( ) { } [ ] , : = == != < <= > >= =~ !~ + - * / % ^ @ . ; # </ >/ ! ~ \" ' ` \\ 5m 1h30m 0 0x1F 1e5 1e+ .5 1_000".split(" "),
  ..."08 Inf 5mm 0s 300y foo a:b sum topk count_values by without on ignoring group_left bool fill fill_left offset start".split(" "),
  ..."anchored smoothed end step range min_of and or atan2 rate abs info label_join hour vector scalar é 😀 \ud83d \ufffd".split(" "),
  ...'\u0000 "\\xff" `z` [5m] [5m:] {a=~"("}'.split(" "),
  "\n",
  "# x\n",
  " ",
];

function mutated(text: string, random: RandomPromql): string {
  const words = text.match(/"(?:[^"\\]|\\.)*"|\w+|\s+|[\s\S]/g) ?? [];
  for (let edits = random.below(4); edits >= 0; edits--) {
    const at = random.below(words.length + 1);
    const word = WORDS[random.below(WORDS.length)] ?? "";
    const other = words[random.below(Math.max(1, words.length))] ?? "";
    const replaced = words[at] ?? "";
    switch (random.below(6)) {
      case 0:
        words.splice(at, 1);
        break;
      case 1:
        words.splice(at, 0, word);
        break;
      case 2:
        words.splice(at, 1, word);
        break;
      case 3:
        words.splice(at, 1, other, replaced);
        break;
      case 4:
        words.splice(at, 1, replaced.slice(0, random.below(replaced.length + 1)));
        break;
      default:
        words.length = Math.max(1, at);
    }
  }
  return words.join("");
}

test("mutated queries give a tree or an error", () => {
  const random = new RandomPromql(7);
  let trees = 0;
  for (let round = 0; round < QUERIES; round++) {
    const text = mutated(printPromql(random.tree(2 + (round % 4))), random);
    const parsed = parsePromql(text);
    if (!parsed.ok) {
      const { message, span } = parsed.problem;
      expect(message).toMatch(/^(?:\d+:\d+|unknown position): parse error: ./);
      expect(span.start >= 0 && span.start <= text.length && span.end <= text.length, text).toBe(true);
      continue;
    }
    trees++;
    expect(treeJson(parsed.expression)).toBeObject();
    const line = printPromql(parsed.expression);
    for (const printed of [line, formatPromql(parsed.expression)]) {
      const again = parsePromql(printed);
      expect(again.ok ? [text, printPromql(again.expression)] : [text, again.problem.message]).toEqual([text, line]);
    }
  }
  expect(trees).toBeGreaterThan(QUERIES / 20);
});
