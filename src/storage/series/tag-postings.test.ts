import { expect, test } from "bun:test";
import { TagPostings } from "./tag-postings.ts";

function listed(postings: TagPostings, code: number): number[] {
  const into = new Uint32Array(postings.countOf(code));
  expect(postings.list(code, into, 0)).toBe(into.length);
  return [...into];
}

test("series are listed by code, the newest first, and extended by what came since", () => {
  const postings = new TagPostings();
  const codes = Uint32Array.of(1, 2, 1, 0, 3, 1);
  postings.extend(codes, 4, 4);
  expect([listed(postings, 0), listed(postings, 1), listed(postings, 2), listed(postings, 3)]).toEqual([[3], [2, 0], [1], []]);
  postings.extend(codes, 6, 4);
  postings.extend(codes, 5, 4); // What an older reader knows changes nothing.
  expect([listed(postings, 1), listed(postings, 3), listed(postings, 99)]).toEqual([[5, 2, 0], [4], []]);
});

test("many series with growing codes", () => {
  const postings = new TagPostings();
  for (let count = 1; count <= 5000; count += 499)
    postings.extend(
      Uint32Array.from({ length: count }, (_, i) => i >> 1),
      count,
      (count >> 1) + 1,
    );
  expect([listed(postings, 0), listed(postings, 2000)]).toEqual([
    [1, 0],
    [4001, 4000],
  ]);
});

test("nothing is held before a column is asked for", () => {
  expect(new TagPostings().byteLength).toBe(0);
});
