/** Where the programs of threads lie: beside the module that starts them, or in the build that this program is part of. */

/** The folder of the build, `file:///…/`; the build says it (`bin/build-server.ts`), and there is no such name in sources that run. */
declare const BUILD_FOLDER_URL: string | undefined;

/**
 * What to start a thread with.
 *
 * @param source the program's source, as seen from the module: the file of a build has its name, without its folder
 * @param moduleUrl `import.meta.url` of the module
 */
export function threadScript(source: `./${string}.ts`, moduleUrl: string): string {
  if (typeof BUILD_FOLDER_URL === "undefined") return new URL(source, moduleUrl).href;
  return new URL(source.replace(/^.*\/(.*)\.ts$/, "$1.js"), BUILD_FOLDER_URL).href;
}
