/** Styles are bundled beside the program that imports them. */
declare module "*.css";
