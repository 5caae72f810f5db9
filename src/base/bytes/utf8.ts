/**
 * UTF-8 that has to be well-formed. Bytes that are none are no text: nothing is mended. The decoders keep nothing between calls, so one of
 * each serves all; streams, whose characters may be cut, have a decoder of their own.
 */

/** Decodes text; a byte order mark stays a character. Throws TypeError for bytes that are no UTF-8. */
export const strictUtf8: TextDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a whole document: a byte order mark at its start is not part of it. Throws TypeError for bytes that are no UTF-8. */
export const strictUtf8Document: TextDecoder = new TextDecoder("utf-8", { fatal: true });

/** The text that bytes are, as `strictUtf8` has it; undefined for bytes that are none. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  return decoded(strictUtf8, bytes);
}

/** The text of a document, as `strictUtf8Document` has it; undefined for bytes that are none. */
export function utf8Document(bytes: Uint8Array): string | undefined {
  return decoded(strictUtf8Document, bytes);
}

function decoded(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown; // what a decoder throws for bytes that are no UTF-8
    return undefined;
  }
}
