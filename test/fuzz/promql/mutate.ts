/**
 * Mutations of queries: half of them put one query into another and change numbers, durations and operators, so that many still are
 * queries; in the others tokens go, come and change places, and bytes change.
 */
import type { Random } from "../../../bench/macro/random.ts";

const TOKENS = [
  ..."( ) { } [ ] , : = == != < <= > >= =~ !~ + - * / % ^ @ . ; # \" ' ` \\ 0 1 2 0.5 1e5 1e308 -1 0x1F NaN Inf -Inf 1_000".split(" "),
  ..."1ms 5s 1m 1h 1d 1y 5m30s m c_total w b_bucket h job le __name__ __field__ sum avg topk quantile count_values by without on".split(
    " ",
  ),
  ..."ignoring group_left group_right bool fill fill_left fill_right offset anchored smoothed start() end() step() range() and or".split(
    " ",
  ),
  ..."unless atan2 rate abs absent scalar vector time() label_replace info limit_ratio sort histogram_quantile é 😀 \u0000 \ufffd".split(
    " ",
  ),
  ...'m[5m] m[5m:1m] [5m] [1h:1s] (m) "x" {h="a"} {h=~"a|.*"} {h=~"("} {__name__=~".+"} @100 ^2 *m'.split(" "),
  " ",
  "\n",
  "# x\n",
];
const EDITS_MAX = 4;

/** A mutation of a query as bytes, which need not be UTF-8. */
export function mutated(text: string, others: readonly string[], random: Random): Uint8Array {
  if (random.below(2) === 0) return new TextEncoder().encode(recombined(text, others, random));
  const changed = random.below(5) === 0 ? text : withTokens(text, others, random);
  const bytes = new TextEncoder().encode(changed);
  return random.below(4) === 0 ? withBytes(bytes, random) : bytes;
}

const DURATIONS = "1ms 10ms 1s 7s 15s 59s 1m 2m1s 5m 10m 1h 1d 1w 1y 292y 0s".split(" ");
const NUMBERS = "0 1 2 -1 0.5 1e-300 1e308 NaN Inf -Inf 9007199254740993 0x7fffffffffffffff 1e19".split(" ");
const SIGNS = "+ - * / % ^ atan2 == != < <= > >= and or unless".split(" ");

function recombined(text: string, others: readonly string[], random: Random): string {
  const some = (list: readonly string[]): string => list[random.below(list.length)] ?? "";
  let changed = text;
  for (let depth = random.below(3); depth >= 0; depth--) {
    const [before, ...behind] = changed.split(/\bm\b(?![\w["'])/);
    const at = random.below(Math.max(1, behind.length));
    const joined = (parts: readonly string[]): string => parts.join("m");
    if (behind.length > 0) changed = `${joined([before ?? "", ...behind.slice(0, at)])}(${some(others)})${joined(behind.slice(at))}`;
  }
  changed = changed.replaceAll(/\b\d+(?:ms|[smhdwy])\b/g, (own) => (random.below(3) === 0 ? some(DURATIONS) : own));
  changed = changed.replaceAll(/(?<=[(,] ?)\d+(?:\.\d+)?(?=[,)])/g, (own) => (random.below(3) === 0 ? some(NUMBERS) : own));
  return changed.replaceAll(/ [-+*/%^] /g, (own) => (random.below(4) === 0 ? ` ${some(SIGNS)} ` : own));
}

function withTokens(text: string, others: readonly string[], random: Random): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[\w.]+|\s+|[\s\S]/g) ?? [];
  for (let edits = random.below(EDITS_MAX); edits >= 0; edits--) {
    const at = random.below(tokens.length + 1);
    const token = TOKENS[random.below(TOKENS.length)] ?? "";
    switch (random.below(7)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, token);
        break;
      case 2:
        tokens.splice(at, 1, token);
        break;
      case 3:
        tokens.splice(at, 1, tokens[random.below(Math.max(1, tokens.length))] ?? "", tokens[at] ?? "");
        break;
      case 4: {
        // A part of another query in the place of a token.
        const other = others[random.below(others.length)] ?? "";
        tokens.splice(at, 1, "(", other, ")");
        break;
      }
      case 5: {
        const doubled = tokens.slice(at, at + 1 + random.below(6));
        tokens.splice(at, 0, ...doubled);
        break;
      }
      default:
        tokens.splice(at, 1, (tokens[at] ?? "").slice(0, random.below(4)));
    }
  }
  return tokens.join("");
}

function withBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const out = [...bytes];
  for (let edits = random.below(EDITS_MAX); edits >= 0; edits--) {
    const at = random.below(out.length + 1);
    const byte = random.below(256);
    switch (random.below(4)) {
      case 0:
        out.splice(at, 1);
        break;
      case 1:
        out.splice(at, 0, byte);
        break;
      case 2:
        out[Math.min(at, Math.max(0, out.length - 1))] = byte;
        break;
      default:
        out.length = Math.max(1, at);
    }
  }
  return Uint8Array.from(out);
}
