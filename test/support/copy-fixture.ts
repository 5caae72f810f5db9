/** SQL against a memory catalog that reaches files of a folder of its own. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { externalFiles } from "../../src/storage/external/external-files.ts";
import { type Answer, QueryFixture } from "./query-fixture.ts";

/** A session and its folder. */
export class CopyFixture {
  readonly folder: string;
  readonly query: QueryFixture;

  private constructor(folder: string, copyEndpoints: readonly string[]) {
    this.folder = folder;
    this.query = new QueryFixture(new AbortController().signal, externalFiles({ copyRoot: folder, copyEndpoints }));
  }

  /** @param copyEndpoints stores that it reaches */
  static async start(copyEndpoints: readonly string[] = []): Promise<CopyFixture> {
    return new CopyFixture(await mkdtemp(join(tmpdir(), "varve-copy-")), copyEndpoints);
  }

  sql(text: string): Promise<Answer> {
    return this.query.sql(text);
  }

  /** Count of rows that a statement copied. */
  async count(text: string): Promise<number | undefined> {
    return (await this.sql(text)).affected;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  text(name: string): Promise<string> {
    return Bun.file(this.path(name)).text();
  }

  async write(name: string, content: string | Uint8Array): Promise<void> {
    await Bun.write(this.path(name), content);
  }

  /** Names of all files, hidden ones too. */
  async names(): Promise<readonly string[]> {
    return (await readdir(this.folder, { recursive: true })).sort();
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
