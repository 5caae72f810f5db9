/** The library's script, which `xz.ts` takes as text. */
declare module "xz-decompress/dist/package/xz-decompress.min.js" {
  const text: string;
  export default text;
}
