import { expect, test } from "bun:test";
import { codedOf, plainOf, TEXTS } from "../../../test/support/coded-text.ts";
import { STRING } from "../../column/data-type.ts";
import { columnBuffers } from "./column-buffers.ts";

test("text by code has the buffers of plain text", () => {
  for (const texts of [TEXTS, TEXTS.filter((text) => text !== undefined), []]) {
    const [coded, plain] = [codedOf(texts), plainOf(texts)].map((vector) => columnBuffers(STRING, vector, texts.length));
    expect(coded?.nullCount).toBe(plain?.nullCount as number);
    expect(coded?.buffers.map((buffer) => buffer.toHex())).toEqual(plain?.buffers.map((buffer) => buffer.toHex()) as string[]);
  }
});
