/**
 * .xz → bytes, a piece at a time. The library is compiled code with memory of its own; a piece is at most 64 KiB, whatever the input, and
 * a dictionary at most 64 MiB, that of `xz -9`.
 *
 * A module of the library reads one file at a time, and its memory never shrinks. So each reading has a module of its own, made of the
 * library's text, which a single-file build can hold: two files are read side by side, and the memory goes with the reading.
 * Making one takes 1.1 ms of processor time; after 1,200 of them the process has 43 MiB (by a `require` of its own: 2.2 ms, 44 MiB; by
 * one `require` for all, which remembers its modules, 777).
 *
 * Measured (2.7 MB of text; a bomb of 291 KB that is 2 GB): 47 ms and 9.3 s, 18 ms the longest range of work, 70 MiB in all.
 */
import { ReadableStream as WebStream } from "node:stream/web";
import type * as Library from "xz-decompress";
import libraryText from "xz-decompress/dist/package/xz-decompress.min.js" with { type: "text" };
import type { Pace } from "../../base/scheduler/pace.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** What the library's numbers mean. */
const CAUSES: Readonly<Record<string, string>> = {
  "3": "there is no memory for its dictionary",
  "4": "its dictionary is larger than 64 MiB, that of xz -9",
  "5": "it does not begin as .xz files do",
  "6": "it uses a check or a filter other than CRC-32, CRC-64 and LZMA2, such as SHA-256",
  "7": "it is damaged",
  "8": "it is cut off, or bytes follow its end",
};

/** Unpacked pieces; streams one behind the other are one. @throws Error that says what is wrong */
export async function* decompressXz(bytes: Bytes, pace: Pace): Bytes {
  const source = bytes[Symbol.asyncIterator]();
  const reader = new (freshStream())(streamOf(source)).getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > 0) yield value;
      await pace.turn();
    }
    isOver = true;
  } catch (thrown) {
    isOver = true;
    const number = thrown instanceof Error ? /error code (\d+)$/.exec(thrown.message)?.[1] : undefined;
    const cause = number === undefined ? undefined : CAUSES[number];
    if (cause === undefined) throw thrown;
    throw new Error(cause, { cause: thrown });
  } finally {
    if (!isOver) await reader.cancel();
    await source.return?.();
  }
}

function freshStream(): typeof Library.XzReadableStream {
  const module = { exports: {} };
  const require = (): unknown => ({ ReadableStream: WebStream }); // Its only import is `stream/web`.
  new Function("module", "exports", "require", libraryText)(module, module.exports, require);
  return (module.exports as typeof Library).XzReadableStream; // The package's own types.
}

function streamOf(source: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  let isEmpty = true;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await source.next();
      if (done === true) {
        if (isEmpty) controller.error(new Error("it is empty"));
        else controller.close();
        return;
      }
      isEmpty = false;
      controller.enqueue(value);
    },
  });
}
