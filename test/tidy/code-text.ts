/**
 * Blanks comments and the insides of strings, so that a search sees code alone. Line ends stay, hence line numbers hold.
 * A small scanner: it knows quotes, templates with nested expressions, comments, and regular expressions by what stands before them.
 */

/** What may stand before a `/` that begins a regular expression. */
const BEFORE_REGEX = /(?:^|[=(,;:!&|?{}[\]+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|void))\s*$/;

/** The text with comments and string contents replaced by spaces. */
export function codeOf(text: string): string {
  const out: string[] = [];
  const braces: number[] = []; // depth of braces inside each open `${`
  let position = 0;
  const keep = (end: number): void => {
    out.push(text.slice(position, end));
    position = end;
  };
  const erase = (end: number): void => {
    out.push(text.slice(position, end).replace(/[^\n]/g, " "));
    position = end;
  };

  while (position < text.length) {
    const character = text[position];
    const pair = text.slice(position, position + 2);
    if (pair === "//") erase(endOf(text, "\n", position));
    else if (pair === "/*") erase(Math.min(text.length, endOf(text, "*/", position + 2) + 2));
    else if (character === '"' || character === "'") erase(closing(text, position + 1, character));
    else if (character === "`") erase(templateEnd(text, position + 1, braces));
    else if (character === "/" && BEFORE_REGEX.test(lineBefore(text, position))) erase(regexEnd(text, position + 1));
    else if (character === "}" && braces.at(-1) === 0) {
      braces.pop();
      erase(templateEnd(text, position + 1, braces));
    } else {
      const depth = braces.length - 1;
      if (depth >= 0 && character === "{") braces[depth] = (braces[depth] ?? 0) + 1;
      if (depth >= 0 && character === "}") braces[depth] = (braces[depth] ?? 0) - 1;
      keep(position + 1);
    }
  }
  return out.join("");
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at;
}

function lineBefore(text: string, position: number): string {
  return text.slice(text.lastIndexOf("\n", position - 1) + 1, position);
}

/** Position after the quote that closes a string, or of the line's end. */
function closing(text: string, from: number, quote: string): number {
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === quote) return i + 1;
    else if (text[i] === "\n") return i;
  }
  return text.length;
}

/** Position after the closing back quote, or after a `${`, whose braces are counted from there on. */
function templateEnd(text: string, from: number, braces: number[]): number {
  for (let i = from; i < text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "`") return i + 1;
    else if (text[i] === "$" && text[i + 1] === "{") {
      braces.push(0);
      return i + 2;
    }
  }
  return text.length;
}

function regexEnd(text: string, from: number): number {
  let isInClass = false;
  for (let i = from; i < text.length && text[i] !== "\n"; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "[") isInClass = true;
    else if (text[i] === "]") isInClass = false;
    else if (text[i] === "/" && !isInClass) return i + 1;
  }
  return from; // a division after all: go on behind the slash
}
