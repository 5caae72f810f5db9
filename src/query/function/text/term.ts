/** Terms in texts, for `matches_term` and `@@` (contract query.md 2.5). */

const isWord = (character: string): boolean => /[A-Za-z0-9]/.test(character);

/** Which ends of a term want a border. */
export interface TermBorders {
  readonly left: boolean;
  readonly right: boolean;
}

/** A border is only wanted where the term itself ends in a letter or digit of ASCII; a term with a Chinese character wants none. */
export function bordersOf(term: string): TermBorders {
  const isHan = /\p{Script=Han}/u.test(term);
  return { left: !isHan && isWord(term.charAt(0)), right: !isHan && isWord(term.charAt(term.length - 1)) };
}

/** Whether a term stands in a text with no letter or digit of ASCII beside it. An empty term is only in an empty text. */
export function matchesTerm(text: string, term: string): boolean {
  if (term === "") return text === "";
  const { left, right } = bordersOf(term);
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (!(left && isWord(text.charAt(at - 1))) && !(right && isWord(text.charAt(at + term.length)))) return true;
  }
  return false;
}
