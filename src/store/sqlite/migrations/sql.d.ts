/** Migrations are imported as text. */
declare module '*.sql' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: an import of a text file is a default import
  export default text;
}
