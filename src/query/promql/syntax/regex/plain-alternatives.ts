/**
 * Regular expressions that are lists of texts, as dashboards make them of chosen values: `a|b|10\.0\.0\.1`, and Grafana with parentheses
 * around, `(a|b)`. They are never compiled.
 */

const SPECIAL: ReadonlySet<string> = new Set("\\.+*?()|[]{}^$");
/** What a backslash makes an ordinary character. */
const ESCAPABLE = /^[!-/:-@[-^`{-~]$/;

/** The texts of such a list, however long; undefined when a pattern is more than plain texts with `|` between them. */
export function plainAlternatives(pattern: string): readonly string[] | undefined {
  return textsOf(pattern) ?? textsOf(unwrapped(pattern));
}

/** Without what says nothing around a whole pattern: anchors, as both ends are anchored anyway, and one pair of parentheses. */
function unwrapped(pattern: string): string {
  const from = pattern.startsWith("^") ? 1 : 0;
  const to = pattern.length - (pattern.endsWith("$") ? 1 : 0);
  const open = pattern.startsWith("(?:", from) ? 3 : pattern.startsWith("(", from) ? 1 : 0;
  const isClosed = open > 0 && to > from + open && pattern.charAt(to - 1) === ")";
  // An escaped end leaves a backslash behind, and then this is no list.
  return isClosed ? pattern.slice(from + open, to - 1) : pattern.slice(from, to);
}

function textsOf(pattern: string): readonly string[] | undefined {
  const texts: string[] = [];
  let text = "";
  let from = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (!SPECIAL.has(character)) continue;
    text += pattern.slice(from, at);
    if (character === "|") {
      texts.push(text);
      text = "";
    } else {
      if (character !== "\\" || !ESCAPABLE.test(pattern.charAt(at + 1))) return undefined;
      text += pattern.charAt(++at);
    }
    from = at + 1;
  }
  texts.push(text + pattern.slice(from));
  return texts;
}
