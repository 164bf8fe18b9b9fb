declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the text of a file is what its import gives by default
  export default text;
}
