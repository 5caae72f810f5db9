/**
 * SASLprep: the form of a password that SCRAM hashes, so that two keyboards that type the same text give the same bytes.
 *
 * Map odd blanks to a blank and drop invisible characters, normalise to NFKC, then refuse what must not occur. As PostgreSQL does, a
 * refused password is used as it is instead of failing the login. Characters that Unicode 3.2 had not assigned are allowed.
 * Source: RFC 4013, tables of RFC 3454 (B.1, C.1.2, C.2 to C.9, D.1).
 */

/** RFC 3454 C.1.2: blanks that are not ASCII. */
const BLANKS = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/gu;

/** RFC 3454 B.1: characters that map to nothing. */
const INVISIBLE = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200c-\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/gu;

/** RFC 3454 C.2.1, C.2.2, C.3 to C.9: controls, private use, non-characters, surrogates, marks that change how text is shown, tags. */
const PROHIBITED = new RegExp(
  [
    "[\\u0000-\\u001f\\u007f-\\u009f\\u06dd\\u070f\\u180e\\u200c-\\u200f\\u2028-\\u202e\\u2060-\\u2063\\u206a-\\u206f]",
    "[\\u0340\\u0341\\u2ff0-\\u2ffb\\ufdd0-\\ufdef\\ufeff\\ufff9-\\uffff]",
    "[\\u{1d173}-\\u{1d17a}\\u{e0001}\\u{e0020}-\\u{e007f}]",
    "\\p{Co}",
    "\\p{Cs}",
    "[\\u{1fffe}\\u{1ffff}\\u{2fffe}\\u{2ffff}\\u{3fffe}\\u{3ffff}\\u{4fffe}\\u{4ffff}\\u{5fffe}\\u{5ffff}\\u{6fffe}\\u{6ffff}]",
    "[\\u{7fffe}\\u{7ffff}\\u{8fffe}\\u{8ffff}\\u{9fffe}\\u{9ffff}\\u{afffe}\\u{affff}\\u{bfffe}\\u{bffff}\\u{cfffe}\\u{cffff}]",
    "[\\u{dfffe}\\u{dffff}\\u{efffe}\\u{effff}\\u{ffffe}\\u{fffff}\\u{10fffe}\\u{10ffff}]",
  ].join("|"),
  "u",
);

/** RFC 3454 D.1: characters written from right to left. */
const RIGHT_TO_LEFT = new RegExp(
  `[${[
    "\\u05be\\u05c0\\u05c3\\u05d0-\\u05ea\\u05f0-\\u05f4\\u061b\\u061f\\u0621-\\u063a\\u0640-\\u064a\\u066d-\\u066f\\u0671-\\u06d5",
    "\\u06dd\\u06e5\\u06e6\\u06fa-\\u06fe\\u0700-\\u070d\\u0710\\u0712-\\u072c\\u0780-\\u07a5\\u07b1\\u200f\\ufb1d\\ufb1f-\\ufb28",
    "\\ufb2a-\\ufb36\\ufb38-\\ufb3c\\ufb3e\\ufb40\\ufb41\\ufb43\\ufb44\\ufb46-\\ufbb1\\ufbd3-\\ufd3d\\ufd50-\\ufd8f\\ufd92-\\ufdc7",
    "\\ufdf0-\\ufdfc\\ufe70-\\ufe74\\ufe76-\\ufefc",
  ].join("")}]`,
  "u",
);

/** Letters and letter numbers; those that are not from right to left stand in for RFC 3454 D.2. */
const LETTER = /[\p{L}\p{Nl}]/gu;

/** The prepared form of `text`, or `text` itself when it must not be prepared. */
export function saslprep(text: string): string {
  const prepared = text.replace(BLANKS, " ").replace(INVISIBLE, "").normalize("NFKC");
  return PROHIBITED.test(prepared) || !hasOneDirection(prepared) ? text : prepared;
}

/** RFC 3454 section 6: with a right-to-left character there is no left-to-right one, and such a character stands first and last. */
function hasOneDirection(text: string): boolean {
  if (!RIGHT_TO_LEFT.test(text)) return true;
  const characters = [...text];
  if (!RIGHT_TO_LEFT.test(characters[0] ?? "") || !RIGHT_TO_LEFT.test(characters.at(-1) ?? "")) return false;
  return (text.match(LETTER) ?? []).every((letter) => RIGHT_TO_LEFT.test(letter));
}
