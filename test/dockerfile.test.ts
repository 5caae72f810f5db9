/** The structure of the image, read from the Dockerfile: no engine is needed to see that it is pinned, small and not root's. */
import { describe, expect, test } from "bun:test";
import { ROOT } from "./tidy/source-tree.ts";

/** One instruction of a Dockerfile: its word, and the rest of it on one line. */
interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** Splits a Dockerfile into instructions; comments are dropped and continued lines joined. */
function instructionsOf(text: string): readonly Instruction[] {
  const joined = text.replace(/^\s*#.*$/gm, "").replace(/\\\n/g, " ");
  return joined
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => ({ word: line.split(/\s+/)[0] ?? "", rest: line.replace(/^\S+\s+/, "").replace(/\s+/g, " ") }));
}

/** What is wrong with an image: the last stage is the one that runs. */
function imageBreaks(text: string, bunVersion: string): readonly string[] {
  const all = instructionsOf(text);
  const stages = all.filter(({ word }) => word === "FROM");
  const last = all.slice(all.findLastIndex(({ word }) => word === "FROM"));
  const restOf = (word: string): string | undefined => last.findLast((instruction) => instruction.word === word)?.rest;
  const found: string[] = [];
  for (const { rest } of stages) if (!rest.startsWith(`oven/bun:${bunVersion}-slim`)) found.push(`FROM ${rest}: not the pinned Bun`);
  if (stages.length < 2) found.push("FROM: one stage; dependencies are not apart");
  if (["root", "0", undefined].includes(restOf("USER"))) found.push("USER: runs as root");
  if (!restOf("HEALTHCHECK")?.includes("/health")) found.push("HEALTHCHECK: does not ask /health");
  if (restOf("VOLUME") !== '["/data"]') found.push("VOLUME: /data is not one");
  if (restOf("EXPOSE") !== "4000") found.push("EXPOSE: not 4000");
  if (!restOf("ENTRYPOINT")?.startsWith('["bun", "run", "src/main.ts"')) found.push("ENTRYPOINT: not the server in exec form");
  if (!all.some(({ word, rest }) => word === "RUN" && rest.includes("--frozen-lockfile") && rest.includes("--production"))) {
    found.push("RUN: dependencies are not the locked runtime ones");
  }
  const variables = last
    .filter(({ word }) => word === "ENV")
    .map(({ rest }) => rest)
    .join(" ");
  if (!variables.includes("VARVE__HTTP__ADDR=0.0.0.0:4000")) found.push("ENV: not reachable from outside the container");
  if (!variables.includes("VARVE__STORAGE__DATA_HOME=/data")) found.push("ENV: data is not on the volume");
  return found;
}

const text = await Bun.file(`${ROOT}/Dockerfile`).text();

describe("the image", () => {
  test("is pinned, not root's, watched, and keeps data on a volume", () => {
    expect(imageBreaks(text, Bun.version)).toEqual([]);
  });

  const spoiled: readonly (readonly [what: string, from: string | RegExp, to: string])[] = [
    ["another Bun", /oven\/bun:[\d.]+-slim/g, "oven/bun:latest"],
    ["root", "USER bun", "USER root"],
    ["no user", "USER bun", ""],
    ["no health check", /HEALTHCHECK[^\n]*\\\n[^\n]*/, ""],
    ["no volume", "VOLUME", "# VOLUME"],
    ["a shell as process 1", /ENTRYPOINT .*/, "ENTRYPOINT bun run src/main.ts"],
    ["dependencies as they come", "--frozen-lockfile ", ""],
    ["the loopback address", "0.0.0.0:4000", "127.0.0.1:4000"],
  ];
  test.each(spoiled)("is refused with %s", (_what, from, to) => {
    const planted = text.replace(from, to);
    expect(planted).not.toBe(text);
    expect(imageBreaks(planted, Bun.version)).not.toEqual([]);
  });

  test("gets the sources and no tests, tools or local data", async () => {
    const ignored = (await Bun.file(`${ROOT}/.dockerignore`).text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(ignored[0]).toBe("*");
    const wanted = ignored.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    const copied = instructionsOf(text).filter(({ word, rest }) => word === "COPY" && !rest.startsWith("--from"));
    for (const { rest } of copied) for (const path of rest.split(" ").slice(0, -1)) expect(wanted).toContain(path.replace(/\/.*/, ""));
    expect(ignored).toContain("**/*.test.ts");
  });
});
