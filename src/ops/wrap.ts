/** For terminals of 80 columns. */
const columns = 80;

/** Wraps words and indents all lines but the first. Words longer than a line, such as addresses, remain whole. */
export function wrapWords(words: string, indent: string): string {
  const lines = [''];
  for (const word of words.split(' ')) {
    const line = lines.at(-1) ?? '';
    const fits = indent.length + line.length + 1 + word.length <= columns;
    if (line === '') lines[lines.length - 1] = word;
    else if (fits) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${indent}`);
}
